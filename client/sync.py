"""Client: the synchronous client, with the same methods and arguments as `AsyncClient`.

Every method runs the method of the asynchronous client in a `Portal` and waits for its result;
`client.interface` documents the methods.
"""

from collections import abc
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Generic, Literal, Self, TypeVar, Unpack, overload

from apimachinery.mapper import Mapper, Mapping
from apimachinery.meta.status import Status
from apimachinery.meta.table import Table
from apimachinery.meta.types import Object, PartialObjectMetadata
from apimachinery.meta.unstructured import Unstructured
from apimachinery.resources import ServedResource
from apimachinery.scale import Scale
from apimachinery.schema import GroupVersionKind, GroupVersionResource
from apimachinery.scheme import Scheme
from apimachinery.watch import ObjectEvent
from client import discovery, interface
from client.client import AddToScheme, AsyncClient, build_scheme
from client.config import Config
from client.interface import DeleteArguments, Patch, ReadOptions, SelectionArguments, WriteOptions
from client.object_codec import Document
from client.paging import PAGE_SIZE, Page
from client.paging import Listing as AsyncListing
from client.runtime.clock import Clock
from client.runtime.portal import Portal
from client.transport.request import PatchType, Request
from client.transport.request_rate import RequestRateLimiter
from client.transport.sender import Reply
from client.transport.transport import Transport
from client.transport.warnings import WarningHandler

ObjectT = TypeVar("ObjectT", bound=Object)
OtherT = TypeVar("OtherT", bound=Object)
ResultT = TypeVar("ResultT")


class SyncListing(Generic[ObjectT]):
    """The objects of a collection, fetched page by page during iteration."""

    def __init__(self, portal: Portal, listing: AsyncListing[ObjectT]) -> None:
        self._portal = portal
        self._listing = listing

    def __iter__(self) -> Iterator[ObjectT]:
        for page in self.pages():
            yield from page.items

    def pages(self) -> Iterator[Page[ObjectT]]:
        return self._portal.iterate(self._listing.pages())

    def all(self) -> Page[ObjectT]:
        return self._portal.call(self._listing.all())


class SyncWatch(Generic[ObjectT]):
    """An iterator over the changes of objects; `with` or `stop` closes its connection."""

    def __init__(self, portal: Portal, watch: interface.Watch[ObjectT]) -> None:
        self._portal = portal
        self._watch = watch
        self._events = portal.iterate(watch)

    @property
    def resource_version(self) -> str:
        return self._watch.resource_version

    def stop(self) -> None:
        """End the watch; may be called from a thread other than the one that iterates."""
        self._portal.call(self._watch.aclose())

    def __iter__(self) -> Iterator[ObjectEvent[ObjectT]]:
        return self

    def __next__(self) -> ObjectEvent[ObjectT]:
        return next(self._events)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class SyncSubresourceClient(Generic[ObjectT]):
    """Reads and writes one subresource; see `client.interface.SubresourceClient`."""

    def __init__(self, portal: Portal, inner: interface.SubresourceClient[ObjectT]) -> None:
        self._portal = portal
        self._inner = inner

    def get(self, name: str) -> ObjectT:
        return self._portal.call(self._inner.get(name))

    def create(
        self, name: str, body: ObjectT | Document, **options: Unpack[WriteOptions]
    ) -> ObjectT:
        return self._portal.call(self._inner.create(name, body, **options))

    def update(
        self, obj: ObjectT | Document, *, name: str = "", **options: Unpack[WriteOptions]
    ) -> ObjectT:
        return self._portal.call(self._inner.update(obj, name=name, **options))

    def patch(
        self,
        name: str,
        patch: Patch,
        type: PatchType | None = None,  # noqa: A002 - the name that kubectl and client-go use
        **options: Unpack[WriteOptions],
    ) -> ObjectT:
        return self._portal.call(self._inner.patch(name, patch, type, **options))

    def apply(
        self,
        obj: ObjectT | Document,
        *,
        name: str = "",
        force: bool = False,
        **options: Unpack[WriteOptions],
    ) -> ObjectT:
        return self._portal.call(self._inner.apply(obj, name=name, force=force, **options))

    def edit(self, name: str, **options: Unpack[WriteOptions]) -> AbstractContextManager[ObjectT]:
        return _synchronous_context(self._portal, self._inner.edit(name, **options))

    def modify(
        self, name: str, change: Callable[[ObjectT], None], **options: Unpack[WriteOptions]
    ) -> ObjectT:
        return self._portal.call(self._inner.modify(name, change, **options))


