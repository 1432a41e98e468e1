"""NamespaceLifecycle: rejects writes into namespaces that are missing or terminating.

The cache may be stale: a namespace deleted a moment ago may still appear active, and a new one may
appear missing. In both cases the plugin reads the store itself.
"""

from enum import Enum
from typing import Final, Protocol

from apimachinery.errors import Forbidden, NotFound
from apimachinery.meta.status import StatusCause
from apimachinery.schema import GroupKind, GroupResource
from apiserver.admission.chain import Attributes, Operation
from apiserver.storage.clock import MonotonicClock, SystemMonotonicClock

NAMESPACE: Final = GroupKind("", "Namespace")
IMMORTAL: Final = frozenset(("default", "kube-system", "kube-public"))
"""Namespaces that cannot be deleted."""

_NAMESPACES: Final = GroupResource("", "namespaces")
_TERMINATING_CAUSE: Final = "NamespaceTerminating"
# Not checked for these reviews: to report a missing namespace would disclose what the review
# protects.
_REVIEWS: Final = GroupResource("authorization.k8s.io", "localsubjectaccessreviews")
_BYPASS_CACHE_SECONDS: Final = 30.0
"""How long after the deletion of a namespace its phase is read from the store."""


class NamespacePhase(Enum):
    ACTIVE = "Active"
    TERMINATING = "Terminating"


class NamespaceLookup(Protocol):
    """Looks up the phase of a namespace."""

    async def __call__(self, name: str, *, newest: bool) -> NamespacePhase | None:
        """Return the phase, None if the namespace does not exist.

        With *newest*, the lookup reflects every write acknowledged before it.
        """


class NamespaceLifecycle:
    """A mutating plugin, because it must run first; it modifies nothing."""

    def __init__(self, lookup: NamespaceLookup, *, clock: MonotonicClock | None = None) -> None:
        self._lookup = lookup
        self._clock = clock or SystemMonotonicClock()
        self._deleted: dict[str, float] = {}
        """Namespaces deleted through this plugin, and until when they bypass the cache."""

    async def __call__(self, attributes: Attributes) -> None:
        """Reject writes into a namespace that is missing or terminating."""
        if attributes.kind == NAMESPACE:
            self._check_namespace(attributes)
        elif self._applies_to(attributes):
            await self._check_content(attributes)

    def _check_namespace(self, attributes: Attributes) -> None:
        if attributes.operation is not Operation.DELETE:
            return
        name = attributes.name
        if name in IMMORTAL:
            raise Forbidden.of(attributes.resource, name, "this namespace may not be deleted")
        now = self._clock.now()
        self._deleted = {key: until for key, until in self._deleted.items() if until > now}
        self._deleted[name] = now + _BYPASS_CACHE_SECONDS

    def _applies_to(self, attributes: Attributes) -> bool:
        return bool(
            attributes.namespace
            and attributes.operation is not Operation.DELETE
            and attributes.resource != _REVIEWS
        )

    async def _check_content(self, attributes: Attributes) -> None:
        namespace = attributes.namespace
        phase = await self._phase(namespace)
        if phase is None:
            raise NotFound.of(_NAMESPACES, namespace)
        if phase is NamespacePhase.TERMINATING and attributes.operation is Operation.CREATE:
            cause = StatusCause(
                reason=_TERMINATING_CAUSE,
                message=f"namespace {namespace} is being terminated",
                field="metadata.namespace",
            )
            raise attributes.forbidden(
                f"unable to create new content in namespace {namespace} because it is being"
                " terminated",
                causes=[cause],
            )

    async def _phase(self, namespace: str) -> NamespacePhase | None:
        if self._deleted.get(namespace, 0.0) <= self._clock.now():
            phase = await self._lookup(namespace, newest=False)
            if phase is not None:
                return phase
        return await self._lookup(namespace, newest=True)
