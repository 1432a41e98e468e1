"""Pod set: an object that keeps a number of equal pods, and how it is reconciled.

Replica sets and replication controllers are pod sets; they differ in their selectors and in the
class of their conditions. One look at the pods decides: those that are missing are created, those
that are too many are deleted, and what was seen is reported.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from apimachinery.meta.types import Object
from apimachinery.selectors.label_selector import Selector
from apis.core.controllers.claiming import claim
from apis.core.controllers.pod_replicas import ScalingError, scale
from apis.core.pod_readiness import ENDED, available_at, is_active, is_available, is_ready
from apis.core.v1.pod import Pod
from apis.core.v1.pod_template import PodTemplateSpec
from client.controller.context import Context
from client.controller.enqueue_handlers import Mapped
from client.controller.manager import Manager
from client.controller.reconciler import NamespacedName, Result
from client.controller.sources import Kind

FAILURE: Final = "ReplicaFailure"
"""The condition that says why pods could not be created or deleted."""
WORKERS: Final = 5

SetT = TypeVar("SetT", bound=Object)


@dataclass(frozen=True, slots=True)
class PodSetKind(Generic[SetT]):
    """What distinguishes a kind of pod sets; their specs and statuses have the same fields."""

    cls: type[SetT]
    name: str
    """The name of the controller."""
    selector_of: Callable[[SetT], Selector]
    condition: type[Any]
    counts_terminating: bool
    """Whether the status has `terminatingReplicas`."""

    def add_to(self, manager: Manager) -> None:
        """Add the controller of this kind to a manager."""
        sets = manager.caches.reader(self.cls)

        def adopters(pod: Pod) -> Iterable[NamespacedName]:
            """Yield the sets that match a pod without a controller."""
            if any(owner.controller for owner in pod.metadata.owner_references):
                return
            for each in sets.list(pod.metadata.namespace):
                if self.selector_of(each).matches(pod.metadata.labels):
                    yield NamespacedName.of(each)

        manager.controller(
            self.cls,
            name=self.name,
            owns=[Pod],
            watches=[Kind(Pod, Mapped(adopters))],
            workers=WORKERS,
        )(self.reconcile)

    async def reconcile(self, ctx: Context[SetT]) -> Result | None:
        """Bring the number of pods of one set in line with its spec."""
        pod_set = await ctx.get()
        if pod_set is None:
            return None
        pods = await claim(ctx, pod_set, Pod, self.selector_of(pod_set))
        failure: ScalingError | None = None
        if pod_set.metadata.deletion_timestamp is None:
            active = [pod for pod in pods if is_active(pod)]
            try:
                await scale(ctx, pod_set, _template(pod_set), active, _wanted(pod_set))
            except ScalingError as error:
                failure = error
        await self._report(ctx, pod_set, pods, failure)
        if failure is not None:
            raise failure
        return _when_available(ctx, pod_set, pods)

    async def _report(
        self,
        ctx: Context[SetT],
        observed: SetT,
        pods: Sequence[Pod],
        failure: ScalingError | None,
    ) -> None:
        now, min_ready = ctx.clock.now(), _spec(observed).min_ready_seconds
        active = [pod for pod in pods if is_active(pod)]
        labels = _template(observed).metadata.labels.items()

        def change(newest: SetT) -> None:
            status: Any = newest.status  # type: ignore[attr-defined]  # every pod set has one
            status.replicas = len(active)
            status.fully_labeled_replicas = sum(
                labels <= pod.metadata.labels.items() for pod in active
            )
            status.ready_replicas = sum(map(is_ready, active))
            status.available_replicas = sum(is_available(pod, min_ready, now) for pod in active)
            if self.counts_terminating:
                status.terminating_replicas = sum(map(_is_terminating, pods))
            status.observed_generation = observed.metadata.generation
            self._set_failure(ctx, status, failure)

        await ctx.modify_status(change)

    def _set_failure(self, ctx: Context[SetT], status: Any, failure: ScalingError | None) -> None:
        known = [each for each in status.conditions if each.type == FAILURE]
        if failure is None:
            status.conditions = [each for each in status.conditions if each not in known]
        elif not known:
            status.conditions.append(
                self.condition(
                    type=FAILURE,
                    status="True",
                    reason=failure.reason,
                    message=str(failure),
                    last_transition_time=ctx.clock.now().replace(microsecond=0),
                )
            )


def _spec(pod_set: Object) -> Any:
    return pod_set.spec  # type: ignore[attr-defined]  # every pod set has one


def _wanted(pod_set: Object) -> int:
    replicas: int | None = _spec(pod_set).replicas
    return 1 if replicas is None else replicas


def _template(pod_set: Object) -> PodTemplateSpec:
    return _spec(pod_set).template or PodTemplateSpec()


def _is_terminating(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None and pod.status.phase not in ENDED


def _when_available(ctx: Context[Any], pod_set: Object, pods: Sequence[Pod]) -> Result | None:
    """Look again when the next ready pod becomes available."""
    min_ready: int = _spec(pod_set).min_ready_seconds
    if not min_ready:
        return None
    now = ctx.clock.now()
    times = (available_at(pod, min_ready) for pod in pods if is_active(pod))
    waiting = [(at - now).total_seconds() for at in times if at is not None and at > now]
    return Result(requeue_after=min(waiting)) if waiting else None
