"""NamespaceQuotas: the quotas of a namespace as the watch cache has them.

Every write asks for them, so a namespace without quotas is found in a set. Charges change a quota
all the time: it is decoded when a write in its namespace needs it, and not for the others.
"""

import logging
from typing import Final

from apimachinery.errors import APIError
from apis.core.quota.evaluator import FindStore
from apis.core.quota.ledger import QUOTAS
from apis.core.quota.types import ResourceQuota
from apiserver.storage.cache.collection import Collection
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.storage.cache.read_revision import RevisionExpired

log = logging.getLogger(__name__)

_NONE: Final[tuple[ResourceQuota, ...]] = ()


class NamespaceQuotas:
    """Reads the quotas of one server process."""

    def __init__(self, find_store: FindStore) -> None:
        self._store = find_store(QUOTAS)
        self._collection: Collection = self._store.cached.collection
        self._state = (-1, -1)
        """The lists and the last change of the collection when namespaces were looked up."""
        self._namespaces: set[str] = set()
        self._decoded: dict[str, tuple[int, ResourceQuota | None]] = {}
        """Key -> revision and quota."""

    def of(self, namespace: str) -> tuple[ResourceQuota, ...]:
        """Return the quotas of a namespace in the order of their names."""
        collection = self._collection
        if self._state != (collection.lists, collection.changed):
            self._find_namespaces()
        if namespace not in self._namespaces:
            return _NONE
        selection = EntrySelection(namespace=namespace)
        entries = collection.select(selection, current=collection.changed).entries
        quotas = (self._decode(entry) for entry in entries)
        return tuple(quota for quota in quotas if quota is not None)

    def _find_namespaces(self) -> None:
        collection = self._collection
        lists, changed = self._state
        self._state = (collection.lists, collection.changed)
        try:
            transitions = collection.window.after(changed) if lists == collection.lists else None
        except RevisionExpired:
            transitions = None
        if transitions is None:
            every = collection.select(EntrySelection(), current=collection.changed).entries
            self._namespaces = {collection.keys.split(entry.key)[0] for entry in every}
            self._decoded.clear()
            return
        for transition in transitions:
            if transition.new is None:
                self._decoded.pop(transition.key, None)
            elif transition.old is not None:
                continue
            if collection.count(transition.namespace):
                self._namespaces.add(transition.namespace)
            else:
                self._namespaces.discard(transition.namespace)

    def _decode(self, entry: Entry) -> ResourceQuota | None:
        known = self._decoded.get(entry.key)
        if known is None or known[0] != entry.revision:
            known = self._decoded[entry.key] = entry.revision, self._read(entry)
        return known[1]

    def _read(self, entry: Entry) -> ResourceQuota | None:
        try:
            quota: ResourceQuota = self._store.decode(entry)
            return quota
        except APIError:
            log.exception("quota %s is not enforced: it cannot be decoded", entry.key)
            return None
