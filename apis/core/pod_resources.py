"""Resources of a pod: the sums of those of its containers, and its quality of service.

Containers and sidecars run together. Init containers run one after the other before them, each
beside the sidecars that were started earlier.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from apimachinery.scalars.quantity import Quantity
from apis.core.pod_containers import is_sidecar
from apis.core.v1.container import Container
from apis.core.v1.pod import Pod, PodSpec
from apis.core.v1.resource_requirements import ResourceRequirements

BEST_EFFORT: Final = "BestEffort"
BURSTABLE: Final = "Burstable"
GUARANTEED: Final = "Guaranteed"

_Quantities: TypeAlias = dict[str, Quantity]

_COMPUTE: Final = ("cpu", "memory")
_HUGE_PAGES: Final = "hugepages-"
_NONE: Final = Quantity(0)


def aggregate_requests(spec: PodSpec) -> _Quantities:
    """Return the requests of all containers together."""
    return aggregate(spec, lambda container: container.resources.requests)


def aggregate_limits(spec: PodSpec) -> _Quantities:
    """Return the limits of all containers together."""
    return aggregate(spec, lambda container: container.resources.limits)


def has_pod_level_resources(resources: ResourceRequirements) -> bool:
    """Return whether a pod as a whole has requests or limits of what it can have them of."""
    names = (*resources.requests, *resources.limits)
    return any(name in _COMPUTE or name.startswith(_HUGE_PAGES) for name in names)


def aggregate(
    spec: PodSpec, quantities_of: Callable[[Container], Mapping[str, Quantity]]
) -> _Quantities:
    """Return what all containers need together, if one needs what *quantities_of* returns."""
    total: _Quantities = {}
    for container in spec.containers:
        _add(total, quantities_of(container))
    sidecars: _Quantities = {}
    initialization: _Quantities = {}
    for container in spec.init_containers:
        quantities = quantities_of(container)
        if is_sidecar(container):
            _add(total, quantities)
            _add(sidecars, quantities)
            needed = sidecars
        else:
            needed = dict(quantities)
            _add(needed, sidecars)
        _raise(initialization, needed)
    _raise(total, initialization)
    return total


def quality_of_service(pod: Pod) -> str:
    """Return the class that decides which pods are evicted first when a node runs out of memory.

    The requirements of the pod as a whole decide if there are any, and otherwise those of its
    containers: all guaranteed, all without any, or a mixture.
    """
    if pod.spec.resources is not None and has_pod_level_resources(pod.spec.resources):
        return _requirements_class(pod.spec.resources)
    classes = {
        _requirements_class(container.resources)
        for container in (*pod.spec.init_containers, *pod.spec.containers)
    }
    return _common_class(classes)


def _add(total: _Quantities, quantities: Mapping[str, Quantity]) -> None:
    for name, quantity in quantities.items():
        total[name] = total[name] + quantity if name in total else quantity


def _raise(total: _Quantities, quantities: Mapping[str, Quantity]) -> None:
    for name, quantity in quantities.items():
        if name not in total or quantity > total[name]:
            total[name] = quantity


def _requirements_class(resources: ResourceRequirements) -> str:
    return _common_class({_resource_class(resources, name) for name in _COMPUTE})


def _resource_class(resources: ResourceRequirements, name: str) -> str:
    request, limit = resources.requests.get(name, _NONE), resources.limits.get(name, _NONE)
    if request != limit:
        return BURSTABLE
    return BEST_EFFORT if request.is_zero else GUARANTEED


def _common_class(classes: set[str]) -> str:
    if len(classes) > 1:
        return BURSTABLE
    return next(iter(classes), BEST_EFFORT)
