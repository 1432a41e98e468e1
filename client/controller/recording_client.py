"""The client of a controller: any other client, whose writes the controller's cache takes note of.

It also writes everything as one field manager, the controller.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Generic, Literal, Protocol, TypeVar, Unpack, overload

from apimachinery.meta.status import Status
from apimachinery.meta.table import Table
from apimachinery.meta.types import Object, PartialObjectMetadata
from apimachinery.meta.unstructured import Unstructured
from apimachinery.scale import Scale
from client.interface import (
    DeleteArguments,
    Patch,
    ReadOptions,
    ResourceClient,
    SelectionArguments,
    SubresourceClient,
    Watch,
    WriteOptions,
)
from client.object_codec import Document
from client.paging import Listing, Page
from client.transport.request import PatchType
from client.watches.stream_watcher import ListWatch

T = TypeVar("T", bound=Object)
T_contra = TypeVar("T_contra", bound=Object, contravariant=True)
OtherT = TypeVar("OtherT", bound=Object)


class Notes(Protocol[T_contra]):
    """Who takes note of writes."""

    def wrote(self, obj: T_contra, /) -> None: ...

    def deleted(self, uid: str, /) -> None: ...


class RecordedResource(ResourceClient[T]):
    """The objects of one class; what is written to them is noted, unless it is a dry run."""

    def __init__(self, inner: ResourceClient[T], notes: Notes[T], *, dry_run: bool = False) -> None:
        self._inner = inner
        self._notes = notes
        self._dry_run = dry_run

    # Reading

    async def get(self, name: str, *, resource_version: str = "") -> T:
        return await self._inner.get(name, resource_version=resource_version)

    def list(
        self, *, page_size: int = 500, inconsistent: bool = False, **options: Unpack[ReadOptions]
    ) -> Listing[T]:
        return self._inner.list(page_size=page_size, inconsistent=inconsistent, **options)

    async def page(
        self, *, limit: int = 500, continue_: str = "", **options: Unpack[ReadOptions]
    ) -> Page[T]:
        return await self._inner.page(limit=limit, continue_=continue_, **options)

    async def table(
        self,
        name: str = "",
        *,
        include_object: Literal["None", "Metadata", "Object"] = "Metadata",
        **options: Unpack[ReadOptions],
    ) -> Table:
        return await self._inner.table(name, include_object=include_object, **options)

    def watch(
        self, *, since: str = "", bookmarks: bool = False, **selection: Unpack[SelectionArguments]
    ) -> Watch[T]:
        return self._inner.watch(since=since, bookmarks=bookmarks, **selection)

    def list_watch(self, **selection: Unpack[SelectionArguments]) -> ListWatch[T]:
        return self._inner.list_watch(**selection)

    async def wait(self, name: str, predicate: Callable[[T], bool], *, timeout: float = 60) -> T:
        return await self._inner.wait(name, predicate, timeout=timeout)

    async def wait_deleted(self, name: str, *, uid: str = "", timeout: float = 60) -> None:
        await self._inner.wait_deleted(name, uid=uid, timeout=timeout)

    # Writing

    async def create(self, obj: T | Document, **options: Unpack[WriteOptions]) -> T:
        return self._noted(await self._inner.create(obj, **options), options)

    async def update(self, obj: T | Document, **options: Unpack[WriteOptions]) -> T:
        return self._noted(await self._inner.update(obj, **options), options)

    async def patch(
        self,
        name: str,
        patch: Patch,
        type: PatchType | None = None,  # noqa: A002 - what it is called everywhere
        **options: Unpack[WriteOptions],
    ) -> T:
        return self._noted(await self._inner.patch(name, patch, type, **options), options)

    async def apply(
        self, obj: T | Document, *, force: bool = False, **options: Unpack[WriteOptions]
    ) -> T:
        return self._noted(await self._inner.apply(obj, force=force, **options), options)

    async def delete(self, name: str, **options: Unpack[DeleteArguments]) -> T | Status:
        answer = await self._inner.delete(name, **options)
        if options.get("dry_run", self._dry_run):
            return answer
        if not isinstance(answer, Status):
            self._notes.wrote(answer)
        elif answer.details is not None:
            self._notes.deleted(answer.details.uid)
        return answer

    async def delete_collection(
        self, *, options: DeleteArguments | None = None, **selection: Unpack[SelectionArguments]
    ) -> Page[T]:
        return await self._inner.delete_collection(options=options, **selection)

    def edit(self, name: str, **options: Unpack[WriteOptions]) -> AbstractAsyncContextManager[T]:
        return _edited(self._inner.edit(name, **options), lambda obj: self._noted(obj, options))

    async def modify(
        self, name: str, change: Callable[[T], None], **options: Unpack[WriteOptions]
    ) -> T:
        return self._noted(await self._inner.modify(name, change, **options), options)

    # Other views of the same objects

    @property
    def status(self) -> "RecordedSubresource[T]":
        return RecordedSubresource(self._inner.status, self._noted)

    @property
    def scale(self) -> SubresourceClient[Scale]:
        return self._inner.scale

    @overload
    def subresource(self, name: str) -> SubresourceClient[Unstructured]: ...

    @overload
    def subresource(self, name: str, cls: type[OtherT]) -> SubresourceClient[OtherT]: ...

    def subresource(self, name: str, cls: Any = Unstructured) -> Any:
        return self._inner.subresource(name, cls)

    @property
    def metadata(self) -> ResourceClient[PartialObjectMetadata]:
        return self._inner.metadata

    def in_namespace(self, namespace: str) -> "RecordedResource[T]":
        return RecordedResource(
            self._inner.in_namespace(namespace), self._notes, dry_run=self._dry_run
        )

    def with_options(self, **options: Unpack[WriteOptions]) -> "RecordedResource[T]":
        return RecordedResource(
            self._inner.with_options(**options),
            self._notes,
            dry_run=options.get("dry_run", self._dry_run),
        )

    def _noted(self, obj: T, options: WriteOptions) -> T:
        if not options.get("dry_run", self._dry_run):
            self._notes.wrote(obj.deep_copy())
        return obj


class RecordedSubresource(SubresourceClient[T], Generic[T]):
    """A subresource that is written as the whole object, as the status is."""

    def __init__(self, inner: SubresourceClient[T], noted: Callable[[T, WriteOptions], T]) -> None:
        self._inner = inner
        self._noted = noted

    async def get(self, name: str) -> T:
        return await self._inner.get(name)

    async def create(self, name: str, body: T | Document, **options: Unpack[WriteOptions]) -> T:
        return self._noted(await self._inner.create(name, body, **options), options)

    async def update(
        self, obj: T | Document, *, name: str = "", **options: Unpack[WriteOptions]
    ) -> T:
        return self._noted(await self._inner.update(obj, name=name, **options), options)

    async def patch(
        self,
        name: str,
        patch: Patch,
        type: PatchType | None = None,  # noqa: A002 - what it is called everywhere
        **options: Unpack[WriteOptions],
    ) -> T:
        return self._noted(await self._inner.patch(name, patch, type, **options), options)

    async def apply(
        self,
        obj: T | Document,
        *,
        name: str = "",
        force: bool = False,
        **options: Unpack[WriteOptions],
    ) -> T:
        applied = await self._inner.apply(obj, name=name, force=force, **options)
        return self._noted(applied, options)

    def edit(self, name: str, **options: Unpack[WriteOptions]) -> AbstractAsyncContextManager[T]:
        return _edited(self._inner.edit(name, **options), lambda obj: self._noted(obj, options))

    async def modify(
        self, name: str, change: Callable[[T], None], **options: Unpack[WriteOptions]
    ) -> T:
        return self._noted(await self._inner.modify(name, change, **options), options)


@asynccontextmanager
async def _edited(
    editing: AbstractAsyncContextManager[T], noted: Callable[[T], T]
) -> AsyncIterator[T]:
    async with editing as obj:
        yield obj
    noted(obj)
