"""LimitRanger: containers get the defaults of their namespace, and pods and claims keep bounds."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from apimachinery.scalars.quantity import Quantity
from apimachinery.schema import GroupResource
from apis.core import GROUP
from apis.core.admission.limit_checks import claim_errors, pod_errors
from apis.core.v1.container import Container
from apis.core.v1.limit_range import CONTAINER_LIMIT, LimitRange
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim
from apis.core.v1.pod import Pod
from apiserver import Attributes, CachedObjects, ServerParts
from apiserver.storage.clock import MonotonicClock, SystemMonotonicClock

LIMIT_RANGES: Final = GroupResource(GROUP, "limitranges")
ANNOTATION: Final = "kubernetes.io/limit-ranger"
"""Tells which requests and limits were set by default."""

LOOKUP_SECONDS: Final = 30.0
"""How long a namespace is known to have no LimitRange."""
MAX_NAMESPACES: Final = 10_000


class LimitRanger:
    """Applies the LimitRanges of a namespace."""

    def __init__(self, parts: ServerParts, *, clock: MonotonicClock | None = None) -> None:
        self._ranges = CachedObjects(parts.find_store, LIMIT_RANGES, LimitRange)
        self._clock = clock or SystemMonotonicClock()
        self._without: OrderedDict[str, float] = OrderedDict()
        """Namespaces without a LimitRange, and until when that need not be looked up again."""

    async def mutate(self, attributes: Attributes) -> None:
        """Set the default requests and limits of the containers of a pod."""
        pod = attributes.object
        if isinstance(pod, Pod) and _applies_to(attributes):
            for limits in await self._limits(attributes.namespace):
                _set_defaults(pod, limits)

    async def validate(self, attributes: Attributes) -> None:
        """Reject a pod or a claim that exceeds a bound."""
        obj = attributes.object
        if obj is None or not _applies_to(attributes):
            return
        for limits in await self._limits(attributes.namespace):
            found: dict[str, None] = {}
            if isinstance(obj, Pod):
                found = dict.fromkeys(pod_errors(limits, obj))
            elif isinstance(obj, PersistentVolumeClaim):
                found = dict.fromkeys(claim_errors(limits, obj))
            if found:
                text = ", ".join(found)
                raise attributes.forbidden(f"[{text}]" if len(found) > 1 else text)

    async def _limits(self, namespace: str) -> list[LimitRange]:
        if known := await self._ranges.all(namespace=namespace):
            return known
        now = self._clock.now()
        if self._without.get(namespace, 0.0) > now:
            return []
        # The first one may have been created a moment ago.
        found = await self._ranges.all(namespace=namespace, newest=True)
        self._without[namespace] = now + LOOKUP_SECONDS
        self._without.move_to_end(namespace)
        if len(self._without) > MAX_NAMESPACES:
            self._without.popitem(last=False)
        return found


def _applies_to(attributes: Attributes) -> bool:
    """Return whether the write may change amounts: containers of a pod only by a resize."""
    old, subresource = attributes.old_object, attributes.subresource
    if old is not None and old.metadata.deletion_timestamp is not None:
        return False
    if isinstance(attributes.object, Pod):
        return subresource == ("resize" if old is not None else "")
    return not subresource


def _set_defaults(pod: Pod, limits: LimitRange) -> None:
    default_limits: dict[str, Quantity] = {}
    default_requests: dict[str, Quantity] = {}
    for item in limits.spec.limits:
        if item.type == CONTAINER_LIMIT:
            default_limits |= item.default
            default_requests |= item.default_request
    changes = [
        text
        for kind, containers in (
            ("container", pod.spec.containers),
            ("init container", pod.spec.init_containers),
        )
        for container in containers
        for text in _complete(kind, container, default_requests, default_limits)
    ]
    if changes:
        pod.metadata.annotations[ANNOTATION] = f"LimitRanger plugin set: {'; '.join(changes)}"


def _complete(
    kind: str,
    container: Container,
    default_requests: Mapping[str, Quantity],
    default_limits: Mapping[str, Quantity],
) -> list[str]:
    """Set what a container lacks; return the descriptions of what was set."""
    changes = []
    for what, own, defaults in (
        ("request", container.resources.requests, default_requests),
        ("limit", container.resources.limits, default_limits),
    ):
        missing = sorted(defaults.keys() - own.keys())
        own.update((name, defaults[name]) for name in missing)
        if missing:
            changes.append(f"{', '.join(missing)} {what} for {kind} {container.name}")
    return changes
