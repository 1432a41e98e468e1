"""Defaults of apps/v1."""

from typing import Final

from apis.apps.v1 import daemon_set as daemon_sets
from apis.apps.v1 import deployment as deployments
from apis.apps.v1 import stateful_set as stateful_sets
from apis.apps.v1.daemon_set import DaemonSet, DaemonSetSpec, RollingUpdateDaemonSet
from apis.apps.v1.deployment import DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment
from apis.apps.v1.replica_set import ReplicaSetSpec
from apis.apps.v1.stateful_set import (
    RollingUpdateStatefulSetStrategy,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    StatefulSetSpec,
    StatefulSetUpdateStrategy,
)

REVISION_HISTORY_LIMIT: Final = 10
PROGRESS_DEADLINE_SECONDS: Final = 600
QUARTER: Final = "25%"


def set_deployment_spec_defaults(spec: DeploymentSpec) -> None:
    if spec.replicas is None:
        spec.replicas = 1
    _set_deployment_strategy(spec.strategy)
    if spec.revision_history_limit is None:
        spec.revision_history_limit = REVISION_HISTORY_LIMIT
    if spec.progress_deadline_seconds is None:
        spec.progress_deadline_seconds = PROGRESS_DEADLINE_SECONDS


def set_replica_set_spec_defaults(spec: ReplicaSetSpec) -> None:
    if spec.replicas is None:
        spec.replicas = 1


def set_daemon_set_defaults(daemon_set: DaemonSet) -> None:
    # Every document of v1 has the annotation, so the client that creates an object owns it.
    daemon_set.metadata.annotations.setdefault(daemon_sets.TEMPLATE_GENERATION, "0")


def set_daemon_set_spec_defaults(spec: DaemonSetSpec) -> None:
    strategy = spec.update_strategy
    strategy.type = strategy.type or daemon_sets.ROLLING_UPDATE
    if strategy.type == daemon_sets.ROLLING_UPDATE:
        rolling = strategy.rolling_update = strategy.rolling_update or RollingUpdateDaemonSet()
        if rolling.max_unavailable is None:
            rolling.max_unavailable = 1
        if rolling.max_surge is None:
            rolling.max_surge = 0
    if spec.revision_history_limit is None:
        spec.revision_history_limit = REVISION_HISTORY_LIMIT


def set_stateful_set_spec_defaults(spec: StatefulSetSpec) -> None:
    spec.pod_management_policy = spec.pod_management_policy or stateful_sets.ORDERED_READY
    _set_stateful_set_strategy(spec.update_strategy)
    if spec.persistent_volume_claim_retention_policy is None:
        policy = StatefulSetPersistentVolumeClaimRetentionPolicy()
        spec.persistent_volume_claim_retention_policy = policy
    if spec.replicas is None:
        spec.replicas = 1
    if spec.revision_history_limit is None:
        spec.revision_history_limit = REVISION_HISTORY_LIMIT
    for claim in spec.volume_claim_templates:
        claim.kind, claim.api_version = claim.__kind__, "v1"


def set_claim_retention_defaults(policy: StatefulSetPersistentVolumeClaimRetentionPolicy) -> None:
    policy.when_deleted = policy.when_deleted or stateful_sets.RETAIN
    policy.when_scaled = policy.when_scaled or stateful_sets.RETAIN


def _set_deployment_strategy(strategy: DeploymentStrategy) -> None:
    strategy.type = strategy.type or deployments.ROLLING_UPDATE
    if strategy.type == deployments.ROLLING_UPDATE:
        rolling = strategy.rolling_update = strategy.rolling_update or RollingUpdateDeployment()
        if rolling.max_unavailable is None:
            rolling.max_unavailable = QUARTER
        if rolling.max_surge is None:
            rolling.max_surge = QUARTER


def _set_stateful_set_strategy(strategy: StatefulSetUpdateStrategy) -> None:
    if not strategy.type:
        strategy.type = stateful_sets.ROLLING_UPDATE
        strategy.rolling_update = strategy.rolling_update or RollingUpdateStatefulSetStrategy()
    rolling = strategy.rolling_update
    if strategy.type != stateful_sets.ROLLING_UPDATE or rolling is None:
        return
    if rolling.partition is None:
        rolling.partition = 0
    if rolling.max_unavailable is None:
        rolling.max_unavailable = 1
