"""QuotaChanges: enqueues the namespaces in which a quota, or what it limits, has changed.

It reads the changes from the windows of the watch cache of this process, so it watches nothing and
is woken only by writes. A burst of writes is one recount: after each look there is a pause.
"""

from collections.abc import Callable
from typing import Final

from apimachinery.schema import GroupResource
from apis.core.quota.evaluators import DEVICE_CLAIMS, DEVICE_CLASSES, Evaluators
from apis.core.quota.ledger import QUOTAS
from apis.core.quota.types import ResourceQuota
from apiserver.install import Groups
from apiserver.registry.following import Following
from apiserver.storage.cache.collection import Collection
from apiserver.storage.cache.read_revision import RevisionExpired
from client.controller.reconciler import NamespacedName
from client.controller.sources import SourceScope

PAUSE: Final = 0.2
"""Seconds between two looks, and so between a deletion and the recount, at most."""
LONGEST: Final = 5.0
"""Seconds between two looks if nothing is written: a cache may be filled meanwhile."""
ALL: Final = "quotas"
"""The name under which all quotas of a namespace are reconciled."""


class QuotaChanges:
    """A source of reconcile requests: one for each namespace whose quotas must be recounted."""

    name = "changes of quotas and of what they limit"
    idle = True

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._evaluators = Evaluators(groups.store)
        self._tracked: dict[str, dict[str, frozenset[GroupResource]]] = {}
        """Namespace -> quota -> the resources that it limits."""
        self._marks: dict[GroupResource, tuple[int, int]] = {}
        """The state of each collection at the last look: its lists, and its last change."""
        self._changed: set[str] = set()
        self._revision = 0
        self._served = -1

    async def warm_up(self, scope: SourceScope) -> None:
        """Do nothing: the watch cache is filled by the server."""

    async def run(self, scope: SourceScope, synced: Callable[[], None]) -> None:
        """Enqueue namespaces until cancelled."""
        following = Following(self._groups.store(QUOTAS), self._put, self._forget)
        await self._look(following, scope)
        synced()
        while True:
            await self._groups.advanced(self._revision, seconds=LONGEST)
            await self._look(following, scope)
            await scope.clock.sleep(PAUSE)

    async def _look(self, following: Following, scope: SourceScope) -> None:
        self._revision = self._groups.revision_reached
        await following.catch_up()
        if self._served != self._groups.revision:
            # What was not served before may be limited, too.
            self._served = self._groups.revision
            self._changed.update(self._tracked)
        limited = self._limited()
        for resource in limited:
            self._changed.update(self._changed_namespaces(resource) & limited[resource])
        if DEVICE_CLAIMS in limited and self._changed_namespaces(DEVICE_CLASSES):
            self._changed.update(limited[DEVICE_CLAIMS])
        for namespace in sorted(self._changed):
            scope.queue.add(NamespacedName(namespace, ALL))
        self._changed.clear()

    def _limited(self) -> dict[GroupResource, set[str]]:
        """Return the namespaces in which each resource is limited."""
        limited: dict[GroupResource, set[str]] = {}
        for namespace, quotas in self._tracked.items():
            for resources in quotas.values():
                for resource in resources:
                    limited.setdefault(resource, set()).add(namespace)
        return limited

    def _changed_namespaces(self, resource: GroupResource) -> set[str]:
        """Return the namespaces with changes since the last look; all, if they are not known."""
        collection = self._collection(resource)
        if collection is None:
            return set()
        mark = collection.lists, collection.changed
        last = self._marks.get(resource)
        self._marks[resource] = mark
        if last is None or last == mark:
            # The quota by which a resource is limited for the first time is counted itself.
            return set()
        if last[0] != mark[0]:
            return set(self._tracked)
        try:
            return {change.namespace for change in collection.window.after(last[1])}
        except RevisionExpired:
            return set(self._tracked)

    def _collection(self, resource: GroupResource) -> Collection | None:
        try:
            return self._groups.store(resource).cached.collection
        except KeyError:
            return None

    def _put(self, quota: ResourceQuota) -> None:
        meta = quota.metadata
        resources = self._evaluators.limited_by(quota.spec.hard)
        self._tracked.setdefault(meta.namespace, {})[meta.name] = resources
        self._changed.add(meta.namespace)

    def _forget(self, namespace: str, name: str) -> None:
        quotas = self._tracked.get(namespace, {})
        quotas.pop(name, None)
        if not quotas:
            self._tracked.pop(namespace, None)
        self._changed.add(namespace)
