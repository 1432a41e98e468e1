"""What the clients of a resource and of its subresources share, and the client of a subresource."""

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
    """Where the objects of a kind are, as a server said or a caller knows."""

    location: ResourceLocation
    kind: GroupVersionKind


FindTarget: TypeAlias = Callable[[], Awaitable[ResourceTarget]]


@dataclass(frozen=True, slots=True)
class Binding:
    """What the clients of one resource share."""

    sender: Sender
    find: FindTarget
    """Asked for each request; it remembers."""
    namespace: str
    """Where to look when the object does not say; empty for all namespaces."""
    fixed: bool = False
    """Whether the namespace was asked for, and is not just the usual one."""
    defaults: WriteOptions | None = None
    transform: str = ""
    """The kind into which a server turns the objects before it sends them."""
    websocket: bool = False
    on_write: Callable[[Any], None] | None = None
    """Called with the decoded answer to every write that was stored, and with the object that an
    edit has read: the newest states of objects that this client has seen while writing."""

    def options(self, given: WriteOptions) -> WriteOptions:
        return {**self.defaults, **given} if self.defaults else given

    def namespace_for(self, obj: Object | Document) -> str:
        own = namespace_of(obj)
        return self.namespace if self.fixed and self.namespace else own or self.namespace

    def prepared(self, request: Request, *, many: bool = False) -> Request:
        """*request* for the form in which this client wants the answer."""
        if self.transform:
            kind = f"{self.transform}List" if many else self.transform
            rest = tuple(pair for pair in request.headers if pair[0] != "Accept")
            request = replace(request, headers=(*accept_header(kind), *rest))
        if self.websocket and request.verb == "watch":
            request = replace(request, websocket=True)
        return request


class Verbs(Generic[ObjectT]):
    """What resources and their subresources do alike."""

    def __init__(self, binding: Binding, cls: type[ObjectT], subresource: str = "") -> None:
        self._binding = binding
        self._codec = ObjectCodec(cls)
        self._subresource = subresource

    @property
    def _clock(self) -> Clock:
        return self._binding.sender.clock

    async def _rest(self) -> tuple[RESTClient, GroupVersionKind]:
        target = await self._binding.find()
        return RESTClient(self._binding.sender, target.location), target.kind

    async def _send(self, request: Request, *, many: bool = False) -> Reply:
        return await self._binding.sender.send(self._binding.prepared(request, many=many))

    async def _write(self, request: Request) -> ObjectT:
        """Send a request that changes one object; return the object in the answer."""
        obj = self._codec.decode((await self._send(request)).body)
        if ("dryRun", DRY_RUN_ALL) not in request.query:
            self._notify(obj)
        return obj

    def _notify(self, answer: ObjectT | Status) -> None:
        # Apart from the status, a subresource is not answered with the whole object.
        if self._binding.on_write is not None and self._subresource in ("", "status"):
            self._binding.on_write(answer)

    async def _get(self, name: str, query: Pairs = ()) -> ObjectT:
        rest, _ = await self._rest()
        request = rest.get(
            name,
            namespace=self._binding.namespace,
            subresource=self._subresource,
            query=query,
        )
        return self._codec.decode((await self._send(request)).body)

    async def _update(self, obj: ObjectT | Document, name: str, options: WriteOptions) -> ObjectT:
        rest, kind = await self._rest()
        request = rest.replace(
            name or name_of(obj),
            self._codec.encode(obj, self._kind(kind)),
            namespace=self._binding.namespace_for(obj),
            subresource=self._subresource,
            query=update_query(self._binding.options(options)),
        )
        return await self._write(request)

    async def _patch(
        self, name: str, patch: Patch, kind: PatchType | None, options: WriteOptions
    ) -> ObjectT:
        if kind is None:
            kind = PatchType.MERGE if isinstance(patch, Mapping | bytes) else PatchType.JSON
        body = patch if isinstance(patch, bytes) else encode_document(patch)
        query = patch_query(self._binding.options(options))
        return await self._send_patch(name, self._binding.namespace, body, kind, query)

    async def _apply(
        self, obj: ObjectT | Document, name: str, force: bool, given: WriteOptions
    ) -> ObjectT:
        options = self._binding.options(given)
        if not options.get("field_manager"):
            raise InvalidRequest("apply needs a field_manager: the name of who wants the fields")
        _, kind = await self._rest()
        body = self._codec.encode(without_managed_fields(obj), self._kind(kind))
        query = patch_query(options, force=force)
        namespace = self._binding.namespace_for(obj)
        return await self._send_patch(name or name_of(obj), namespace, body, PatchType.APPLY, query)

    async def _send_patch(
        self, name: str, namespace: str, body: bytes, kind: PatchType, query: Pairs
    ) -> ObjectT:
        rest, _ = await self._rest()
        request = rest.patch(
            name, body, kind, namespace=namespace, subresource=self._subresource, query=query
        )
        return await self._write(request)

    def _store(self, name: str, options: WriteOptions) -> EditTarget[ObjectT]:
        return EditTarget(
            lambda: self._get_to_edit(name), lambda obj: self._update(obj, name, options)
        )

    async def _get_to_edit(self, name: str) -> ObjectT:
        obj = await self._get(name)
        # An edit that changes nothing writes nothing; this state is then the newest one.
        self._notify(obj)
        return obj

    def _kind(self, kind: GroupVersionKind) -> GroupVersionKind | None:
        """The kind to write into bodies: a subresource other than the status may have its own."""
        return kind if self._subresource in ("", "status") else None


class RESTSubresourceClient(Verbs[ObjectT], SubresourceClient[ObjectT]):
    """A subresource over a `Sender`."""

    async def get(self, name: str) -> ObjectT:
        return await self._get(name)

    async def create(
        self, name: str, body: ObjectT | Document, **options: Unpack[WriteOptions]
    ) -> ObjectT:
        rest, kind = await self._rest()
        request = rest.create(
            self._codec.encode(body, self._kind(kind)),
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

    async def patch(
        self,
        name: str,
        patch: Patch,
        type: PatchType | None = None,  # noqa: A002 - what it is called everywhere
        **options: Unpack[WriteOptions],
    ) -> ObjectT:
        return await self._patch(name, patch, type, options)

    async def apply(
        self,
        obj: ObjectT | Document,
        *,
        name: str = "",
        force: bool = False,
        **options: Unpack[WriteOptions],
    ) -> ObjectT:
        return await self._apply(obj, name, force, options)

    def edit(
        self, name: str, **options: Unpack[WriteOptions]
    ) -> AbstractAsyncContextManager[ObjectT]:
        return edit_object(self._store(name, options), self._clock)

    async def modify(
        self, name: str, change: Callable[[ObjectT], None], **options: Unpack[WriteOptions]
    ) -> ObjectT:
        return await modify_object(self._store(name, options), change, self._clock)
