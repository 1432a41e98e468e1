"""RESTSubresourceClient, and the code that it shares with the client of the resource."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar, Unpack

from apimachinery.meta.options import DRY_RUN_ALL
from apimachinery.meta.status import Status
from apimachinery.meta.types import Object
from apimachinery.schema import GroupVersionKind
from client.editing import EditTarget, edit_object, modify_object
from client.interface import Patch, SubresourceClient, WriteOptions
from client.list_options import create_query, patch_query, update_query
from client.object_codec import (
    Document,
    ObjectCodec,
    encode_document,
    name_of,
    namespace_of,
    without_managed_fields,
)
from client.rest_client import RESTClient
from client.runtime.clock import Clock
from client.transport.request import (
    InvalidRequest,
    Pairs,
    PatchType,
    Request,
    ResourceLocation,
    accept_header,
)
from client.transport.sender import Reply, Sender

ObjectT = TypeVar("ObjectT", bound=Object)


@dataclass(frozen=True, slots=True)
class ResourceTarget:
    """The location of a resource and the kind of its objects, from discovery or the caller."""

    location: ResourceLocation
    kind: GroupVersionKind


FindTarget: TypeAlias = Callable[[], Awaitable[ResourceTarget]]


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The settings of a resource client, which its subresource clients share."""

    sender: Sender
    find_target: FindTarget
    """Called for each request; caches its result."""
    namespace: str
    """The namespace for objects without one; empty for all namespaces."""
    namespace_explicit: bool = False
    """Whether the caller specified the namespace, so that it is not the configuration's default."""
    defaults: WriteOptions | None = None
    transform: str = ""
    """The kind to which the server transforms objects in its response."""
    websocket: bool = False
    on_write: Callable[[Any], None] | None = None
    """Called with the decoded response to every stored write, and with each object read by `edit`
    or `modify`, so that a cache can record the newest states that this client has received."""

    def options(self, options: WriteOptions) -> WriteOptions:
        return {**self.defaults, **options} if self.defaults else options

    def namespace_for(self, obj: Object | Document) -> str:
        """Return the namespace for a write of *obj*; an explicit one overrides the object's."""
        own = namespace_of(obj)
        explicit = self.namespace_explicit and self.namespace
        return self.namespace if explicit else own or self.namespace

    def prepare(self, request: Request, *, is_list: bool = False) -> Request:
        """Return *request* with the headers and protocol that the settings require."""
        if self.transform:
            kind = f"{self.transform}List" if is_list else self.transform
            other_headers = tuple(pair for pair in request.headers if pair[0] != "Accept")
            request = replace(request, headers=(*accept_header(kind), *other_headers))
        if self.websocket and request.verb == "watch":
            request = replace(request, websocket=True)
        return request


