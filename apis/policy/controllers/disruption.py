"""Disruption controller: counts how many more pods a budget allows to evict.

An eviction takes one from `status.disruptionsAllowed` in the write that checks it, and notes the
pod in `status.disruptedPods` until it is gone. This controller computes the number anew whenever a
pod or its controller changes: the healthy pods, less those that the budget demands.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from apimachinery.errors import APIError, NotFound
from apimachinery.mapper import NoMatch
from apimachinery.meta.conditions import condition, set_condition
from apimachinery.meta.owner_references import controller_of
from apimachinery.meta.types import Object, OwnerReference
from apimachinery.scalars.intstr import scaled_value
from apimachinery.selectors.label_selector import from_label_selector
from apis.apps.v1 import Deployment, ReplicaSet, StatefulSet
from apis.core.pod_readiness import is_ready
from apis.core.v1 import Pod, ReplicationController
from apis.policy.v1 import PodDisruptionBudget
from apis.policy.v1.types import DISRUPTION_ALLOWED
from client.controller.context import Context
from client.controller.enqueue_handlers import Mapped
from client.controller.manager import Manager
from client.controller.reconciler import NamespacedName, Result
from client.controller.sources import Kind

NAME: Final = "disruption"
DELETION_TIMEOUT: Final = timedelta(minutes=2)
"""After this time a pod that was evicted and is still there counts again."""

_SCALED: Final[Mapping[tuple[str, str], type[Object]]] = {
    ("v1", "ReplicationController"): ReplicationController,
    ("apps/v1", "Deployment"): Deployment,
    ("apps/v1", "ReplicaSet"): ReplicaSet,
    ("apps/v1", "StatefulSet"): StatefulSet,
}
"""Controllers of pods that are in the cache; of others the subresource `scale` is read."""


class NoScale(Exception):
    """The number of pods that there should be is not known."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a budget demands of the pods that it selects."""

    pods: int
    healthy: int
    unmanaged: bool = False
    """Whether some pods have no controller, so that nobody knows how many there should be."""


def setup(manager: Manager) -> None:
    """Add the controller to a manager."""
    budgets = manager.caches.reader(PodDisruptionBudget)

    def of_pod(pod: Pod) -> Iterable[NamespacedName]:
        for budget in budgets.list(pod.metadata.namespace):
            if from_label_selector(budget.spec.selector).matches(pod.metadata.labels):
                yield NamespacedName.of(budget)

    def of_namespace(obj: Object) -> Iterable[NamespacedName]:
        """Yield every budget beside a controller of pods: its size may have changed."""
        return map(NamespacedName.of, budgets.list(obj.metadata.namespace))

    sources = [Kind(cls, Mapped(of_namespace)) for cls in _SCALED.values()]
    manager.controller(
        PodDisruptionBudget, name=NAME, watches=[Kind(Pod, Mapped(of_pod)), *sources]
    )(reconcile)


async def reconcile(ctx: Context[PodDisruptionBudget]) -> Result | None:
    """Compute the status of one budget."""
    budget = await ctx.get()
    if budget is None:
        return None
    pods = await ctx.list(Pod, labels=from_label_selector(budget.spec.selector))
    if not pods:
        ctx.event("Normal", "NoPods", "No matching pods found")
    try:
        expected = await _expectation(ctx, budget, pods)
    except (NoScale, APIError, NoMatch) as error:
        text = f"Failed to calculate the number of expected pods: {error}"
        ctx.event("Warning", "CalculateExpectedPodCountFailed", text)
        await _report_failure(ctx, str(error))
        raise
    if expected.unmanaged:
        _warn_of_unmanaged(ctx, budget)
    now = ctx.clock.now()
    disrupted = _still_disrupted(ctx, budget, pods, now)
    await _report(ctx, budget, pods, expected, disrupted)
    if not disrupted:
        return None
    return Result(requeue_after=min(disrupted.values()) + DELETION_TIMEOUT - now)


async def _expectation(
    ctx: Context[PodDisruptionBudget], budget: PodDisruptionBudget, pods: Sequence[Pod]
) -> Expectation:
    """Return how many pods there should be, and how many of them healthy."""
    spec = budget.spec
    if spec.max_unavailable is not None:
        count, unmanaged = await _wanted_pods(ctx, pods)
        unavailable = scaled_value(spec.max_unavailable, count, round_up=True)
        return Expectation(count, max(count - unavailable, 0), unmanaged)
    if isinstance(spec.min_available, int):
        return Expectation(len(pods), spec.min_available)
    if spec.min_available is None:
        return Expectation(0, 0)
    count, unmanaged = await _wanted_pods(ctx, pods)
    return Expectation(count, scaled_value(spec.min_available, count, round_up=True), unmanaged)


