"""Storage migration: stores all objects of a resource again, in its current storage version.

A patch that changes nothing is enough: the server writes an object whose bytes would be others
than those in the store. One migration of a resource runs at a time, the oldest first. It begins
with the resourceVersion of that moment; what is written later is stored in the right version
already. Its conditions are those of Kubernetes' controllers.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from apimachinery.errors import (
    APIError,
    Conflict,
    InternalError,
    NotFound,
    ServerTimeout,
    ServiceUnavailable,
    Timeout,
    TooManyRequests,
)
from apimachinery.meta.conditions import condition, is_condition_true, set_condition
from apimachinery.meta.types import ObjectMeta, PartialObjectMetadata
from apimachinery.resources import Scope, ServedResource
from apimachinery.scalars.time import now as current_time
from apis.storagemigration import GROUP
from apis.storagemigration.controllers.migrated_definition import MigratedDefinitions
from apis.storagemigration.v1 import StorageVersionMigration
from apis.storagemigration.v1.types import FAILED, RUNNING, SUCCEEDED, MigratedResource
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataChange, MetadataSource
from client.controller.reconciler import NamespacedName, Result
from client.interface import ResourceClient
from client.transport.request import ALL_NAMESPACES
from client.transport.transport import TransportError
from client.workqueue.rate_limiters import ExponentialFailure

WORKERS: Final = 5
RETRY_DELAYS: Final = (0.1, 10.0)
DISCOVERY: Final = timedelta(minutes=1)
"""How long after the creation of a migration its resource may be unknown."""
MANAGER: Final = "storage-version-migrator-controller"

_NOWHERE: Final = "@fake:svm_ns!"
"""A namespace that cannot exist: a list of it has a resourceVersion and no objects."""
_TRANSIENT: Final = frozenset(
    kind.reason
    for kind in (ServerTimeout, TooManyRequests, ServiceUnavailable, InternalError, Timeout)
)
"""Reasons of errors that may pass; one without a reason is final."""


class StorageMigrationController:
    """Reconciles StorageVersionMigrations; *resources* returns what the server serves."""

    def __init__(
        self,
        client: AsyncClient,
        resources: Callable[[], Awaitable[Sequence[ServedResource]]],
        *,
        now: Callable[[], datetime] = current_time,
    ) -> None:
        self._client = client
        self._migrations = client.of(
            StorageVersionMigration,
            resource="storageversionmigrations",
            namespaced=False,
            api_version=f"{GROUP}/v1",
        )
        self._definitions = MigratedDefinitions(client)
        self._resources = resources
        self._now = now
        self._promoting = asyncio.Lock()

    def add_to(self, manager: Manager) -> None:
        manager.controller(
            StorageVersionMigration,
            name="storage-migration",
            source=MetadataSource(self._migrations, _changed, name="storageversionmigrations"),
            workers=WORKERS,
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def sync(self, name: str) -> bool:
        """Do what can be done for a migration now; return False to be called again."""
        try:
            migration = await self._migrations.get(name)
        except NotFound:
            return await self._begin_waiting()
        try:
            return await self._sync(migration)
        except (Conflict, NotFound):
            return False  # somebody else has changed it: look at the result

    async def _reconcile(self, ctx: Context[StorageVersionMigration]) -> Result | None:
        return None if await self.sync(ctx.name) else Result(requeue=True)

    async def _sync(self, migration: StorageVersionMigration) -> bool:
        running = _is(migration, RUNNING)
        if _has_ended(migration):
            if running:
                await self._finish(migration)
            return await self._begin_waiting()
        if not running:
            return await self._begin_waiting()
        served = await self._served(migration.spec.resource)
        if served is None:
            created = migration.metadata.creation_timestamp
            if created is not None and self._now() < created + DISCOVERY:
                return False
            await self._fail(migration, "resource does not exist in discovery")
            return True
        # Whoever may write the status may write anything into it.
        if not migration.status.resource_version.isdecimal():
            migration.status.resource_version = await self._current_version(served)
            await self._migrations.status.update(migration)
            return True  # the update is the next reason to reconcile
        return await self._migrate(migration, served)

    # Beginning and end

    async def _begin_waiting(self) -> bool:
        """Begin the oldest migration of every resource of which none is running."""
        async with self._promoting:
            known = (await self._migrations.list().all()).items
            busy = {_key(each) for each in known if _is(each, RUNNING)}
            waiting = (each for each in known if not _is(each, RUNNING) and not _has_ended(each))
            for migration in sorted(waiting, key=_age):
                if _key(migration) in busy:
                    continue
                busy.add(_key(migration))
                await self._definitions.begin(
                    migration.spec.resource, migration.metadata.name, self._now()
                )
                self._set(migration, RUNNING, True, "MigrationRunning", _running())
                try:
                    await self._migrations.status.update(migration)
                except (Conflict, NotFound):
                    return False
        return True

    async def _finish(self, migration: StorageVersionMigration) -> None:
        """Report in the migration and its definition that it is not running any more."""
        succeeded = _is(migration, SUCCEEDED)
        await self._definitions.finish(
            migration.spec.resource, succeeded=succeeded, now=self._now()
        )
        self._set(migration, RUNNING, False, "MigrationCompleted", "Migration completed")
        await self._migrations.status.update(migration)

    async def _fail(self, migration: StorageVersionMigration, message: str) -> None:
        self._set(migration, FAILED, True, "StorageVersionMigrationFailed", message)
        await self._migrations.status.update(migration)

    # The objects

    async def _migrate(self, migration: StorageVersionMigration, served: ServedResource) -> bool:
        """Store every object again that has not been written since the migration began."""
        collection = self._objects(served)
        until = int(migration.status.resource_version)
        try:
            objects = [obj.metadata async for obj in collection.list()]
        except (APIError, TransportError) as error:
            await self._report_running(migration, _running(error=error))
            return False
        waiting = [each for each in objects if int(each.resource_version) <= until]
        for done, metadata in enumerate(waiting):
            left = len(waiting) - done
            try:
                await self._store_again(collection, served, metadata)
            except (Conflict, NotFound):
                continue  # written or deleted meanwhile
            except (APIError, TransportError) as error:
                if isinstance(error, TransportError) or error.reason in _TRANSIENT:
                    await self._report_running(migration, _running(left, len(objects), error))
                    return False
                message = _running(left, len(objects))
                self._set(migration, RUNNING, True, "MigrationRunning", message)
                reason = f"migration encountered unhandled error: {error.message}"
                await self._fail(migration, f"{left}/{len(objects)} not yet migrated. {reason}")
                return True
        self._set(migration, RUNNING, True, "MigrationRunning", _running(0, len(objects)))
        reason, message = "StorageVersionMigrationSucceeded", "Migration completed"
        self._set(migration, SUCCEEDED, True, reason, message)
        await self._migrations.status.update(migration)
        return True

    async def _report_running(self, migration: StorageVersionMigration, message: str) -> None:
        """Report an error that may pass; the next attempt begins with the objects that are left."""
        if self._set(migration, RUNNING, True, "MigrationRunning", message):
            await self._migrations.status.update(migration)

    async def _store_again(
        self,
        collection: ResourceClient[PartialObjectMetadata],
        served: ServedResource,
        metadata: ObjectMeta,
    ) -> None:
        if served.scope is Scope.NAMESPACED:
            collection = collection.in_namespace(metadata.namespace)
        patch = {
            "apiVersion": served.kind.api_version,
            "kind": served.kind.kind,
            "metadata": {"resourceVersion": metadata.resource_version},
        }
        await collection.patch(metadata.name, patch, field_manager=MANAGER)

    async def _current_version(self, served: ServedResource) -> str:
        collection = self._objects(served)
        if served.scope is Scope.NAMESPACED:
            collection = collection.in_namespace(_NOWHERE)
        return (await collection.page(limit=1)).resource_version

    def _objects(self, served: ServedResource) -> ResourceClient[PartialObjectMetadata]:
        return self._client.of(
            PartialObjectMetadata,
            namespace=ALL_NAMESPACES,
            resource=served.plural,
            namespaced=served.scope is Scope.NAMESPACED,
            api_version=served.kind.api_version,
        ).metadata

    async def _served(self, resource: MigratedResource) -> ServedResource | None:
        for served in await self._resources():
            if (served.kind.group, served.plural) == (resource.group, resource.resource):
                return served
        return None

    def _set(
        self,
        migration: StorageVersionMigration,
        type_: str,
        status: bool,
        reason: str,
        message: str,
    ) -> bool:
        """Set a condition; return whether it has changed."""
        found = condition(type_, status, reason, message)
        return set_condition(migration.status.conditions, found, self._now())


def _running(left: int = 0, total: int = 0, error: Exception | None = None) -> str:
    """Return the message of a running migration, with *left* of *total* objects to be stored."""
    message = "The migration is running"
    if total and left:
        message += f", {left}/{total} objects not yet migrated"
    elif total:
        message += f", {total} objects verified migrated"
    return f"{message}; transient error: {error}" if error is not None else message


def _is(migration: StorageVersionMigration, type_: str) -> bool:
    return is_condition_true(migration.status.conditions, type_)


def _has_ended(migration: StorageVersionMigration) -> bool:
    return _is(migration, SUCCEEDED) or _is(migration, FAILED)


def _key(migration: StorageVersionMigration) -> tuple[str, str]:
    return migration.spec.resource.group, migration.spec.resource.resource


def _age(migration: StorageVersionMigration) -> tuple[datetime, str]:
    created = migration.metadata.creation_timestamp
    assert created is not None, "a stored object has been created"
    return created, migration.metadata.name


def _changed(change: MetadataChange) -> Iterable[NamespacedName]:
    yield NamespacedName("", change.metadata.name)