class SyncResourceClient(Generic[ObjectT]):
    """Reads and writes the objects of one class; see `client.interface.ResourceClient`."""

    def __init__(self, portal: Portal, inner: interface.ResourceClient[ObjectT]) -> None:
        self._portal = portal
        self._inner = inner

    def get(self, name: str, *, resource_version: str = "") -> ObjectT:
        return self._portal.call(self._inner.get(name, resource_version=resource_version))

    def list(
        self,
        *,
        page_size: int = PAGE_SIZE,
        inconsistent: bool = False,
        **options: Unpack[ReadOptions],
    ) -> SyncListing[ObjectT]:
        listing = self._inner.list(page_size=page_size, inconsistent=inconsistent, **options)
        return SyncListing(self._portal, listing)

    def page(
        self, *, limit: int = PAGE_SIZE, continue_: str = "", **options: Unpack[ReadOptions]
    ) -> Page[ObjectT]:
        return self._portal.call(self._inner.page(limit=limit, continue_=continue_, **options))

    def table(
        self,
        name: str = "",
        *,
        include_object: Literal["None", "Metadata", "Object"] = "Metadata",
        **options: Unpack[ReadOptions],
    ) -> Table:
        return self._portal.call(self._inner.table(name, include_object=include_object, **options))

    def watch(
        self, *, since: str = "", bookmarks: bool = False, **selection: Unpack[SelectionArguments]
    ) -> SyncWatch[ObjectT]:
        # A coroutine, because a watch must be created in the event loop that runs it.
        async def open_watch() -> interface.Watch[ObjectT]:
            return self._inner.watch(since=since, bookmarks=bookmarks, **selection)

        return SyncWatch(self._portal, self._portal.call(open_watch()))

    def wait(
        self, name: str, predicate: Callable[[ObjectT], bool], *, timeout: float = 60
    ) -> ObjectT:
        return self._portal.call(self._inner.wait(name, predicate, timeout=timeout))

    def wait_deleted(self, name: str, *, uid: str = "", timeout: float = 60) -> None:
        self._portal.call(self._inner.wait_deleted(name, uid=uid, timeout=timeout))

    def create(self, obj: ObjectT | Document, **options: Unpack[WriteOptions]) -> ObjectT:
        return self._portal.call(self._inner.create(obj, **options))

    def update(self, obj: ObjectT | Document, **options: Unpack[WriteOptions]) -> ObjectT:
        return self._portal.call(self._inner.update(obj, **options))

    def patch(
        self,
        name: str,
        patch: Patch,
        type: PatchType | None = None,  # noqa: A002 - the name that kubectl and client-go use
        **options: Unpack[WriteOptions],
    ) -> ObjectT:
        return self._portal.call(self._inner.patch(name, patch, type, **options))

    def apply(
        self, obj: ObjectT | Document, *, force: bool = False, **options: Unpack[WriteOptions]
    ) -> ObjectT:
        return self._portal.call(self._inner.apply(obj, force=force, **options))

    def delete(self, name: str, **options: Unpack[DeleteArguments]) -> ObjectT | Status:
        return self._portal.call(self._inner.delete(name, **options))

    def delete_collection(
        self,
        *,
        options: DeleteArguments | None = None,
        limit: int = 0,
        continue_: str = "",
        **selection: Unpack[SelectionArguments],
    ) -> Page[ObjectT]:
        deletion = self._inner.delete_collection(
            options=options, limit=limit, continue_=continue_, **selection
        )
        return self._portal.call(deletion)

    def edit(self, name: str, **options: Unpack[WriteOptions]) -> AbstractContextManager[ObjectT]:
        return _synchronous_context(self._portal, self._inner.edit(name, **options))

    def modify(
        self, name: str, change: Callable[[ObjectT], None], **options: Unpack[WriteOptions]
    ) -> ObjectT:
        return self._portal.call(self._inner.modify(name, change, **options))

    @property
    def status(self) -> SyncSubresourceClient[ObjectT]:
        return SyncSubresourceClient(self._portal, self._inner.status)

    @property
    def scale(self) -> SyncSubresourceClient[Scale]:
        return SyncSubresourceClient(self._portal, self._inner.scale)

    @overload
    def subresource(self, name: str) -> SyncSubresourceClient[Unstructured]: ...

    @overload
    def subresource(self, name: str, cls: type[OtherT]) -> SyncSubresourceClient[OtherT]: ...

    def subresource(self, name: str, cls: Any = Unstructured) -> Any:
        return SyncSubresourceClient(self._portal, self._inner.subresource(name, cls))

    @property
    def metadata(self) -> "SyncResourceClient[PartialObjectMetadata]":
        return SyncResourceClient(self._portal, self._inner.metadata)

    def in_namespace(self, namespace: str) -> "SyncResourceClient[ObjectT]":
        return SyncResourceClient(self._portal, self._inner.in_namespace(namespace))

    def with_options(self, **options: Unpack[WriteOptions]) -> "SyncResourceClient[ObjectT]":
        return SyncResourceClient(self._portal, self._inner.with_options(**options))

    def dry_run(self) -> "SyncResourceClient[ObjectT]":
        return self.with_options(dry_run=True)

    def as_manager(self, field_manager: str) -> "SyncResourceClient[ObjectT]":
        return self.with_options(field_manager=field_manager)


