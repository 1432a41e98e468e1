"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

GO_TYPES: Final[Mapping[str, str]] = {
    "DaemonSetCondition.status": "v1.ConditionStatus",
    "DaemonSetCondition.type": "v1.DaemonSetConditionType",
    "DaemonSetUpdateStrategy.type": "v1.DaemonSetUpdateStrategyType",
    "DeploymentCondition.status": "v1.ConditionStatus",
    "DeploymentCondition.type": "v1.DeploymentConditionType",
    "DeploymentStrategy.type": "v1.DeploymentStrategyType",
    "ReplicaSetCondition.status": "v1.ConditionStatus",
    "ReplicaSetCondition.type": "v1.ReplicaSetConditionType",
    "StatefulSetCondition.status": "v1.ConditionStatus",
    "StatefulSetCondition.type": "v1.StatefulSetConditionType",
    "StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted": (
        "v1.PersistentVolumeClaimRetentionPolicyType"
    ),
    "StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled": (
        "v1.PersistentVolumeClaimRetentionPolicyType"
    ),
    "StatefulSetSpec.podManagementPolicy": "v1.PodManagementPolicyType",
    "StatefulSetUpdateStrategy.type": "v1.StatefulSetUpdateStrategyType",
}
