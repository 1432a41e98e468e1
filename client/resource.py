"""RESTResourceClient: sends the verbs of one resource as requests and decodes the responses."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, TypeVar, Unpack, overload

from apimachinery.meta.options import GetOptions, ListOptions, TableOptions
from apimachinery.meta.status import Status
from apimachinery.meta.table import Table
from apimachinery.meta.types import Object, PartialObjectMetadata
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import decode_json
from apimachinery.scale import Scale
from client.interface import (
    DeleteArguments,
    ReadOptions,
    ResourceClient,
    SelectionArguments,
    Watch,
    WriteOptions,
)
from client.list_options import create_query, delete_body, list_options
from client.object_codec import Document, peek_continue_token
from client.paging import PAGE_SIZE, Listing, Page, UndecodedPage
from client.rest_client import RESTClient
from client.subresource import RESTSubresourceClient, SharedVerbs
from client.transport.request import (
    ALL_NAMESPACES,
    InvalidRequest,
    accept_header,
    path_segment,
    query_parameters,
)
from client.watches.object_watch import ResumingWatch, wait_for_object
from client.watches.stream_watcher import (
    EmptyDecoder,
    FrameDecoder,
    ListWatch,
    StatusReporter,
    StreamWatcher,
)
from client.watches.watch_lifetime import AutoStoppingWatch

ObjectT = TypeVar("ObjectT", bound=Object)
OtherT = TypeVar("OtherT", bound=Object)


class RESTResourceClient(SharedVerbs[ObjectT], ResourceClient[ObjectT]):
    """Implements `ResourceClient` with requests sent by a `Sender`."""

    async def get(self, name: str, *, resource_version: str = "") -> ObjectT:
        query = (
            query_parameters(GetOptions(resource_version=resource_version))
            if resource_version
            else ()
        )
        return await self._get(name, query)

    def list(
        self,
        *,
        page_size: int = PAGE_SIZE,
        inconsistent: bool = False,
        **options: Unpack[ReadOptions],
    ) -> Listing[ObjectT]:
        return Listing(
            self._fetch,
            list_options(limit=page_size, **options),
            inconsistent=inconsistent,
            fetch_undecoded=self._fetch_undecoded,
        )

    async def page(
        self, *, limit: int = PAGE_SIZE, continue_: str = "", **options: Unpack[ReadOptions]
    ) -> Page[ObjectT]:
        return await self._fetch(list_options(limit=limit, continue_=continue_, **options))

    async def table(
        self,
        name: str = "",
        *,
        include_object: Literal["None", "Metadata", "Object"] = "Metadata",
        **options: Unpack[ReadOptions],
    ) -> Table:
        rest, _ = await self._rest_client()
        query = query_parameters(TableOptions(include_object=include_object))
        namespace = self._binding.namespace
        if name:
            request = rest.get(name, namespace=namespace, query=query)
        else:
            list_query = query_parameters(list_options(**options))
            request = rest.list(namespace=namespace, query=(*query, *list_query))
        request = replace(request, headers=accept_header("Table"))
        reply = await self._binding.sender.send(request)
        return decode_json(Table, reply.body, find_unknown=False).object

    def watch(
        self, *, since: str = "", bookmarks: bool = False, **selection: Unpack[SelectionArguments]
    ) -> Watch[ObjectT]:
        options = list_options(resource_version=since, **selection)
        source = ListWatch(self._fetch, self._watch)
        return AutoStoppingWatch(
            ResumingWatch(source, options, bookmarks=bookmarks, clock=self._clock)
        )

    def list_watch(self, **selection: Unpack[SelectionArguments]) -> ListWatch[ObjectT]:
        selection_options = list_options(**selection)
        selectors = {
            "label_selector": selection_options.label_selector,
            "field_selector": selection_options.field_selector,
        }

        def with_selectors(options: ListOptions) -> ListOptions:
            return options.model_copy(update=selectors)

        return ListWatch(
            lambda options: self._fetch(with_selectors(options)),
            lambda options: self._watch(with_selectors(options)),
        )

    async def wait(
        self, name: str, predicate: Callable[[ObjectT], bool], *, timeout: float = 60
    ) -> ObjectT:
        obj = await wait_for_object(
            self._named_list_watch(name),
            name,
            lambda obj: obj is not None and predicate(obj),
            timeout=timeout,
            missing_ok=False,
            clock=self._clock,
        )
        assert obj is not None
        return obj

    async def wait_deleted(self, name: str, *, uid: str = "", timeout: float = 60) -> None:
        await wait_for_object(
            self._named_list_watch(name),
            name,
            lambda obj: obj is None or bool(uid and obj.metadata.uid != uid),
            timeout=timeout,
            missing_ok=True,
            clock=self._clock,
        )

    async def create(self, obj: ObjectT | Document, **options: Unpack[WriteOptions]) -> ObjectT:
        rest, kind = await self._rest_client()
        request = rest.create(
            self._codec.encode(obj, kind),
            namespace=self._required_namespace(self._binding.namespace_for(obj), rest),
            query=create_query(self._binding.options(options)),
        )
        return await self._write(request)

    async def update(self, obj: ObjectT | Document, **options: Unpack[WriteOptions]) -> ObjectT:
        return await self._update(obj, "", options)

    async def apply(
        self, obj: ObjectT | Document, *, force: bool = False, **options: Unpack[WriteOptions]
    ) -> ObjectT:
        return await self._apply(obj, "", force, options)

    async def delete(self, name: str, **options: Unpack[DeleteArguments]) -> ObjectT | Status:
        rest, _ = await self._rest_client()
        arguments = self._with_dry_run(options)
        request = rest.delete(name, delete_body(arguments), namespace=self._binding.namespace)
        response = self._codec.decode_or_status((await self._send(request)).body)
        if not arguments.get("dry_run"):
            self._notify(response)
        return response

    async def delete_collection(
        self,
        *,
        options: DeleteArguments | None = None,
        limit: int = 0,
        continue_: str = "",
        **selection: Unpack[SelectionArguments],
    ) -> Page[ObjectT]:
        rest, kind = await self._rest_client()
        request = rest.delete_collection(
            delete_body(self._with_dry_run(options or {})),
            namespace=self._binding.namespace,
            query=query_parameters(list_options(limit=limit, continue_=continue_, **selection)),
        )
        reply = await self._send(request, is_list=True)
        return self._codec.decode_list(reply.body, kind)

    @property
    def status(self) -> RESTSubresourceClient[ObjectT]:
        return RESTSubresourceClient(self._binding, self._codec.cls, "status")

    @property
    def scale(self) -> RESTSubresourceClient[Scale]:
        return RESTSubresourceClient(self._binding, Scale, "scale")

    @overload
    def subresource(self, name: str) -> RESTSubresourceClient[Unstructured]: ...

    @overload
    def subresource(self, name: str, cls: type[OtherT]) -> RESTSubresourceClient[OtherT]: ...

    def subresource(self, name: str, cls: Any = Unstructured) -> Any:
        path_segment("subresource", name)
        return RESTSubresourceClient(self._binding, cls, name)

    @property
    def metadata(self) -> "RESTResourceClient[PartialObjectMetadata]":
        binding = replace(self._binding, transform="PartialObjectMetadata", on_write=None)
        return RESTResourceClient(binding, PartialObjectMetadata)

    def in_namespace(self, namespace: str) -> "RESTResourceClient[ObjectT]":
        namespace = "" if namespace == ALL_NAMESPACES else namespace
        binding = replace(self._binding, namespace=namespace, namespace_explicit=True)
        return RESTResourceClient(binding, self._codec.cls)

    def with_options(self, **options: Unpack[WriteOptions]) -> "RESTResourceClient[ObjectT]":
        binding = replace(self._binding, defaults=self._binding.options(options))
        return RESTResourceClient(binding, self._codec.cls)

    def notifying(
        self, on_write: Callable[[ObjectT | Status], None]
    ) -> "RESTResourceClient[ObjectT]":
        """Return a client that calls *on_write* with the response to each write but dry runs.

        The response to a delete is a Status if the object is deleted at once. Writes through
        `status` are included; `metadata`, other subresources and `delete_collection` are not.
        """
        return RESTResourceClient(replace(self._binding, on_write=on_write), self._codec.cls)

    def over_websocket(self) -> "RESTResourceClient[ObjectT]":
        """Return a client that watches over WebSockets."""
        return RESTResourceClient(replace(self._binding, websocket=True), self._codec.cls)

    async def _fetch(self, options: ListOptions) -> Page[ObjectT]:
        return (await self._fetch_undecoded(options)).decode()

    async def _fetch_undecoded(self, options: ListOptions) -> UndecodedPage[ObjectT]:
        rest, kind = await self._rest_client()
        request = rest.list(namespace=self._binding.namespace, query=query_parameters(options))
        body = (await self._send(request, is_list=True)).body
        return UndecodedPage(lambda: self._codec.decode_list(body, kind), peek_continue_token(body))

    async def _watch(self, options: ListOptions) -> StreamWatcher[ObjectT]:
        rest, _ = await self._rest_client()
        sender = self._binding.sender
        request = rest.watch(namespace=self._binding.namespace, query=query_parameters(options))
        response = await sender.stream(self._binding.prepare(request))
        if response is None:
            return StreamWatcher(EmptyDecoder())
        codec = self._codec
        decoder = FrameDecoder(
            response, codec.decode, decode_bookmark=codec.decode_bookmark, read=sender.read_chunk
        )
        return StreamWatcher(decoder, StatusReporter(verb=request.method))

    def _named_list_watch(self, name: str) -> ListWatch[ObjectT]:
        """Return the list and watch functions after checking that *name* means one object."""
        if not self._binding.namespace and self._binding.namespace_explicit:
            raise InvalidRequest(
                "an empty namespace may not be set when a resource name is provided"
            )
        path_segment("resource name", name)
        return ListWatch(self._fetch, self._watch)

    def _with_dry_run(self, arguments: DeleteArguments) -> DeleteArguments:
        """Add the client's default for dry runs, the only default that applies to deletes."""
        if (self._binding.defaults or {}).get("dry_run") and "dry_run" not in arguments:
            return {**arguments, "dry_run": True}
        return arguments

    def _required_namespace(self, namespace: str, rest: RESTClient) -> str:
        if rest.location.namespaced and not namespace:
            raise InvalidRequest("an empty namespace may not be set during creation")
        return namespace
