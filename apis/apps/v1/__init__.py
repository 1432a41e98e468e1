"""The types of apps/v1, each module imported when one of its names is used first."""

from typing import TYPE_CHECKING

from apimachinery.lazy_names import lazy_names

if TYPE_CHECKING:
    from apis.apps.v1.controller_revision import ControllerRevision as ControllerRevision
    from apis.apps.v1.daemon_set import DaemonSet as DaemonSet
    from apis.apps.v1.daemon_set import DaemonSetCondition as DaemonSetCondition
    from apis.apps.v1.daemon_set import DaemonSetSpec as DaemonSetSpec
    from apis.apps.v1.daemon_set import DaemonSetStatus as DaemonSetStatus
    from apis.apps.v1.daemon_set import DaemonSetUpdateStrategy as DaemonSetUpdateStrategy
    from apis.apps.v1.daemon_set import RollingUpdateDaemonSet as RollingUpdateDaemonSet
    from apis.apps.v1.deployment import Deployment as Deployment
    from apis.apps.v1.deployment import DeploymentCondition as DeploymentCondition
    from apis.apps.v1.deployment import DeploymentSpec as DeploymentSpec
    from apis.apps.v1.deployment import DeploymentStatus as DeploymentStatus
    from apis.apps.v1.deployment import DeploymentStrategy as DeploymentStrategy
    from apis.apps.v1.deployment import RollingUpdateDeployment as RollingUpdateDeployment
    from apis.apps.v1.replica_set import ReplicaSet as ReplicaSet
    from apis.apps.v1.replica_set import ReplicaSetCondition as ReplicaSetCondition
    from apis.apps.v1.replica_set import ReplicaSetSpec as ReplicaSetSpec
    from apis.apps.v1.replica_set import ReplicaSetStatus as ReplicaSetStatus
    from apis.apps.v1.stateful_set import (
        RollingUpdateStatefulSetStrategy as RollingUpdateStatefulSetStrategy,
    )
    from apis.apps.v1.stateful_set import StatefulSet as StatefulSet
    from apis.apps.v1.stateful_set import StatefulSetCondition as StatefulSetCondition
    from apis.apps.v1.stateful_set import StatefulSetOrdinals as StatefulSetOrdinals
    from apis.apps.v1.stateful_set import (
        StatefulSetPersistentVolumeClaimRetentionPolicy as StatefulSetPersistentVolumeClaimRetentionPolicy,  # noqa: E501
    )
    from apis.apps.v1.stateful_set import StatefulSetSpec as StatefulSetSpec
    from apis.apps.v1.stateful_set import StatefulSetStatus as StatefulSetStatus
    from apis.apps.v1.stateful_set import StatefulSetUpdateStrategy as StatefulSetUpdateStrategy
else:
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "controller_revision": "ControllerRevision",
            "daemon_set": (
                "DaemonSet DaemonSetCondition DaemonSetSpec DaemonSetStatus"
                " DaemonSetUpdateStrategy RollingUpdateDaemonSet"
            ),
            "deployment": (
                "Deployment DeploymentCondition DeploymentSpec DeploymentStatus"
                " DeploymentStrategy RollingUpdateDeployment"
            ),
            "replica_set": "ReplicaSet ReplicaSetCondition ReplicaSetSpec ReplicaSetStatus",
            "stateful_set": (
                "RollingUpdateStatefulSetStrategy StatefulSet StatefulSetCondition"
                " StatefulSetOrdinals StatefulSetPersistentVolumeClaimRetentionPolicy"
                " StatefulSetSpec StatefulSetStatus StatefulSetUpdateStrategy"
            ),
        },
    )
