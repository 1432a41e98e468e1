"""Pods in quotas: their requests and limits, and the scopes they are in.

A pod that has ended counts only as a stored object. While a pod is resized in place it counts with
what it has and with what it is to have, whichever is more.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, TypeAlias

from apimachinery.scalars.quantity import Quantity
from apimachinery.schema import GroupResource
from apis.core import GROUP
from apis.core.pod_resources import (
    BEST_EFFORT,
    aggregate,
    has_pod_level_resources,
    quality_of_service,
)
from apis.core.quota.amounts import ONE, Amounts, add, largest
from apis.core.quota.evaluator import Evaluator
from apis.core.quota.measure import Measure
from apis.core.v1.container import Container
from apis.core.v1.container_status import ContainerStatus
from apis.core.v1.pod import Pod, PodSpec
from apis.core.v1.resource_quota import (
    BEST_EFFORT_SCOPE,
    CROSS_NAMESPACE_SCOPE,
    NOT_BEST_EFFORT_SCOPE,
    NOT_TERMINATING_SCOPE,
    PRIORITY_CLASS_SCOPE,
    TERMINATING_SCOPE,
)
from apis.core.v1.scheduling import PodAffinity, PodAffinityTerm, PodAntiAffinity
from apis.core.validation.resource_names import (
    CPU,
    EPHEMERAL_STORAGE,
    HUGE_PAGES_PREFIX,
    MEMORY,
    is_extended_resource,
    is_native_resource,
    is_pod_level_resource,
)
from apiserver.admission.chain import Operation

PODS: Final = GroupResource(GROUP, "pods")
REQUESTS: Final = "requests."
LIMITS: Final = "limits."
DEVICE_CLASS: Final = "deviceclass.resource.kubernetes.io/"
"""Precedes the name of a device class in the name of an extended resource that stands for it."""

_COUNT: Final = "pods"
_COMPUTE: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)
_PREFIXES: Final = (HUGE_PAGES_PREFIX, f"{REQUESTS}{HUGE_PAGES_PREFIX}")
_REQUIRED: Final = frozenset(
    {*(CPU, MEMORY), "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}
)
"""What every container must specify if a quota has it."""
_FINISHED: Final = ("Failed", "Succeeded")

_List: TypeAlias = Mapping[str, Quantity]


class PodEvaluator(Evaluator):
    """Counts pods that have not ended, and what their containers request."""

    counts_only = False

    def __init__(self) -> None:
        super().__init__(PODS)
        self._names = frozenset(
            {
                self.count_name,
                _COUNT,
                *_COMPUTE,
                *(REQUESTS + name for name in _COMPUTE),
                *(LIMITS + name for name in _COMPUTE),
            }
        )

    def handles(self, operation: Operation, subresource: str, new: Any, old: Any) -> bool:
        if subresource == "resize":
            return operation is Operation.UPDATE
        if subresource:
            return False
        if operation is Operation.CREATE:
            return True
        # The pod moves from one scope to the other.
        return operation is Operation.UPDATE and _has_deadline(new) != _has_deadline(old)

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(
            name
            for name in names
            if name in self._names or name.startswith(_PREFIXES) or is_extended_request(name)
        )

    def missing(self, names: Collection[str], obj: Pod) -> str:
        if obj.spec.resources is not None and has_pod_level_resources(obj.spec.resources):
            return ""
        required = _REQUIRED.intersection(names)
        lacking: dict[str, set[str]] = {}
        for container in (*obj.spec.containers, *obj.spec.init_containers) if required else ():
            given = _compute_usage(container.resources.requests, container.resources.limits)
            for name in required.difference(given):
                lacking.setdefault(name, set()).add(container.name)
        if not lacking:
            return ""
        parts = (f"{name} for: {','.join(sorted(lacking[name]))}" for name in sorted(lacking))
        return f"must specify {'; '.join(parts)}"

    def measure(self, obj: Pod) -> Measure:
        stored = {self.count_name: ONE}
        usage = dict(stored)
        if obj.status.phase not in _FINISHED:
            add(usage, _compute_usage(pod_requests(obj), pod_limits(obj)))
        name = obj.spec.priority_class_name
        meta, ends = obj.metadata, None
        if meta.deletion_timestamp is not None and meta.deletion_grace_period_seconds is not None:
            # A pod whose node is lost may stay, and must not keep others from replacing it.
            grace = timedelta(seconds=meta.deletion_grace_period_seconds)
            ends = meta.deletion_timestamp + grace
        classes = {PRIORITY_CLASS_SCOPE: (name,) if name else ()}
        return Measure(usage, frozenset(_scopes(obj)), classes, ends, stored)


def is_extended_request(name: str) -> bool:
    """Return whether a name in a quota is the request of an extended resource."""
    if not name.startswith(REQUESTS):
        return False
    return not is_native_resource(name) or name.startswith(REQUESTS + DEVICE_CLASS)


def pod_requests(pod: Pod) -> Amounts:
    """Return what a pod requests and already has, with its overhead."""
    requests = _effective(pod, _spec_requests, _allocated_requests, _actual_requests)
    whole = pod.spec.resources
    if whole is not None:
        requests.update(_pod_level(whole.requests))
    add(requests, pod.spec.overhead)
    return requests


def pod_limits(pod: Pod) -> Amounts:
    """Return the limits of a pod, with its overhead where there is a limit."""
    limits = _effective(pod, _spec_limits, _actual_limits)
    whole = pod.spec.resources
    if whole is not None:
        limits.update(_pod_level(whole.limits))
    for name, quantity in pod.spec.overhead.items():
        if name in limits and not limits[name].is_zero:
            limits[name] = limits[name] + quantity
    return limits


_View: TypeAlias = Callable[[Container, "ContainerStatus | None", bool], _List]
"""Returns the requests or limits of a container, given whether its resize is infeasible."""


def _effective(pod: Pod, spec: _View, *views: _View) -> Amounts:
    statuses = {
        status.name: status
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    }
    infeasible = _is_resize_infeasible(pod)
    if not statuses and not infeasible:
        return _aggregated(pod.spec, spec, statuses, infeasible)
    chosen = views if infeasible else (spec, *views)
    return largest(*(_aggregated(pod.spec, view, statuses, infeasible) for view in chosen))


def _aggregated(
    spec: PodSpec, view: _View, statuses: Mapping[str, ContainerStatus], infeasible: bool
) -> Amounts:
    return aggregate(
        spec, lambda container: view(container, statuses.get(container.name), infeasible)
    )


def _is_resize_infeasible(pod: Pod) -> bool:
    for condition in pod.status.conditions:
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _spec_requests(container: Container, _: ContainerStatus | None, __: bool) -> _List:
    return container.resources.requests


def _allocated_requests(
    container: Container, status: ContainerStatus | None, infeasible: bool
) -> _List:
    if status is not None and status.allocated_resources:
        return status.allocated_resources
    return {} if infeasible else container.resources.requests


def _actual_requests(
    container: Container, status: ContainerStatus | None, infeasible: bool
) -> _List:
    if status is not None and status.resources is not None and status.resources.requests:
        return status.resources.requests
    return _allocated_requests(container, status, infeasible)


def _spec_limits(container: Container, _: ContainerStatus | None, __: bool) -> _List:
    return container.resources.limits


def _actual_limits(container: Container, status: ContainerStatus | None, infeasible: bool) -> _List:
    if status is not None and status.resources is not None and status.resources.limits:
        return status.resources.limits
    return {} if infeasible else container.resources.limits


def _pod_level(amounts: _List) -> Amounts:
    return {name: amount for name, amount in amounts.items() if is_pod_level_resource(name)}


def _compute_usage(requests: _List, limits: _List) -> Amounts:
    """Return what a pod uses under the names that quotas have for it."""
    usage: Amounts = {_COUNT: ONE}
    for name in _COMPUTE:
        if name in requests:
            usage[name] = usage[REQUESTS + name] = requests[name]
        if name in limits:
            usage[LIMITS + name] = limits[name]
    for name, amount in requests.items():
        if name.startswith(HUGE_PAGES_PREFIX):
            usage[name] = usage[REQUESTS + name] = amount
        elif is_extended_resource(name) or name.startswith(DEVICE_CLASS):
            usage[REQUESTS + name] = amount
    return usage


def _scopes(pod: Pod) -> Iterator[str]:
    yield TERMINATING_SCOPE if _has_deadline(pod) else NOT_TERMINATING_SCOPE
    is_best_effort = quality_of_service(pod) == BEST_EFFORT
    yield BEST_EFFORT_SCOPE if is_best_effort else NOT_BEST_EFFORT_SCOPE
    affinity = pod.spec.affinity
    if affinity is not None and any(
        term.namespaces or term.namespace_selector is not None
        for part in (affinity.pod_affinity, affinity.pod_anti_affinity)
        if part is not None
        for term in _terms(part)
    ):
        yield CROSS_NAMESPACE_SCOPE


def _has_deadline(pod: Pod) -> bool:
    seconds = pod.spec.active_deadline_seconds
    return seconds is not None and seconds >= 0


def _terms(affinity: PodAffinity | PodAntiAffinity) -> Iterator[PodAffinityTerm]:
    yield from affinity.required_during_scheduling_ignored_during_execution
    for weighted in affinity.preferred_during_scheduling_ignored_during_execution:
        yield weighted.pod_affinity_term
