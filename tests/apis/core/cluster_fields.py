"""The fields of the core kinds about nodes, volumes and quotas, with their protobuf numbers."""

CLUSTER = {
    "AttachedVolume": "name=1 devicePath=2",
    "AzureFilePersistentVolumeSource": "secretName=1 shareName=2 readOnly=3 secretNamespace=4",
    "CSIPersistentVolumeSource": (
        "driver=1 volumeHandle=2 readOnly=3 fsType=4 volumeAttributes=5 "
        "controllerPublishSecretRef=6 nodeStageSecretRef=7 nodePublishSecretRef=8 "
        "controllerExpandSecretRef=9 nodeExpandSecretRef=10"
    ),
    "CephFSPersistentVolumeSource": "monitors=1 path=2 user=3 secretFile=4 secretRef=5 readOnly=6",
    "CinderPersistentVolumeSource": "volumeID=1 fsType=2 readOnly=3 secretRef=4",
    "ComponentCondition": "type=1 status=2 message=3 error=4",
    "ComponentStatus": "metadata=1 conditions=2",
    "ConfigMapNodeConfigSource": "namespace=1 name=2 uid=3 resourceVersion=4 kubeletConfigKey=5",
    "ContainerImage": "names=1 sizeBytes=2",
    "DaemonEndpoint": "Port=1",
    "EndpointAddress": "ip=1 targetRef=2 hostname=3 nodeName=4",
    "EndpointPort": "name=1 port=2 protocol=3 appProtocol=4",
    "EndpointSubset": "addresses=1 notReadyAddresses=2 ports=3",
    "Endpoints": "metadata=1 subsets=2",
    "FlexPersistentVolumeSource": "driver=1 fsType=2 secretRef=3 readOnly=4 options=5",
    "GlusterfsPersistentVolumeSource": "endpoints=1 path=2 readOnly=3 endpointsNamespace=4",
    "ISCSIPersistentVolumeSource": (
        "targetPortal=1 iqn=2 lun=3 iscsiInterface=4 fsType=5 readOnly=6 portals=7 "
        "chapAuthDiscovery=8 secretRef=10 chapAuthSession=11 initiatorName=12"
    ),
    "LimitRange": "metadata=1 spec=2",
    "LimitRangeItem": "type=1 max=2 min=3 default=4 defaultRequest=5 maxLimitRequestRatio=6",
    "LimitRangeSpec": "limits=1",
    "LocalVolumeSource": "path=1 fsType=2",
    "ModifyVolumeStatus": "targetVolumeAttributesClassName=1 status=2",
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
    "PersistentVolume": "metadata=1 spec=2 status=3",
    "PersistentVolumeClaim": "metadata=1 spec=2 status=3",
    "PersistentVolumeClaimCondition": (
        "type=1 status=2 lastProbeTime=3 lastTransitionTime=4 reason=5 message=6"
    ),
    "PersistentVolumeClaimStatus": (
        "phase=1 accessModes=2 capacity=3 conditions=4 allocatedResources=5 "
        "allocatedResourceStatuses=7 currentVolumeAttributesClassName=8 modifyVolumeStatus=9 "
        "healthStatus=10"
    ),
    "PersistentVolumeStatus": "phase=1 message=2 reason=3 lastPhaseTransitionTime=4",
    "RBDPersistentVolumeSource": (
        "monitors=1 image=2 fsType=3 pool=4 user=5 keyring=6 secretRef=7 readOnly=8"
    ),
    "ResourceQuota": "metadata=1 spec=2 status=3",
    "ResourceQuotaSpec": "hard=1 scopes=2 scopeSelector=3",
    "ResourceQuotaStatus": "hard=1 used=2",
    "ScaleIOPersistentVolumeSource": (
        "gateway=1 system=2 secretRef=3 sslEnabled=4 protectionDomain=5 storagePool=6 "
        "storageMode=7 volumeName=8 fsType=9 readOnly=10"
    ),
    "ScopeSelector": "matchExpressions=1",
    "ScopedResourceSelectorRequirement": "scopeName=1 operator=2 values=3",
    "SecretReference": "name=1 namespace=2",
    "StorageOSPersistentVolumeSource": (
        "volumeName=1 volumeNamespace=2 fsType=3 readOnly=4 secretRef=5"
    ),
    "Taint": "key=1 value=2 effect=3 timeAdded=4",
    "VolumeHealthStatus": "healthConditions=1 lastTransitionTime=2",
    "VolumeNodeAffinity": "required=1",
    "PersistentVolumeSource": (
        "gcePersistentDisk=2.1 awsElasticBlockStore=2.2 hostPath=2.3 glusterfs=2.4 nfs=2.5 "
        "rbd=2.6 iscsi=2.7 cinder=2.8 cephfs=2.9 fc=2.10 flocker=2.11 flexVolume=2.12 "
        "azureFile=2.13 vsphereVolume=2.14 quobyte=2.15 azureDisk=2.16 photonPersistentDisk=2.17 "
        "portworxVolume=2.18 scaleIO=2.19 local=2.20 storageos=2.21 csi=2.22"
    ),
    "PersistentVolumeSpec": (
        "capacity=1 accessModes=3 claimRef=4 persistentVolumeReclaimPolicy=5 storageClassName=6 "
        "mountOptions=7 volumeMode=8 nodeAffinity=9 volumeAttributesClassName=10 "
        "gcePersistentDisk=2.1 awsElasticBlockStore=2.2 hostPath=2.3 glusterfs=2.4 nfs=2.5 "
        "rbd=2.6 iscsi=2.7 cinder=2.8 cephfs=2.9 fc=2.10 flocker=2.11 flexVolume=2.12 "
        "azureFile=2.13 vsphereVolume=2.14 quobyte=2.15 azureDisk=2.16 photonPersistentDisk=2.17 "
        "portworxVolume=2.18 scaleIO=2.19 local=2.20 storageos=2.21 csi=2.22"
    ),
}