class SharedVerbs(Generic[ObjectT]):
    """The verbs that resources and subresources have in common."""

    def __init__(self, binding: ClientSettings, cls: type[ObjectT], subresource: str = "") -> None:
        self._binding = binding
        self._codec = ObjectCodec(cls)
        self._subresource = subresource

    async def patch(
        self,
        name: str,
        patch: Patch,
        type: PatchType | None = None,  # noqa: A002 - the name that kubectl and client-go use
        **options: Unpack[WriteOptions],
    ) -> ObjectT:
        default_type = PatchType.MERGE if isinstance(patch, Mapping | bytes) else PatchType.JSON
        body = patch if isinstance(patch, bytes) else encode_document(patch)
        query = patch_query(self._binding.options(options))
        namespace = self._binding.namespace
        return await self._send_patch(name, namespace, body, type or default_type, query)

    def edit(
        self, name: str, **options: Unpack[WriteOptions]
    ) -> AbstractAsyncContextManager[ObjectT]:
        return edit_object(self._edit_target(name, options), self._clock)

    async def modify(
        self, name: str, change: Callable[[ObjectT], None], **options: Unpack[WriteOptions]
    ) -> ObjectT:
        return await modify_object(self._edit_target(name, options), change, self._clock)

    @property
    def _clock(self) -> Clock:
        return self._binding.sender.clock

    async def _rest_client(self) -> tuple[RESTClient, GroupVersionKind]:
        target = await self._binding.find_target()
        return RESTClient(self._binding.sender, target.location), target.kind

    async def _send(self, request: Request, *, is_list: bool = False) -> Reply:
        return await self._binding.sender.send(self._binding.prepare(request, is_list=is_list))

    async def _write(self, request: Request) -> ObjectT:
        """Send a request that writes one object, report it to *on_write*, and return the object."""
        obj = self._codec.decode((await self._send(request)).body)
        if ("dryRun", DRY_RUN_ALL) not in request.query:
            self._notify(obj)
        return obj

    def _notify(self, response: ObjectT | Status) -> None:
        # The response for a subresource other than the status is not the whole object.
        if self._binding.on_write is not None and self._subresource in ("", "status"):
            self._binding.on_write(response)

    async def _get(self, name: str, query: Pairs = ()) -> ObjectT:
        rest, _ = await self._rest_client()
        request = rest.get(
            name,
            namespace=self._binding.namespace,
            subresource=self._subresource,
            query=query,
        )
        return self._codec.decode((await self._send(request)).body)

    async def _update(self, obj: ObjectT | Document, name: str, options: WriteOptions) -> ObjectT:
        rest, kind = await self._rest_client()
        request = rest.replace(
            name or name_of(obj),
            self._codec.encode(obj, self._body_kind(kind)),
            namespace=self._binding.namespace_for(obj),
            subresource=self._subresource,
            query=update_query(self._binding.options(options)),
        )
        return await self._write(request)

    async def _apply(
        self, obj: ObjectT | Document, name: str, force: bool, options: WriteOptions
    ) -> ObjectT:
        options = self._binding.options(options)
        if not options.get("field_manager"):
            raise InvalidRequest(
                "apply requires a field_manager, the name under which fields are owned: pass it or"
                " use as_manager()"
            )
        _, kind = await self._rest_client()
        body = self._codec.encode(without_managed_fields(obj), self._body_kind(kind))
        query = patch_query(options, force=force)
        namespace = self._binding.namespace_for(obj)
        return await self._send_patch(name or name_of(obj), namespace, body, PatchType.APPLY, query)

    async def _send_patch(
        self, name: str, namespace: str, body: bytes, patch_type: PatchType, query: Pairs
    ) -> ObjectT:
        rest, _ = await self._rest_client()
        request = rest.patch(
            name, body, patch_type, namespace=namespace, subresource=self._subresource, query=query
        )
        return await self._write(request)

    def _edit_target(self, name: str, options: WriteOptions) -> EditTarget[ObjectT]:
        return EditTarget(
            lambda: self._get_to_edit(name), lambda obj: self._update(obj, name, options)
        )

    async def _get_to_edit(self, name: str) -> ObjectT:
        obj = await self._get(name)
        # An edit without changes writes nothing, so the state just read is the newest one.
        self._notify(obj)
        return obj

    def _body_kind(self, kind: GroupVersionKind) -> GroupVersionKind | None:
        """Return the kind to set in a body; None for subresources that have a kind of their own."""
        return kind if self._subresource in ("", "status") else None


class RESTSubresourceClient(SharedVerbs[ObjectT], SubresourceClient[ObjectT]):
    """Implements `SubresourceClient` with requests sent by a `Sender`."""

    async def get(self, name: str) -> ObjectT:
        return await self._get(name)

    async def create(
        self, name: str, body: ObjectT | Document, **options: Unpack[WriteOptions]
    ) -> ObjectT:
        rest, kind = await self._rest_client()
        request = rest.create(
            self._codec.encode(body, self._body_kind(kind)),
            namespace=self._binding.namespace_for(body),
            name=name,
            subresource=self._subresource,
            query=create_query(self._binding.options(options)),
        )
        return await self._write(request)

    async def update(
        self, obj: ObjectT | Document, *, name: str = "", **options: Unpack[WriteOptions]
    ) -> ObjectT:
        return await self._update(obj, name, options)

    async def apply(
        self,
        obj: ObjectT | Document,
        *,
        name: str = "",
        force: bool = False,
        **options: Unpack[WriteOptions],
    ) -> ObjectT:
        return await self._apply(obj, name, force, options)
