"""Defaults of the resources of a pod as a whole, from those of its containers.

They apply only where the author has set some resources of the pod: a pod without any has none.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from apimachinery.scalars.quantity import Quantity
from apis.core.v1.container import Container
from apis.core.v1.pod import PodSpec

_HUGE_PAGES: Final = "hugepages-"
_DIVISIBLE: Final = ("cpu", "memory")

Amounts = dict[str, Quantity]


def set_pod_resource_defaults(spec: PodSpec) -> None:
    """Complete the limits for huge pages, then the requests, of a pod that has resources."""
    resources = spec.resources
    if resources is None or not (resources.limits or resources.requests):
        return
    for name, amount in _total(spec, "limits").items():
        if name.startswith(_HUGE_PAGES) and name not in resources.requests:
            resources.limits.setdefault(name, amount)
    if not resources.limits:
        return
    for name, amount in _total(spec, "requests").items():
        if name in _DIVISIBLE:
            resources.requests.setdefault(name, amount)
    for name, amount in resources.limits.items():
        if name in _DIVISIBLE or name.startswith(_HUGE_PAGES):
            resources.requests.setdefault(name, amount)


def _total(spec: PodSpec, kind: str) -> Amounts:
    """Return what the containers of a pod use together, at the moment when they use most."""
    total = _sum(_amounts(container, kind) for container in spec.containers)
    sidecars: Amounts = {}
    most: Amounts = {}
    for container in spec.init_containers:
        amounts = _amounts(container, kind)
        if container.restart_policy == "Always":
            total = _sum((total, amounts))
            sidecars = _sum((sidecars, amounts))
            most = _largest(most, sidecars)
        else:
            most = _largest(most, _sum((sidecars, amounts)))
    return _largest(total, most)


def _amounts(container: Container, kind: str) -> Amounts:
    return container.resources.limits if kind == "limits" else container.resources.requests


def _sum(parts: Iterable[Mapping[str, Quantity]]) -> Amounts:
    result: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            result[name] = result[name] + amount if name in result else amount
    return result


def _largest(left: Amounts, right: Amounts) -> Amounts:
    largest = dict(left)
    for name, amount in right.items():
        largest[name] = max(left.get(name, amount), amount)
    return largest
