"""ReplicaSet controller: keeps as many pods of a template as its replica set wants.

It looks at the pods that the replica set has, creates or deletes the difference, and reports what
it saw. A pod that nobody controls and that matches the selector is adopted.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from apimachinery.selectors.label_selector import from_label_selector
from apis.apps.v1 import ReplicaSet
from apis.apps.v1.replica_set import ReplicaSetCondition
from apis.core.controllers.claiming import claim
from apis.core.controllers.pod_replicas import ScalingError, scale
from apis.core.pod_readiness import ENDED, available_at, is_active, is_available, is_ready
from apis.core.v1.pod import Pod
from client.controller.context import Context
from client.controller.enqueue_handlers import Mapped
from client.controller.manager import Manager
from client.controller.reconciler import NamespacedName, Result
from client.controller.sources import Kind

NAME: Final = "replicaset"
FAILURE: Final = "ReplicaFailure"


def setup(manager: Manager) -> None:
    """Add the controller to a manager."""
    sets = manager.caches.reader(ReplicaSet)

    def may_adopt(pod: Pod) -> Iterable[NamespacedName]:
        """Yield the replica sets that match a pod without a controller."""
        if any(owner.controller for owner in pod.metadata.owner_references):
            return
        for replica_set in sets.list(pod.metadata.namespace):
            if from_label_selector(replica_set.spec.selector).matches(pod.metadata.labels):
                yield NamespacedName.of(replica_set)

    manager.controller(
        ReplicaSet, name=NAME, owns=[Pod], watches=[Kind(Pod, Mapped(may_adopt))], workers=5
    )(reconcile)


async def reconcile(ctx: Context[ReplicaSet]) -> Result | None:
    """Bring the number of pods of one replica set in line with its spec."""
    replica_set = await ctx.get()
    if replica_set is None:
        return None
    selector = from_label_selector(replica_set.spec.selector)
    pods = await claim(ctx, replica_set, Pod, selector)
    failure: ScalingError | None = None
    if replica_set.metadata.deletion_timestamp is None:
        active = [pod for pod in pods if is_active(pod)]
        wanted = replica_set.spec.replicas
        template = replica_set.spec.template
        try:
            await scale(ctx, replica_set, template, active, 1 if wanted is None else wanted)
        except ScalingError as error:
            failure = error
    await _report(ctx, replica_set, pods, failure)
    if failure is not None:
        raise failure
    return _when_available(ctx, replica_set, pods)


async def _report(
    ctx: Context[ReplicaSet],
    observed: ReplicaSet,
    pods: Sequence[Pod],
    failure: ScalingError | None,
) -> None:
    now, min_ready = ctx.clock.now(), observed.spec.min_ready_seconds
    active = [pod for pod in pods if is_active(pod)]
    labels = observed.spec.template.metadata.labels.items()

    def change(newest: ReplicaSet) -> None:
        status = newest.status
        status.replicas = len(active)
        status.fully_labeled_replicas = sum(labels <= pod.metadata.labels.items() for pod in active)
        status.ready_replicas = sum(map(is_ready, active))
        status.available_replicas = sum(is_available(pod, min_ready, now) for pod in active)
        status.terminating_replicas = sum(map(_is_terminating, pods))
        status.observed_generation = observed.metadata.generation
        _set_failure(ctx, newest, failure)

    await ctx.modify_status(change)


def _set_failure(
    ctx: Context[ReplicaSet], replica_set: ReplicaSet, failure: ScalingError | None
) -> None:
    """Set the condition ReplicaFailure while pods cannot be created or deleted."""
    conditions = replica_set.status.conditions
    known = next((condition for condition in conditions if condition.type == FAILURE), None)
    if failure is None:
        replica_set.status.conditions = [each for each in conditions if each is not known]
    elif known is None:
        conditions.append(
            ReplicaSetCondition(
                type=FAILURE,
                status="True",
                reason=failure.reason,
                message=str(failure),
                last_transition_time=ctx.clock.now().replace(microsecond=0),
            )
        )


def _is_terminating(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None and pod.status.phase not in ENDED


def _when_available(
    ctx: Context[ReplicaSet], replica_set: ReplicaSet, pods: Sequence[Pod]
) -> Result | None:
    """Look again when the next ready pod becomes available."""
    min_ready = replica_set.spec.min_ready_seconds
    if not min_ready:
        return None
    now = ctx.clock.now()
    times = (available_at(pod, min_ready) for pod in pods if is_active(pod))
    waiting = [(at - now).total_seconds() for at in times if at is not None and at > now]
    return Result(requeue_after=min(waiting)) if waiting else None
