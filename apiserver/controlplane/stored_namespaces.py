"""Stored namespaces: look up the phase of a namespace for NamespaceLifecycle."""

from typing import Any, Final

from apimachinery.errors import NotFound
from apiserver.admission.namespace_lifecycle import NamespacePhase
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.read_revision import Freshness

_DELETION_TIMESTAMP: Final = b'"deletionTimestamp":'


class StoredNamespaces:
    """Implements `NamespaceLookup` with the store of namespaces, whatever their class."""

    def __init__(self, namespaces: ResourceStore[Any]) -> None:
        self._namespaces = namespaces

    async def __call__(self, name: str, *, newest: bool) -> NamespacePhase | None:
        """Return the phase of a namespace, None if it does not exist."""
        at = Freshness.NEWEST if newest else Freshness.ANY
        try:
            entry = await self._namespaces.get(name, at=at)
        except NotFound:
            return None
        if _DELETION_TIMESTAMP not in entry.content:
            return NamespacePhase.ACTIVE  # nearly all namespaces: no decoding required
        # The text may also occur in a label or an annotation.
        metadata = self._namespaces.decode(entry).metadata
        terminating = metadata.deletion_timestamp is not None
        return NamespacePhase.TERMINATING if terminating else NamespacePhase.ACTIVE
