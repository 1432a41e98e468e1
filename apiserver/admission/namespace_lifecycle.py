"""NamespaceLifecycle: nothing is put into a namespace that is missing or on its way out.

A namespace that was deleted a moment ago may still look alive to the cache. So does one that was
made a moment ago look missing. In both cases the store itself is asked.
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
# To say that the namespace is missing would tell what the review is there to protect.
_REVIEWS: Final = GroupResource("authorization.k8s.io", "localsubjectaccessreviews")
_DISTRUST_SECONDS: Final = 30.0
"""For so long after its deletion began the cache is not asked about a namespace."""


class NamespacePhase(Enum):
    ACTIVE = "Active"
    TERMINATING = "Terminating"


class NamespaceLookup(Protocol):
    """Finds out about a namespace."""

    async def __call__(self, name: str, *, newest: bool) -> NamespacePhase | None:
        """Its phase, None if there is no such namespace.

        With *newest* the answer shows every write acknowledged before the question.
        """


class NamespaceLifecycle:
    """A mutating plugin, the first of all, though it changes nothing."""

    def __init__(self, lookup: NamespaceLookup, *, clock: MonotonicClock | None = None) -> None:
        self._lookup = lookup
        self._clock = clock or SystemMonotonicClock()
        self._deleted: dict[str, float] = {}
        """Namespaces whose deletion passed here, and until when they are remembered."""

    async def __call__(self, attributes: Attributes) -> None:
        """Refuse what would end up in a namespace that cannot take it."""
        if attributes.kind == NAMESPACE:
            self._check_namespace(attributes)
        elif self._concerns(attributes):
            await self._check_content(attributes)

    def _check_namespace(self, attributes: Attributes) -> None:
        if attributes.operation is not Operation.DELETE:
            return
        name = attributes.name
        if name in IMMORTAL:
            raise Forbidden.of(attributes.resource, name, "this namespace may not be deleted")
        now = self._clock.now()
        self._deleted = {each: until for each, until in self._deleted.items() if until > now}
        self._deleted[name] = now + _DISTRUST_SECONDS

    def _concerns(self, attributes: Attributes) -> bool:
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
