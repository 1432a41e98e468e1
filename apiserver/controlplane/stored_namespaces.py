"""Stored namespaces: the phases of namespaces, for the admission plugin NamespaceLifecycle."""

from typing import Any, Final

from apimachinery.errors import NotFound
from apiserver.admission.namespace_lifecycle import NamespacePhase
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.read_revision import Freshness

_MARK: Final = b'"deletionTimestamp":'


class StoredNamespaces:
    """Looks namespaces up in their store, whatever their class."""

    def __init__(self, namespaces: ResourceStore[Any]) -> None:
        self._namespaces = namespaces

    async def __call__(self, name: str, *, newest: bool) -> NamespacePhase | None:
        """Return the phase of a namespace, None if it does not exist."""
        at = Freshness.NEWEST if newest else Freshness.ANY
        try:
            entry = await self._namespaces.get(name, at=at)
        except NotFound:
            return None
        if _MARK not in entry.record.value:
            return NamespacePhase.ACTIVE  # the common case needs no decoding
        going = self._namespaces.decode(entry).metadata.deletion_timestamp is not None
        return NamespacePhase.TERMINATING if going else NamespacePhase.ACTIVE
