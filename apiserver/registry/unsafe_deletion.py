"""Unsafe deletion: remove the key of an object that cannot be decoded.

Finalizers, grace periods, preconditions and admission need a decoded object, so none of them
applies. The delete option ignoreStoreReadErrorWithClusterBreakingPotential requests it, and it is
refused for an object that can be decoded.
"""

import logging
from dataclasses import dataclass
from typing import Any, Final

from apimachinery.errors import Invalid, NotFound
from apimachinery.fieldpath import Path, invalid
from apimachinery.schema import GroupKind, GroupResource
from apiserver.registry.storage_errors import api_error
from apiserver.storage.cache.watch_cache import CachedResource
from apiserver.storage.interface import Backend, Record, RevisionConflict, StorageError
from apiserver.storage.objects import ObjectStorage, Unreadable
from apiserver.views.resource_view import ResourceView

log = logging.getLogger(__name__)

VERB: Final = "unsafe-delete-ignore-read-errors"
"""The verb that a user needs for an unsafe deletion, in addition to `delete`."""
OPTION: Final = "ignoreStoreReadErrorWithClusterBreakingPotential"
"""The delete option that requests an unsafe deletion."""

_DECODABLE: Final = (
    "is exclusively used to delete corrupt object(s), try again by removing this option"
)


@dataclass(frozen=True)
class UnsafeDeletion:
    """Removes undecodable objects of one resource."""

    resource: GroupResource
    backend: Backend
    objects: ObjectStorage[Any]
    cached: CachedResource
    view: ResourceView

    async def remove(self, key: str, name: str, *, user: str) -> None:
        """Remove *key* from the store.

        Raises NotFound, or Invalid if the newest stored object can be decoded.
        """
        try:
            await self._remove(key, name)
        except StorageError as error:
            raise api_error(error, self.resource, "delete") from error
        log.warning("user %s removed %s, which could not be decoded", user, key)

    async def _remove(self, key: str, name: str) -> None:
        record = await self.backend.get(key)
        while record is not None:
            if self._is_decodable(record):
                # As in Kubernetes, the resource stands where other errors have the kind.
                kind = GroupKind(self.resource.group, self.resource.resource)
                raise Invalid.of(kind, name, [invalid(Path(OPTION), True, _DECODABLE)])
            try:
                await self.backend.delete(key, revision=record.revision)
            except RevisionConflict as conflict:
                record = conflict.current
            else:
                return
        raise NotFound.of(self.resource, name)

    def _is_decodable(self, record: Record) -> bool:
        """Return whether an object can be decoded and converted to the served versions."""
        if record.key in self.view.problems:
            entry = self.cached.collection.entry(record.key)
            # The problem may be that of a state that has been replaced meanwhile.
            if entry is not None and entry.record.revision == record.revision:
                return False
        try:
            self.objects.decode(record)
        except Unreadable:
            return False
        return True
