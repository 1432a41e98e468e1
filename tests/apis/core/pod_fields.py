"""Every field of Pod, and of the types it consists of, with its protobuf number."""

POD_FIELDS = {
    "AWSElasticBlockStoreVolumeSource": "volumeID=1 fsType=2 partition=3 readOnly=4",
    "Affinity": "nodeAffinity=1 podAffinity=2 podAntiAffinity=3",
    "AppArmorProfile": "type=1 localhostProfile=2",
    "AzureDiskVolumeSource": "diskName=1 diskURI=2 cachingMode=3 fsType=4 readOnly=5 kind=6",
    "AzureFileVolumeSource": "secretName=1 shareName=2 readOnly=3",
    "Binding": "metadata=1 target=2",
    "CSIVolumeSource": "driver=1 readOnly=2 fsType=3 volumeAttributes=4 nodePublishSecretRef=5",
    "Capabilities": "add=1 drop=2",
    "CephFSVolumeSource": "monitors=1 path=2 user=3 secretFile=4 secretRef=5 readOnly=6",
    "CinderVolumeSource": "volumeID=1 fsType=2 readOnly=3 secretRef=4",
    "ClusterTrustBundleProjection": (
        "name=1 signerName=2 labelSelector=3 optional=5 path=4 user=6"
    ),
    "ConfigMapEnvSource": "name=1.1 optional=2",
    "ConfigMapKeySelector": "name=1.1 key=2 optional=3",
    "ConfigMapProjection": "name=1.1 items=2 optional=4",
    "ConfigMapVolumeSource": "name=1.1 items=2 defaultMode=3 optional=4 defaultUser=5",
    "Container": (
        "name=1 image=2 command=3 args=4 workingDir=5 ports=6 envFrom=19 env=7 resources=8 "
        "resizePolicy=23 restartPolicy=24 restartPolicyRules=25 volumeMounts=9 volumeDevices=21 "
        "livenessProbe=10 readinessProbe=11 startupProbe=22 lifecycle=12 "
        "terminationMessagePath=13 terminationMessagePolicy=20 imagePullPolicy=14 "
        "securityContext=15 stdin=16 stdinOnce=17 tty=18"
    ),
    "ContainerExtendedResourceRequest": "containerName=1 resourceName=2 requestName=3",
    "ContainerPort": "name=1 hostPort=2 containerPort=3 protocol=4 hostIP=5",
    "ContainerResizePolicy": "resourceName=1 restartPolicy=2",
    "ContainerRestartRule": "action=1 exitCodes=2",
    "ContainerRestartRuleOnExitCodes": "operator=1 values=2",
    "ContainerState": "waiting=1 running=2 terminated=3",
    "ContainerStateRunning": "startedAt=1",
    "ContainerStateTerminated": (
        "exitCode=1 signal=2 reason=3 message=4 startedAt=5 finishedAt=6 containerID=7"
    ),
    "ContainerStateWaiting": "reason=1 message=2",
    "ContainerStatus": (
        "name=1 state=2 lastState=3 ready=4 restartCount=5 image=6 imageID=7 containerID=8 "
        "started=9 allocatedResources=10 resources=11 volumeMounts=12 user=13 "
        "allocatedResourcesStatus=14 stopSignal=15"
    ),
    "ContainerUser": "linux=1",
    "DownwardAPIProjection": "items=1",
    "DownwardAPIVolumeFile": "path=1 fieldRef=2 resourceFieldRef=3 mode=4 user=5",
    "DownwardAPIVolumeSource": "items=1 defaultMode=2 defaultUser=3",
    "EmptyDirVolumeSource": "medium=1 sizeLimit=2 mode=3",
    "EnvFromSource": "prefix=1 configMapRef=2 secretRef=3",
    "EnvVar": "name=1 value=2 valueFrom=3",
    "EnvVarSource": "fieldRef=1 resourceFieldRef=2 configMapKeyRef=3 secretKeyRef=4 fileKeyRef=5",
    "EphemeralContainer": (
        "name=1.1 image=1.2 command=1.3 args=1.4 workingDir=1.5 ports=1.6 envFrom=1.19 env=1.7 "
        "resources=1.8 resizePolicy=1.23 restartPolicy=1.24 restartPolicyRules=1.25 "
        "volumeMounts=1.9 volumeDevices=1.21 livenessProbe=1.10 readinessProbe=1.11 "
        "startupProbe=1.22 lifecycle=1.12 terminationMessagePath=1.13 "
        "terminationMessagePolicy=1.20 imagePullPolicy=1.14 securityContext=1.15 stdin=1.16 "
        "stdinOnce=1.17 tty=1.18 targetContainerName=2"
    ),
    "EphemeralVolumeSource": "volumeClaimTemplate=1",
    "EvictionResponder": "name=1 priority=2",
    "ExecAction": "command=1",
    "FCVolumeSource": "targetWWNs=1 lun=2 fsType=3 readOnly=4 wwids=5",
    "FileKeySelector": "volumeName=1 path=2 key=3 optional=4",
    "FlexVolumeSource": "driver=1 fsType=2 secretRef=3 readOnly=4 options=5",
    "FlockerVolumeSource": "datasetName=1 datasetUUID=2",
    "GCEPersistentDiskVolumeSource": "pdName=1 fsType=2 partition=3 readOnly=4",
    "GRPCAction": "port=1 service=2 mode=3",
    "GitRepoVolumeSource": "repository=1 revision=2 directory=3",
    "GlusterfsVolumeSource": "endpoints=1 path=2 readOnly=3",
    "HTTPGetAction": "path=1 port=2 host=3 scheme=4 httpHeaders=5 protocol=6",
    "HTTPHeader": "name=1 value=2",
    "HostAlias": "ip=1 hostnames=2",
    "HostIP": "ip=1",
    "HostPathVolumeSource": "path=1 type=2",
    "ISCSIVolumeSource": (
        "targetPortal=1 iqn=2 lun=3 iscsiInterface=4 fsType=5 readOnly=6 portals=7 "
        "chapAuthDiscovery=8 chapAuthSession=11 secretRef=10 initiatorName=12"
    ),
    "ImageVolumeSource": "reference=1 pullPolicy=2",
    "ImageVolumeStatus": "imageRef=1",
    "KeyToPath": "key=1 path=2 mode=3 user=4",
    "Lifecycle": "postStart=1 preStop=2 stopSignal=3",
    "LifecycleHandler": "exec=1 httpGet=2 tcpSocket=3 sleep=4",
    "LinuxContainerUser": "uid=1 gid=2 supplementalGroups=3",
    "NFSVolumeSource": "server=1 path=2 readOnly=3",
    "NodeAffinity": (
        "requiredDuringSchedulingIgnoredDuringExecution=1 "
        "preferredDuringSchedulingIgnoredDuringExecution=2"
    ),
    "NodeAllocatableMappedResources": "name=1 quantity=2",
    "NodeAllocatableOverheadResources": "name=1 perPod=2 perContainer=3",
    "NodeAllocatableResourceClaimStatus": "resourceClaimName=1 containers=2 mapping=4 overhead=5",
    "NodeSelector": "nodeSelectorTerms=1",
    "NodeSelectorRequirement": "key=1 operator=2 values=3",
    "NodeSelectorTerm": "matchExpressions=1 matchFields=2",
    "ObjectFieldSelector": "apiVersion=1 fieldPath=2",
    "PersistentVolumeClaimSpec": (
        "accessModes=1 selector=4 resources=2 volumeName=3 storageClassName=5 volumeMode=6 "
        "dataSource=7 dataSourceRef=8 volumeAttributesClassName=9"
    ),
    "PersistentVolumeClaimTemplate": "metadata=1 spec=2",
    "PersistentVolumeClaimVolumeSource": "claimName=1 readOnly=2",
    "PhotonPersistentDiskVolumeSource": "pdID=1 fsType=2",
    "Pod": "metadata=1 spec=2 status=3",
    "PodAffinity": (
        "requiredDuringSchedulingIgnoredDuringExecution=1 "
        "preferredDuringSchedulingIgnoredDuringExecution=2"
    ),
    "PodAffinityTerm": (
        "labelSelector=1 namespaces=2 topologyKey=3 namespaceSelector=4 matchLabelKeys=5 "
        "mismatchLabelKeys=6"
    ),
    "PodAntiAffinity": (
        "requiredDuringSchedulingIgnoredDuringExecution=1 "
        "preferredDuringSchedulingIgnoredDuringExecution=2"
    ),
    "PodCertificateProjection": (
        "signerName=1 keyType=2 maxExpirationSeconds=3 credentialBundlePath=4 keyPath=5 "
        "certificateChainPath=6 userAnnotations=7 user=8"
    ),
    "PodCondition": (
        "type=1 observedGeneration=7 status=2 lastProbeTime=3 lastTransitionTime=4 reason=5 "
        "message=6"
    ),
    "PodDNSConfig": "nameservers=1 searches=2 options=3",
    "PodDNSConfigOption": "name=1 value=2",
    "PodExtendedResourceClaimStatus": "requestMappings=1 resourceClaimName=2",
    "PodIP": "ip=1",
    "PodOS": "name=1",
    "PodReadinessGate": "conditionType=1",
    "PodResourceClaim": "name=1 resourceClaimName=3 resourceClaimTemplateName=4",
    "PodResourceClaimStatus": "name=1 resourceClaimName=2",
    "PodSchedulingGate": "name=1",
    "PodSchedulingGroup": "podGroupName=1",
    "PodSecurityContext": (
        "seLinuxOptions=1 windowsOptions=8 runAsUser=2 runAsGroup=6 runAsNonRoot=3 "
        "supplementalGroups=4 supplementalGroupsPolicy=12 fsGroup=5 sysctls=7 "
        "fsGroupChangePolicy=9 seccompProfile=10 appArmorProfile=11 seLinuxChangePolicy=13"
    ),
    "PodSpec": (
        "volumes=1 initContainers=20 containers=2 ephemeralContainers=34 restartPolicy=3 "
        "terminationGracePeriodSeconds=4 activeDeadlineSeconds=5 dnsPolicy=6 nodeSelector=7 "
        "serviceAccountName=8 serviceAccount=9 automountServiceAccountToken=21 nodeName=10 "
        "hostNetwork=11 hostPID=12 hostIPC=13 shareProcessNamespace=27 securityContext=14 "
        "imagePullSecrets=15 hostname=16 subdomain=17 affinity=18 schedulerName=19 "
        "tolerations=22 hostAliases=23 priorityClassName=24 priority=25 dnsConfig=26 "
        "readinessGates=28 runtimeClassName=29 enableServiceLinks=30 preemptionPolicy=31 "
        "overhead=32 topologySpreadConstraints=33 setHostnameAsFQDN=35 os=36 hostUsers=37 "
        "schedulingGates=38 resourceClaims=39 resources=40 hostnameOverride=41 "
        "schedulingGroup=43 evictionResponders=44"
    ),
    "PodStatus": (
        "observedGeneration=17 phase=1 conditions=2 message=3 reason=4 nominatedNodeName=11 "
        "hostIP=5 hostIPs=16 podIP=6 podIPs=12 startTime=7 initContainerStatuses=10 "
        "containerStatuses=8 qosClass=9 ephemeralContainerStatuses=13 resize=14 "
        "resourceClaimStatuses=15 extendedResourceClaimStatus=18 allocatedResources=19 "
        "resources=20 nodeAllocatableResourceClaimStatuses=21 volumeHealth=22"
    ),
    "PodTemplate": "metadata=1 template=2",
    "PodTemplateSpec": "metadata=1 spec=2",
    "PodVolumeHealth": "name=1 healthConditions=2 lastTransitionTime=3",
    "PortworxVolumeSource": "volumeID=1 fsType=2 readOnly=3",
    "PreferredSchedulingTerm": "weight=1 preference=2",
    "Probe": (
        "exec=1.1 httpGet=1.2 tcpSocket=1.3 grpc=1.4 initialDelaySeconds=2 timeoutSeconds=3 "
        "periodSeconds=4 successThreshold=5 failureThreshold=6 terminationGracePeriodSeconds=7"
    ),
    "ProjectedVolumeSource": "sources=1 defaultMode=2 defaultUser=3",
    "QuobyteVolumeSource": "registry=1 volume=2 readOnly=3 user=4 group=5 tenant=6",
    "RBDVolumeSource": (
        "monitors=1 image=2 fsType=3 pool=4 user=5 keyring=6 secretRef=7 readOnly=8"
    ),
    "ReplicationController": "metadata=1 spec=2 status=3",
    "ReplicationControllerCondition": "type=1 status=2 lastTransitionTime=3 reason=4 message=5",
    "ReplicationControllerSpec": "replicas=1 minReadySeconds=4 selector=2 template=3",
    "ReplicationControllerStatus": (
        "replicas=1 fullyLabeledReplicas=2 readyReplicas=4 availableReplicas=5 "
        "observedGeneration=3 conditions=6"
    ),
    "ResourceClaim": "name=1 request=2",
    "ResourceFieldSelector": "containerName=1 resource=2 divisor=3",
    "ResourceHealth": "resourceID=1 health=2 message=6",
    "ResourceRequirements": "limits=1 requests=2 claims=3",
    "ResourceStatus": "name=1 resources=2",
    "SELinuxOptions": "user=1 role=2 type=3 level=4",
    "ScaleIOVolumeSource": (
        "gateway=1 system=2 secretRef=3 sslEnabled=4 protectionDomain=5 storagePool=6 "
        "storageMode=7 volumeName=8 fsType=9 readOnly=10"
    ),
    "SeccompProfile": "type=1 localhostProfile=2",
    "SecretEnvSource": "name=1.1 optional=2",
    "SecretKeySelector": "name=1.1 key=2 optional=3",
    "SecretProjection": "name=1.1 items=2 optional=4",
    "SecretVolumeSource": "secretName=1 items=2 defaultMode=3 optional=4 defaultUser=5",
    "SecurityContext": (
        "capabilities=1 privileged=2 seLinuxOptions=3 windowsOptions=10 runAsUser=4 "
        "runAsGroup=8 runAsNonRoot=5 readOnlyRootFilesystem=6 allowPrivilegeEscalation=7 "
        "procMount=9 seccompProfile=11 appArmorProfile=12"
    ),
    "ServiceAccountTokenProjection": "audience=1 expirationSeconds=2 path=3 user=4",
    "SleepAction": "seconds=1",
    "StorageOSVolumeSource": "volumeName=1 volumeNamespace=2 fsType=3 readOnly=4 secretRef=5",
    "Sysctl": "name=1 value=2",
    "TCPSocketAction": "port=1 host=2",
    "Toleration": "key=1 operator=2 value=3 effect=4 tolerationSeconds=5",
    "TopologySelectorLabelRequirement": "key=1 values=2",
    "TopologySelectorTerm": "matchLabelExpressions=1",
    "TopologySpreadConstraint": (
        "maxSkew=1 topologyKey=2 whenUnsatisfiable=3 labelSelector=4 minDomains=5 "
        "nodeAffinityPolicy=6 nodeTaintsPolicy=7 matchLabelKeys=8"
    ),
    "TypedLocalObjectReference": "apiGroup=1 kind=2 name=3",
    "TypedObjectReference": "apiGroup=1 kind=2 name=3 namespace=4",
    "Volume": (
        "name=1 hostPath=2.1 emptyDir=2.2 gcePersistentDisk=2.3 awsElasticBlockStore=2.4 "
        "gitRepo=2.5 secret=2.6 nfs=2.7 iscsi=2.8 glusterfs=2.9 persistentVolumeClaim=2.10 "
        "rbd=2.11 flexVolume=2.12 cinder=2.13 cephfs=2.14 flocker=2.15 downwardAPI=2.16 fc=2.17 "
        "azureFile=2.18 configMap=2.19 vsphereVolume=2.20 quobyte=2.21 azureDisk=2.22 "
        "photonPersistentDisk=2.23 projected=2.26 portworxVolume=2.24 scaleIO=2.25 "
        "storageos=2.27 csi=2.28 ephemeral=2.29 image=2.30"
    ),
    "VolumeDevice": "name=1 devicePath=2",
    "VolumeHealthCondition": "status=1 reason=2 message=3",
    "VolumeMount": (
        "name=1 readOnly=2 recursiveReadOnly=7 mountPath=3 subPath=4 mountPropagation=5 "
        "subPathExpr=6 bindMountOptions=8"
    ),
    "VolumeMountStatus": "name=1 mountPath=2 readOnly=3 recursiveReadOnly=4 volumeStatus=5",
    "VolumeProjection": (
        "secret=1 downwardAPI=2 configMap=3 serviceAccountToken=4 clusterTrustBundle=5 "
        "podCertificate=6"
    ),
    "VolumeResourceRequirements": "limits=1 requests=2",
    "VolumeStatus": "image=1",
    "VsphereVirtualDiskVolumeSource": (
        "volumePath=1 fsType=2 storagePolicyName=3 storagePolicyID=4"
    ),
    "WeightedPodAffinityTerm": "weight=1 podAffinityTerm=2",
    "WindowsSecurityContextOptions": (
        "gmsaCredentialSpecName=1 gmsaCredentialSpec=2 runAsUserName=3 hostProcess=4"
    ),
}
