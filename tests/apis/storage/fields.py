"""Every field of storage.k8s.io/v1 with its protobuf number."""

STORAGE = {
    "CSIDriver": "metadata=1 spec=2",
    "CSIDriverSpec": (
        "attachRequired=1 podInfoOnMount=2 volumeLifecycleModes=3 storageCapacity=4 "
        "fsGroupPolicy=5 tokenRequests=6 requiresRepublish=7 seLinuxMount=8 "
        "nodeAllocatableUpdatePeriodSeconds=9 serviceAccountTokenInSecrets=10 "
        "preventPodSchedulingIfMissing=11"
    ),
    "CSINode": "metadata=1 spec=2 status=3",
    "CSINodeDriver": "name=1 nodeID=2 topologyKeys=3 allocatable=4",
    "CSINodeSpec": "drivers=1",
    "CSINodeStatus": "storageHealth=1",
    "CSIStorageCapacity": (
        "metadata=1 nodeTopology=2 storageClassName=3 capacity=4 maximumVolumeSize=5"
    ),
    "StorageClass": (
        "metadata=1 provisioner=2 parameters=3 reclaimPolicy=4 mountOptions=5 "
        "allowVolumeExpansion=6 volumeBindingMode=7 allowedTopologies=8"
    ),
    "StorageHealth": "name=1 healthConditions=2",
    "StorageHealthCondition": (
        "status=1 reason=2 message=3 accessMode=4 volumeMode=5 lastTransitionTime=6"
    ),
    "TokenRequest": "audience=1 expirationSeconds=2",
    "VolumeAttachment": "metadata=1 spec=2 status=3",
    "VolumeAttachmentSource": "persistentVolumeName=1 inlineVolumeSpec=2",
    "VolumeAttachmentSpec": "attacher=1 source=2 nodeName=3",
    "VolumeAttachmentStatus": "attached=1 attachmentMetadata=2 attachError=3 detachError=4",
    "VolumeAttributesClass": "metadata=1 driverName=2 parameters=3",
    "VolumeError": "time=1 message=2 errorCode=3",
    "VolumeNodeResources": "count=1",
}
