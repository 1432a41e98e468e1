"""Every field of apps/v1 with its protobuf number."""

APPS = {
    "ControllerRevision": "metadata=1 data=2 revision=3",
    "DaemonSet": "metadata=1 spec=2 status=3",
    "DaemonSetCondition": "type=1 status=2 lastTransitionTime=3 reason=4 message=5",
    "DaemonSetSpec": (
        "selector=1 template=2 updateStrategy=3 minReadySeconds=4 revisionHistoryLimit=6"
    ),
    "DaemonSetStatus": (
        "currentNumberScheduled=1 numberMisscheduled=2 desiredNumberScheduled=3 "
        "numberReady=4 observedGeneration=5 updatedNumberScheduled=6 numberAvailable=7 "
        "numberUnavailable=8 collisionCount=9 conditions=10"
    ),
    "DaemonSetUpdateStrategy": "type=1 rollingUpdate=2",
    "Deployment": "metadata=1 spec=2 status=3",
    "DeploymentCondition": (
        "type=1 status=2 reason=4 message=5 lastUpdateTime=6 lastTransitionTime=7"
    ),
    "DeploymentSpec": (
        "replicas=1 selector=2 template=3 strategy=4 minReadySeconds=5 "
        "revisionHistoryLimit=6 paused=7 progressDeadlineSeconds=9"
    ),
    "DeploymentStatus": (
        "observedGeneration=1 replicas=2 updatedReplicas=3 availableReplicas=4 "
        "unavailableReplicas=5 conditions=6 readyReplicas=7 collisionCount=8 "
        "terminatingReplicas=9"
    ),
    "DeploymentStrategy": "type=1 rollingUpdate=2",
    "ReplicaSet": "metadata=1 spec=2 status=3",
    "ReplicaSetCondition": "type=1 status=2 lastTransitionTime=3 reason=4 message=5",
    "ReplicaSetSpec": "replicas=1 selector=2 template=3 minReadySeconds=4",
    "ReplicaSetStatus": (
        "replicas=1 fullyLabeledReplicas=2 observedGeneration=3 readyReplicas=4 "
        "availableReplicas=5 conditions=6 terminatingReplicas=7"
    ),
    "RollingUpdateDaemonSet": "maxUnavailable=1 maxSurge=2",
    "RollingUpdateDeployment": "maxUnavailable=1 maxSurge=2",
    "RollingUpdateStatefulSetStrategy": "partition=1 maxUnavailable=2",
    "StatefulSet": "metadata=1 spec=2 status=3",
    "StatefulSetCondition": "type=1 status=2 lastTransitionTime=3 reason=4 message=5",
    "StatefulSetOrdinals": "start=1",
    "StatefulSetPersistentVolumeClaimRetentionPolicy": "whenDeleted=1 whenScaled=2",
    "StatefulSetSpec": (
        "replicas=1 selector=2 template=3 volumeClaimTemplates=4 serviceName=5 "
        "podManagementPolicy=6 updateStrategy=7 revisionHistoryLimit=8 minReadySeconds=9 "
        "persistentVolumeClaimRetentionPolicy=10 ordinals=11"
    ),
    "StatefulSetStatus": (
        "observedGeneration=1 replicas=2 readyReplicas=3 currentReplicas=4 "
        "updatedReplicas=5 currentRevision=6 updateRevision=7 collisionCount=9 "
        "conditions=10 availableReplicas=11"
    ),
    "StatefulSetUpdateStrategy": "type=1 rollingUpdate=2",
}
