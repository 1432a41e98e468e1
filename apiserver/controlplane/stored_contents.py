"""Stored contents: what controllers learn from the store itself, beyond what this server serves.

Several servers with different groups may share a store, and a group that is no longer installed
leaves its objects behind. A controller that looked only at the served resources would take their
objects for absent.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from apimachinery.schema import GroupResource
from apis.core.controllers.namespace_conditions import Remaining
from apiserver.controlplane.served_resources import ServedResources
from apiserver.evolution.running_servers import registered_servers
from apiserver.install import Groups
from apiserver.registry.storage_errors import api_error
from apiserver.storage.interface import Backend, Record, RevisionConflict, StorageError
from apiserver.storage.record_reading import replace_metadata, stored_metadata
from apiserver.storage.stored_resources import (
    count_below,
    is_defined,
    prefix_of,
    records_below,
    stored_resources,
)

OBJECTS_READ: Final = 100
"""The number of objects of a resource whose finalizers are reported."""


class StoredContents:
    """The objects in the store of one server process; every method may raise APIError."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._served = ServedResources(groups)

    async def in_namespace(self, namespace: str) -> Sequence[Remaining]:
        """Return what a namespace contains, by resource.

        It is called until a namespace is empty, so it reads a bounded number of objects.
        """
        remaining = []
        async with self._reading("list") as backend:
            async for resource in stored_resources(backend):
                page = await backend.range(prefix_of(resource, namespace), limit=OBJECTS_READ)
                if page.records:
                    unserved = await self._is_unserved(backend, resource)
                    finalizers = [_finalizers(record) for record in page.records]
                    remaining.append(Remaining(resource, finalizers, unserved, page.remaining))
        return remaining

    async def disown_unserved(self, uid: str, namespace: str) -> None:
        """Remove an owner from the objects of resources that this server does not serve.

        A server that serves them would delete them once the owner is absent. Only the metadata of
        the stored document is changed. The dependents of an object in a namespace are in the same
        namespace.
        """
        served = {resource.resource.group_resource for resource in await self._served()}
        async with self._reading("update") as backend:
            async for resource in stored_resources(backend):
                if resource in served:
                    continue
                async for record in records_below(backend, prefix_of(resource, namespace)):
                    if uid.encode() in record.value:
                        await _disown(backend, record, uid)

    async def leftovers(self) -> dict[GroupResource, int]:
        """Count the objects of each stored resource that neither this nor another server serves."""
        found = {}
        async with self._reading("list") as backend:
            servers = await registered_servers(backend)
            async for resource in stored_resources(backend):
                if self._served.has(resource) or await is_defined(backend, resource):
                    continue
                if not any(server.serves(resource) for server in servers):
                    found[resource] = await count_below(backend, prefix_of(resource))
        return found

    async def _is_unserved(self, backend: Backend, resource: GroupResource) -> bool:
        """Return whether it is known that no running server serves a resource."""
        if self._served.has(resource):
            return False
        servers = await registered_servers(backend)
        # Where no server is registered, others may still run: nothing is known about them.
        return bool(servers) and not any(server.serves(resource) for server in servers)

    @asynccontextmanager
    async def _reading(self, verb: str) -> AsyncIterator[Backend]:
        try:
            yield self._groups.backend
        except StorageError as error:
            raise api_error(error, GroupResource("", "namespaces"), verb) from error


async def _disown(backend: Backend, record: Record | None, uid: str) -> None:
    """Remove the owner *uid* from the newest state of a stored object."""
    while record is not None:
        metadata = stored_metadata(record.value) or {}
        references: list[dict[str, Any]] = metadata.get("ownerReferences") or []
        rest = [reference for reference in references if reference.get("uid") != uid]
        if len(rest) == len(references):
            return
        metadata["ownerReferences"] = rest
        if not rest:
            del metadata["ownerReferences"]
        value = replace_metadata(record.value, metadata)
        try:
            await backend.update(record.key, value, revision=record.revision)
            return
        except RevisionConflict as conflict:
            record = conflict.current


def _finalizers(record: Record) -> list[str]:
    finalizers = (stored_metadata(record.value) or {}).get("finalizers")
    return [str(name) for name in finalizers] if isinstance(finalizers, list) else []