class SyncDiscovery:
    """The cached discovery information of one server; see `client.discovery`."""

    def __init__(self, portal: Portal, inner: discovery.Discovery) -> None:
        self._portal = portal
        self._inner = inner

    def resources(self) -> Sequence[ServedResource]:
        return self._portal.call(self._inner.resources())

    def mapper(self) -> Mapper:
        return self._portal.call(self._inner.mapper())

    def invalidate(self) -> None:
        self._inner.invalidate()

    def find(self, lookup: Callable[[Mapper], ResultT]) -> ResultT:
        return self._portal.call(self._inner.find(lookup))

    def mapping(self, kind: GroupVersionKind) -> Mapping:
        return self._portal.call(self._inner.mapping(kind))

    def resource(self, partial: GroupVersionResource) -> Mapping:
        return self._portal.call(self._inner.resource(partial))

    def version(self) -> abc.Mapping[str, Any]:
        return self._portal.call(self._inner.version())


class Client:
    """A synchronous client of one server; `with` or `close` ends its connections and its thread."""

    def __init__(
        self,
        config: Config | None = None,
        *,
        scheme: Scheme | None = None,
        transport: Transport | None = None,
        limiter: RequestRateLimiter | None = None,
        warn: WarningHandler | None = None,
        observe: Callable[[Request, int], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._portal = Portal()
        self._inner = AsyncClient(
            config,
            scheme=scheme,
            transport=transport,
            limiter=limiter,
            warn=warn,
            observe=observe,
            clock=clock,
        )
        self.discovery = SyncDiscovery(self._portal, self._inner.discovery)

    @classmethod
    def from_env(
        cls,
        *kinds: AddToScheme,
        scheme: Scheme | None = None,
        kubeconfig: str | Path = "",
        context: str = "",
        namespace: str = "",
    ) -> Self:
        """Create a client for the server that kubectl would use; see `AsyncClient.from_env`."""
        config = Config.from_env(kubeconfig=kubeconfig, context=context, namespace=namespace)
        return cls(config, scheme=build_scheme(kinds, scheme))

    @property
    def config(self) -> Config:
        return self._inner.config

    @property
    def scheme(self) -> Scheme:
        return self._inner.scheme

    def of(
        self,
        cls: type[ObjectT],
        *,
        namespace: str | None = None,
        resource: str = "",
        namespaced: bool = True,
        api_version: str = "",
    ) -> SyncResourceClient[ObjectT]:
        """Return a client for the objects of a class; see `AsyncClient.of`."""
        resource_client = self._inner.of(
            cls,
            namespace=namespace,
            resource=resource,
            namespaced=namespaced,
            api_version=api_version,
        )
        return SyncResourceClient(self._portal, resource_client)

    def resource(
        self, name: str, *, namespace: str | None = None
    ) -> SyncResourceClient[Unstructured]:
        """Return a client for a resource named as for kubectl."""
        return SyncResourceClient(self._portal, self._inner.resource(name, namespace=namespace))

    def kind(
        self, kind: str, api_version: str, *, namespace: str | None = None
    ) -> SyncResourceClient[Unstructured]:
        """Return a client for the objects of a kind that has no class."""
        resource_client = self._inner.kind(kind, api_version, namespace=namespace)
        return SyncResourceClient(self._portal, resource_client)

    @overload
    def of_document(self, document: ObjectT) -> SyncResourceClient[ObjectT]: ...

    @overload
    def of_document(self, document: Document) -> SyncResourceClient[Unstructured]: ...

    def of_document(self, document: Object | Document) -> Any:
        """Return a client for the kind and apiVersion of *document*."""
        return SyncResourceClient(self._portal, self._inner.of_document(document))

    def request(self, request: Request) -> Reply:
        """Send any request, for example to a path that belongs to no resource."""
        return self._portal.call(self._inner.request(request))

    def close(self) -> None:
        """Close every connection and end the thread; idempotent."""
        if not self._portal.closed:
            self._portal.call(self._inner.aclose())
            self._portal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _synchronous_context(portal: Portal, manager: Any) -> Iterator[Any]:
    """Run an asynchronous context manager in *portal* as a synchronous one."""
    value = portal.call(manager.__aenter__())
    try:
        yield value
    except BaseException as error:
        if not portal.call(manager.__aexit__(type(error), error, error.__traceback__)):
            raise
    else:
        portal.call(manager.__aexit__(None, None, None))
