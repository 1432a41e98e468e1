"""The bounds of a LimitRange: every reason why a pod or a claim exceeds them.

Amounts are compared exactly to a thousandth, and as whole numbers if one of them is so large that
Kubernetes could not count its thousandths.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from apimachinery.scalars.quantity import Quantity
from apis.core.pod_resources import aggregate_limits, aggregate_requests
from apis.core.v1.limit_range import (
    CLAIM_LIMIT,
    CONTAINER_LIMIT,
    POD_LIMIT,
    LimitRange,
    LimitRangeItem,
)
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim
from apis.core.v1.pod import Pod
from apis.core.v1.resource_requirements import ResourceRequirements

Amounts = Mapping[str, Quantity]

_MAX_MILLI_VALUE: Final = (2**63 - 1) // 1000
_NONE: Final = Quantity(0)
_OF_POD: Final = ("cpu", "memory")
"""What a pod can have requests and limits of as a whole."""


def pod_errors(limits: LimitRange, pod: Pod) -> Iterator[str]:
    """Yield the bounds for containers and pods that a pod exceeds."""
    for item in limits.spec.limits:
        if item.type == CONTAINER_LIMIT:
            for container in (*pod.spec.containers, *pod.spec.init_containers):
                resources = container.resources
                yield from _errors(item, resources.requests, resources.limits)
        elif item.type == POD_LIMIT:
            own = pod.spec.resources or ResourceRequirements()
            requests = aggregate_requests(pod.spec) | _supported(own.requests)
            yield from _errors(item, requests, aggregate_limits(pod.spec) | _supported(own.limits))


def claim_errors(limits: LimitRange, claim: PersistentVolumeClaim) -> Iterator[str]:
    """Yield the bounds for claims that a claim exceeds; only its requests count."""
    requests = claim.spec.resources.requests
    for item in limits.spec.limits:
        if item.type == CLAIM_LIMIT:
            yield from _violations(_minimum, item.type, item.min, requests, {})
            yield from _violations(_maximum_request, item.type, item.max, requests, {})


def _errors(item: LimitRangeItem, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _violations(_minimum, item.type, item.min, requests, limits)
    yield from _violations(_maximum, item.type, item.max, requests, limits)
    yield from _violations(_ratio, item.type, item.max_limit_request_ratio, requests, limits)


def _violations(
    rule: "_Rule", of_type: str, bounds: Amounts, requests: Amounts, limits: Amounts
) -> Iterator[str]:
    for name, bound in sorted(bounds.items()):
        if violation := rule(_Usage(of_type, name, bound, requests.get(name), limits.get(name))):
            yield violation


def _supported(amounts: Amounts) -> dict[str, Quantity]:
    return {name: amounts[name] for name in _OF_POD if name in amounts}


@dataclass(frozen=True, slots=True)
class _Usage:
    """What an object uses of one resource, and a bound for it."""

    type: str
    name: str
    bound: Quantity
    request: Quantity | None
    limit: Quantity | None

    def comparable(self) -> tuple[int, int, int]:
        """Return request, limit and bound in the same unit."""
        amounts = (self.request or _NONE, self.limit or _NONE, self.bound)
        if all(amount.value() <= _MAX_MILLI_VALUE for amount in amounts):
            request, limit, bound = (amount.milli_value() for amount in amounts)
        else:
            request, limit, bound = (amount.value() for amount in amounts)
        return request, limit, bound


_Rule: TypeAlias = Callable[[_Usage], str]
"""Returns why a bound is exceeded, empty if it is not."""


def _minimum(usage: _Usage) -> str:
    request, limit, bound = usage.comparable()
    text = f"minimum {usage.name} usage per {usage.type} is {usage.bound}"
    if usage.request is None:
        return f"{text}.  No request is specified"
    if request < bound:
        return f"{text}, but request is {usage.request}"
    if usage.limit is not None and limit < bound:
        return f"{text}, but limit is {usage.limit}"
    return ""


def _maximum_request(usage: _Usage) -> str:
    request, _, bound = usage.comparable()
    text = f"maximum {usage.name} usage per {usage.type} is {usage.bound}"
    if usage.request is None:
        return f"{text}.  No request is specified"
    return f"{text}, but request is {usage.request}" if request > bound else ""


def _maximum(usage: _Usage) -> str:
    request, limit, bound = usage.comparable()
    text = f"maximum {usage.name} usage per {usage.type} is {usage.bound}"
    if usage.limit is None:
        return f"{text}.  No limit is specified"
    if limit > bound:
        return f"{text}, but limit is {usage.limit}"
    if usage.request is not None and request > bound:
        return f"{text}, but request is {usage.request}"
    return ""


def _ratio(usage: _Usage) -> str:
    request, limit, _ = usage.comparable()
    text = f"{usage.name} max limit to request ratio per {usage.type} is {usage.bound}"
    if not request:
        return f"{text}, but no request is specified or request is 0"
    if not limit:
        return f"{text}, but no limit is specified or limit is 0"
    ratio = limit / request
    if usage.bound.value() <= _MAX_MILLI_VALUE:
        exceeds = ratio * 1000 > float(usage.bound.milli_value())
    else:
        exceeds = ratio > float(usage.bound.value())
    return f"{text}, but provided ratio is {ratio:f}" if exceeds else ""
