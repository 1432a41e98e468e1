"""ResourceStore: every operation on the objects of one resource, independent of HTTP.

Handlers pass internal objects and receive internal objects, or cache entries whose bytes are ready
to send. Every error is an APIError. The steps of a write are in `creation.py`, `object_update.py`,
`deletion.py` and `unsafe_deletion.py`; this module connects them to storage and to the watch cache.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableSequence, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final, Generic, TypeVar

from apimachinery.errors import (
    AlreadyExists,
    APIError,
    BadRequest,
    Conflict,
    NotFound,
    StorageReadError,
)
from apimachinery.fieldpath import quote
from apimachinery.meta.options import CreateOptions, DeleteOptions, ListOptions, UpdateOptions
from apimachinery.meta.types import Object, Preconditions
from apimachinery.names import is_path_segment_name
from apimachinery.schema import GroupResource
from apiserver.admission.chain import Chain
from apiserver.context import RequestContext
from apiserver.registry.allocation import PendingReservations
from apiserver.registry.creation import begin_creation, finish_creation, refuse_resource_version
from apiserver.registry.deletion import Deletion, warn_of_dependents
from apiserver.registry.object_update import Change, ObjectUpdate, check_uid
from apiserver.registry.pagination import (
    ListRequest,
    ObjectPage,
    expired,
    list_request,
    object_page,
    parse_read_version,
    read_at,
)
from apiserver.registry.storage_errors import api_error
from apiserver.registry.strategy import Strategy
from apiserver.registry.unsafe_deletion import UnsafeDeletion
from apiserver.registry.write_rules import WriteRules
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.storage.cache.event_log import OpenWatch, Watcher
from apiserver.storage.cache.read_revision import At, Freshness, RevisionExpired
from apiserver.storage.cache.watch_cache import CachedResource
from apiserver.storage.interface import Backend, Compacted, KeyExists, StorageError
from apiserver.storage.keys import InvalidStorageKey
from apiserver.storage.objects import (
    Intent,
    ObjectStorage,
    Outcome,
    PreconditionFailed,
    Put,
    check_preconditions,
)
from apiserver.views.resource_view import Form, ResourceView
from apiserver.workload import Workload

T = TypeVar("T", bound=Object)

NAME_ATTEMPTS: Final = 8
"""How many generated names a creation tries before it fails."""
DELETE_PAGE: Final = 10_000
DELETE_WORKERS: Final = 16
"""Objects of a collection that are deleted concurrently."""


class ResourceStore(Generic[T]):
    """The objects of one resource."""

    def __init__(
        self,
        rules: WriteRules[T],
        *,
        backend: Backend,
        objects: ObjectStorage[T],
        cached: CachedResource,
        view: ResourceView,
    ) -> None:
        self.rules = rules
        self.objects = objects
        self.cached = cached
        self.view = view
        self.backend = backend
        self._keys = cached.collection.keys

    def using(
        self,
        strategy: Strategy[T],
        *,
        admission: Chain | None = None,
        resource: GroupResource | None = None,
    ) -> "ResourceStore[T]":
        """Return a store of the same objects with another strategy, and perhaps admission.

        Messages name *resource*, the one of another group by which clients reach the objects.
        """
        rules = replace(
            self.rules,
            strategy=strategy,
            admission=admission or self.rules.admission,
            resource=resource or self.rules.resource,
        )
        return ResourceStore(
            rules,
            backend=self.backend,
            objects=self.objects,
            cached=self.cached,
            view=self.view,
        )

    # Reading

    async def get(
        self, name: str, *, namespace: str = "", at: At | str = Freshness.NEWEST
    ) -> Entry:
        """Return the cache entry of one object; *at* may be the resourceVersion of a request.

        Raises NotFound.
        """
        read = read_at(at) if isinstance(at, str) else at
        try:
            entry = await self.cached.get(name, namespace=namespace, at=read)
        except InvalidStorageKey:
            raise _invalid_key(name, namespace) from None
        except StorageError as error:
            raise api_error(error, self.rules.resource, "get") from error
        if entry is None:
            raise NotFound.of(self.rules.resource, name)
        return entry

    def is_cached(self, name: str, *, namespace: str = "") -> bool:
        """Return whether the cache has an object; another server may know better."""
        key = self._keys.object_key(name, namespace=namespace)
        return self.cached.collection.entry(key) is not None

    async def read(self, name: str, *, namespace: str = "", workload: Workload | None = None) -> T:
        """Return the newest state of one object, decoded. Raises NotFound."""
        entry = await self.get(name, namespace=namespace)
        if self.view.converts:
            return await self._read_converted(entry, workload or Workload())
        if workload is None:
            return self.decode(entry)
        workload.add(entry.record.value)
        return await workload.run(self.decode, entry)

    async def _read_converted(self, entry: Entry, workload: Workload) -> T:
        try:
            record = await self.objects.in_version(entry.record, workload)
            return await workload.run(self.objects.decode, record)
        except StorageError as error:
            raise api_error(error, self.rules.resource, "get") from error

    def decode(self, entry: Entry) -> T:
        try:
            return self.objects.decode(entry.record)
        except StorageError as error:
            raise api_error(error, self.rules.resource, "get") from error

    def document(self, obj: T, form: Form) -> bytes:
        """Encode an object of the store, or return the bytes if the cache has them already.

        Any thread may call it.
        """
        meta = obj.metadata
        namespace = meta.namespace if self.rules.namespaced else ""
        entry = self.cached.collection.entry(self._keys.object_key(meta.name, namespace=namespace))
        if entry is not None and str(entry.record.revision) == meta.resource_version:
            encoded = entry.encoded(form)
            if encoded is not None or not self.view.converts:
                return encoded or entry.encode_anew(form)
        return self.view.encode_object(obj, form)

    async def list(
        self, selection: EntrySelection, options: ListOptions | None = None
    ) -> ObjectPage:
        """Return the selected objects, or one page of them."""
        prefix = self._prefix(selection)
        request = list_request(options, prefix=prefix) if options else _EVERYTHING
        try:
            listing = await self.cached.list(
                selection, at=request.at, limit=request.limit, start=request.start
            )
        except (RevisionExpired, Compacted) as error:
            raise expired(request, prefix=prefix) from error
        except StorageError as error:
            raise api_error(error, self.rules.resource, "list") from error
        return object_page(listing, prefix=prefix)

    @asynccontextmanager
    async def watch(
        self, selection: EntrySelection, form: Form, options: ListOptions | None = None
    ) -> AsyncIterator[OpenWatch]:
        """Watch the selected objects from their current state, or from a resourceVersion.

        StorageErrors that the watcher raises inside the `async with` leave it as APIErrors.
        """
        options = options or ListOptions()
        version = options.resource_version
        revision = parse_read_version(version)
        initial = options.send_initial_events
        if initial is None:
            initial = not revision
        bookmarks = options.allow_watch_bookmarks
        try:
            if initial:
                at = read_at(version)
                watching = self.cached.watch_from_state(selection, form, at=at, bookmarks=bookmarks)
            else:
                after = revision or await self._current(newest=not version)
                watching = self.cached.watch(selection, form, after=after, bookmarks=bookmarks)
            async with watching as watcher:
                yield watcher
        except StorageError as error:
            raise api_error(error, self.rules.resource, "watch") from error

    def bookmark(self, watcher: OpenWatch) -> None:
        """Send *watcher* a bookmark now, as before its time is up."""
        assert isinstance(watcher, Watcher)
        self.cached.bookmark(watcher)

    # Writing

    async def create(
        self,
        obj: T,
        context: RequestContext,
        options: CreateOptions | None = None,
        *,
        track: bool = True,
    ) -> T:
        """Store a new object and return it as stored. The store takes ownership of *obj*."""
        options = options or CreateOptions()
        obj = await begin_creation(self.rules, obj, context, options, track=track)
        refuse_resource_version(obj)
        if obj.metadata.name or not obj.metadata.generate_name:
            return await self._create(obj, context, options)
        for _ in range(NAME_ATTEMPTS - 1):
            try:
                return await self._create(obj.deep_copy(), context, options)
            except AlreadyExists:
                continue
        return await self._create(obj, context, options)

    async def update(
        self,
        name: str,
        change: Change[T],
        context: RequestContext,
        options: UpdateOptions | None = None,
        *,
        subresource: str | None = None,
        create_if_missing: Callable[[], Awaitable[T]] | None = None,
        uid: str = "",
        track: bool = True,
    ) -> tuple[T, bool]:
        """Update an object; return it and whether it was created.

        *change* returns the new object for the current one, and may be called more than once.
        Raises Conflict if the new object has another resourceVersion than the current one, or the
        current one another uid than *uid*.
        """
        options = options or UpdateOptions()
        key = self._key(name, context)
        dry_run = _dry_run(context, options)
        async with PendingReservations() as pending:
            decide = ObjectUpdate(
                self.rules,
                key,
                name,
                change,
                context,
                options,
                subresource=context.subresource if subresource is None else subresource,
                create_if_missing=create_if_missing,
                uid=uid,
                track=track,
                pending=pending,
            )
            outcome = await self._change(key, decide, "update", context.workload, dry_run=dry_run)
        if outcome.removed and not dry_run:
            await self.rules.release(outcome.object)
        context.stored = outcome.stored
        return outcome.object, outcome.created

    def check_uid(self, current: T, uid: str, context: RequestContext) -> None:
        """Raise Conflict unless an object has the uid that a write names, if any."""
        check_uid(self.rules, self._key(context.name, context), current, context.name, uid)

    async def rewrite(
        self,
        name: str,
        change: Callable[[T], T],
        context: RequestContext,
        *,
        preconditions: Preconditions | None = None,
        dry_run: bool = False,
    ) -> T:
        """Store what *change* returns for a copy of the newest object, and return it.

        For changes that a group makes itself: no strategy prepares or validates the object, and
        nobody owns what has changed. *change* may be called more than once. Raises NotFound, or
        Conflict if the object does not meet the preconditions.
        """
        key = self._key(name, context)

        async def decide(current: T | None) -> Intent[T]:
            if current is None:
                raise NotFound.of(self.rules.resource, name)
            try:
                check_preconditions(key, current, preconditions or Preconditions())
            except PreconditionFailed as error:
                raise Conflict.of(self.rules.resource, name, str(error)) from error
            new = change(current.deep_copy())
            return Put(new, self.rules.seconds_to_live(new))

        outcome = await self._change(key, decide, "update", context.workload, dry_run=dry_run)
        return outcome.object

    async def delete(
        self, name: str, options: DeleteOptions | None, context: RequestContext
    ) -> tuple[T, bool]:
        """Delete an object; return its last state and whether it is removed or terminating."""
        options = options or DeleteOptions()
        warn_of_dependents(self.rules.strategy.deletion_warning, options, context)
        decide = Deletion(self.rules, name, options, context)
        dry_run = _dry_run(context, options)
        outcome = await self._change(
            self._key(name, context), decide, "delete", context.workload, dry_run=dry_run
        )
        if outcome.removed and not dry_run:
            await self.rules.release(outcome.object)
        if outcome.revision and outcome.removed:
            outcome.object.metadata.resource_version = str(outcome.revision)
        return outcome.object, outcome.removed

    async def remove_undecodable(self, name: str, context: RequestContext) -> None:
        """Remove an object that cannot be decoded, ignoring its finalizers.

        The caller authorizes it. Raises NotFound, or Invalid if the object can be decoded.
        """
        deletion = UnsafeDeletion(
            self.rules.resource, self.backend, self.objects, self.cached, self.view
        )
        await deletion.remove(self._key(name, context), name, user=context.user.name)

    async def delete_collection(
        self,
        selection: EntrySelection,
        options: DeleteOptions | None,
        context: RequestContext,
        list_options: ListOptions | None = None,
    ) -> ObjectPage:
        """Delete the selected objects one by one; return them.

        Objects that other clients delete meanwhile are skipped. Raises the first other error; that
        an object cannot be decoded is raised only after all others are deleted.
        """
        warning = self.rules.strategy.deletion_warning
        warn_of_dependents(warning, options or DeleteOptions(), context)
        entries: list[Entry] = []
        undecodable: list[StorageReadError] = []
        query = (list_options or ListOptions()).model_copy()
        limit = max(query.limit, 0)
        query.limit = min(limit or DELETE_PAGE, DELETE_PAGE)
        while True:
            page = await self.list(selection, query)
            await self._delete_all(page.entries, options, context, undecodable)
            entries += page.entries
            done = not page.continue_token or (limit and len(entries) >= limit)
            if done and undecodable:
                raise undecodable[0]
            if done:
                return replace(page, entries=entries)
            query = ListOptions(limit=query.limit, continue_=page.continue_token)

    # Steps

    async def _create(self, obj: T, context: RequestContext, options: CreateOptions) -> T:
        async with PendingReservations() as pending:
            await finish_creation(self.rules, obj, context, options, pending=pending)
            outcome = await self._store_new(obj, context, dry_run=_dry_run(context, options))
        context.stored = outcome.stored
        return outcome.object

    async def _store_new(self, obj: T, context: RequestContext, *, dry_run: bool) -> Outcome[T]:
        key = self._key(obj.metadata.name, context)
        try:
            return await self.objects.create(
                key,
                obj,
                ttl=self.rules.seconds_to_live(obj),
                dry_run=dry_run,
                workload=context.workload,
            )
        except KeyExists:
            raise await self._already_exists(key, obj) from None
        except StorageError as error:
            raise api_error(error, self.rules.resource, "create") from error

    async def _already_exists(self, key: str, obj: T) -> AlreadyExists:
        name, resource = obj.metadata.name, self.rules.resource
        if obj.metadata.generate_name:
            error = AlreadyExists.generated_name(resource, name)
        else:
            error = AlreadyExists.of(resource, name)
        try:
            existing = await self.objects.get(key)
        except (StorageError, APIError):
            return error
        if existing is not None and existing.metadata.deletion_timestamp is not None:
            error.message = f"object is being deleted: {error.message}"
            error.args = (error.message,)
        return error

    async def _change(
        self,
        key: str,
        decide: Callable[[T | None], Awaitable[Intent[T]]],
        verb: str,
        workload: Workload,
        *,
        dry_run: bool,
    ) -> Outcome[T]:
        try:
            return await self.objects.change(key, decide, dry_run=dry_run, workload=workload)
        except StorageError as error:
            raise api_error(error, self.rules.resource, verb) from error

    async def _delete_all(
        self,
        entries: Sequence[Entry],
        options: DeleteOptions | None,
        context: RequestContext,
        undecodable: MutableSequence[StorageReadError],
    ) -> None:
        """Delete all entries that can be decoded, and add the errors of the others."""
        remaining = iter(entries)
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(min(DELETE_WORKERS, len(entries))):
                    tasks.create_task(self._delete_each(remaining, options, context, undecodable))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None

    async def _delete_each(
        self,
        remaining: Iterator[Entry],
        options: DeleteOptions | None,
        context: RequestContext,
        undecodable: MutableSequence[StorageReadError],
    ) -> None:
        for entry in remaining:
            namespace, name = self._keys.split(entry.record.key)
            try:
                await self.delete(name, options, replace(context, namespace=namespace, name=name))
            except NotFound:
                continue
            except StorageReadError as error:
                undecodable.append(error)

    async def _current(self, *, newest: bool) -> int:
        at = Freshness.NEWEST if newest else Freshness.ANY
        nothing = EntrySelection(namespace="-" if self.rules.namespaced else None, name="-")
        return (await self.cached.list(nothing, at=at)).revision

    def _key(self, name: str, context: RequestContext) -> str:
        namespace = self.rules.namespace_of(context)
        try:
            return self._keys.object_key(name, namespace=namespace)
        except InvalidStorageKey:
            raise _invalid_key(name, namespace) from None

    def _prefix(self, selection: EntrySelection) -> str:
        try:
            return self.cached.collection.prefix_of(selection)
        except InvalidStorageKey:
            raise _invalid_key("-", selection.namespace or "") from None


_EVERYTHING: Final = ListRequest(Freshness.NEWEST)


def _dry_run(
    context: RequestContext, options: CreateOptions | UpdateOptions | DeleteOptions
) -> bool:
    return context.dry_run or bool(options.dry_run)


def _invalid_key(name: str, namespace: str) -> BadRequest:
    """Return the error for a name or namespace that no object can have."""
    if not name:
        return BadRequest("Name parameter required.")
    if problems := is_path_segment_name(name):
        return BadRequest(f"Name parameter invalid: {quote(name)}: {';'.join(problems)}")
    if problems := is_path_segment_name(namespace):
        return BadRequest(f"Namespace parameter invalid: {quote(namespace)}: {';'.join(problems)}")
    return BadRequest("Namespace parameter required.")
