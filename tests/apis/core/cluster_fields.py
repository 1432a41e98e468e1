"""The fields of the core kinds about nodes, volumes and quotas, with their protobuf numbers."""

CLUSTER = {
    "AttachedVolume": "name=1 devicePath=2",
    "ComponentCondition": "type=1 status=2 message=3 error=4",
    "ComponentStatus": "metadata=1 conditions=2",
    "ConfigMapNodeConfigSource": "namespace=1 name=2 uid=3 resourceVersion=4 kubeletConfigKey=5",
    "ContainerImage": "names=1 sizeBytes=2",
    "DaemonEndpoint": "Port=1",
    "EndpointAddress": "ip=1 targetRef=2 hostname=3 nodeName=4",
    "EndpointPort": "name=1 port=2 protocol=3 appProtocol=4",
    "EndpointSubset": "addresses=1 notReadyAddresses=2 ports=3",
    "Endpoints": "metadata=1 subsets=2",
    "LimitRange": "metadata=1 spec=2",
    "LimitRangeItem": "type=1 max=2 min=3 default=4 defaultRequest=5 maxLimitRequestRatio=6",
    "LimitRangeSpec": "limits=1",
    "Node": "metadata=1 spec=2 status=3",
    "NodeAddress": "type=1 address=2",
    "NodeCondition": "type=1 status=2 lastHeartbeatTime=3 lastTransitionTime=4 reason=5 message=6",
    "NodeConfigSource": "configMap=2",
    "NodeConfigStatus": "assigned=1 active=2 lastKnownGood=3 error=4",
    "NodeDaemonEndpoints": "kubeletEndpoint=1",
    "NodeFeatures": "supplementalGroupsPolicy=1",
    "NodePodPreemptionPolicy": "disableResizePreemption=1",
    "NodeRuntimeHandler": "name=1 features=2",
    "NodeRuntimeHandlerFeatures": "recursiveReadOnlyMounts=1 userNamespaces=2",
    "NodeSpec": (
        "podCIDR=1 externalID=2 providerID=3 unschedulable=4 taints=5 configSource=6 podCIDRs=7 "
        "podPreemptionPolicy=8"
    ),
    "NodeStatus": (
        "capacity=1 allocatable=2 phase=3 conditions=4 addresses=5 daemonEndpoints=6 nodeInfo=7 "
        "images=8 volumesInUse=9 volumesAttached=10 config=11 runtimeHandlers=12 features=13 "
        "declaredFeatures=14"
    ),
    "NodeSwapStatus": "capacity=1",
    "NodeSystemInfo": (
        "machineID=1 systemUUID=2 bootID=3 kernelVersion=4 osImage=5 containerRuntimeVersion=6 "
        "kubeletVersion=7 kubeProxyVersion=8 operatingSystem=9 architecture=10 swap=11 "
        "runningInUserNamespace=12"
    ),
    "ResourceQuota": "metadata=1 spec=2 status=3",
    "ResourceQuotaSpec": "hard=1 scopes=2 scopeSelector=3",
    "ResourceQuotaStatus": "hard=1 used=2",
    "ScopeSelector": "matchExpressions=1",
    "ScopedResourceSelectorRequirement": "scopeName=1 operator=2 values=3",
    "Taint": "key=1 value=2 effect=3 timeAdded=4",
}