async def _wanted_pods(ctx: Context[PodDisruptionBudget], pods: Sequence[Pod]) -> tuple[int, bool]:
    """Return the sum of what the controllers of *pods* want, and whether some pod has none."""
    owners = {pod.metadata.name: controller_of(pod) for pod in pods}
    references = {owner.uid: (name, owner) for name, owner in owners.items() if owner is not None}
    scales: dict[str, int] = {}
    for pod, reference in references.values():
        uid, scale = await _scale_of(ctx, reference, pod)
        scales[uid] = scale
    return sum(scales.values()), None in owners.values()


async def _scale_of(
    ctx: Context[PodDisruptionBudget], reference: OwnerReference, pod: str
) -> tuple[str, int]:
    """Return the uid and the wanted number of pods of a controller, or of what controls it."""
    cls = _SCALED.get((reference.api_version, reference.kind))
    if cls is None:
        return reference.uid, await _read_scale(ctx, reference, pod)
    owner = await ctx.find(cls, reference.name)
    if owner is None or owner.metadata.uid != reference.uid:
        raise NoScale(f'found no controllers for pod "{pod}"')
    above = controller_of(owner)
    if isinstance(owner, ReplicaSet) and above is not None and above.kind == "Deployment":
        return await _scale_of(ctx, above, pod)
    replicas: int | None = owner.spec.replicas  # type: ignore[attr-defined]  # all of them have it
    return reference.uid, 1 if replicas is None else replicas


async def _read_scale(
    ctx: Context[PodDisruptionBudget], reference: OwnerReference, pod: str
) -> int:
    client = ctx.client.kind(reference.kind, reference.api_version, namespace=ctx.namespace)
    try:
        scale = await client.scale.get(reference.name)
    except (NotFound, NoMatch):
        raise NoScale(f'found no controllers for pod "{pod}"') from None
    return scale.spec.replicas


def _still_disrupted(
    ctx: Context[PodDisruptionBudget],
    budget: PodDisruptionBudget,
    pods: Sequence[Pod],
    now: datetime,
) -> dict[str, datetime]:
    """Return the pods that were evicted and are still to be deleted, and when that was."""
    waiting = {}
    for pod in pods:
        evicted = budget.status.disrupted_pods.get(pod.metadata.name)
        if evicted is None or pod.metadata.deletion_timestamp is not None:
            continue
        if evicted + DELETION_TIMEOUT < now:
            name = f"{budget.metadata.namespace}/{budget.metadata.name}"
            text = f"Pod was expected by PDB {name} to be deleted but it wasn't"
            ctx.event("Warning", "NotDeleted", text, about=pod)
        else:
            waiting[pod.metadata.name] = evicted
    return waiting


async def _report(
    ctx: Context[PodDisruptionBudget],
    budget: PodDisruptionBudget,
    pods: Sequence[Pod],
    expected: Expectation,
    disrupted: Mapping[str, datetime],
) -> None:
    healthy = sum(
        pod.metadata.deletion_timestamp is None
        and pod.metadata.name not in disrupted
        and is_ready(pod)
        for pod in pods
    )
    allowed = max(healthy - expected.healthy, 0) if expected.pods else 0
    seen = budget.metadata.resource_version

    def change(newest: PodDisruptionBudget) -> None:
        if newest.metadata.resource_version != seen:
            return  # an eviction has taken one meanwhile: this is computed anew
        status = newest.status
        status.current_healthy = healthy
        status.desired_healthy = expected.healthy
        status.expected_pods = expected.pods
        status.disruptions_allowed = allowed
        status.disrupted_pods = dict(disrupted)
        status.observed_generation = budget.metadata.generation
        _set_allowed(
            ctx, newest, bool(allowed), "SufficientPods" if allowed else "InsufficientPods"
        )

    await ctx.modify_status(change)


async def _report_failure(ctx: Context[PodDisruptionBudget], message: str) -> None:
    """Allow nothing while it is not known what may be allowed."""

    def change(newest: PodDisruptionBudget) -> None:
        newest.status.disruptions_allowed = 0
        _set_allowed(ctx, newest, False, "SyncFailed", message)

    await ctx.modify_status(change)


def _set_allowed(
    ctx: Context[PodDisruptionBudget],
    budget: PodDisruptionBudget,
    allowed: bool,
    reason: str,
    message: str = "",
) -> None:
    new = condition(
        DISRUPTION_ALLOWED,
        allowed,
        reason,
        message,
        observed_generation=budget.status.observed_generation,
    )
    set_condition(budget.status.conditions, new, ctx.clock.now())


def _warn_of_unmanaged(ctx: Context[PodDisruptionBudget], budget: PodDisruptionBudget) -> None:
    selector = from_label_selector(budget.spec.selector)
    ctx.event(
        "Warning",
        "UnmanagedPods",
        f"Pods selected by this PodDisruptionBudget (selector: {selector}) were found to be"
        " unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may"
        ' result in undefined behavior. To account for these pods please set ".spec.minAvailable"'
        " field of the PDB to an integer value.",
    )
