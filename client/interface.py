"""ResourceClient: the interface to the objects of one class, on which programs should depend.

`AsyncClient.of` returns an implementation; a test may substitute its own. Keyword arguments that
several methods share are defined once, as TypedDicts, which the synchronous client uses too.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack, overload

from apimachinery.meta.status import Status
from apimachinery.meta.table import Table
from apimachinery.meta.types import LabelSelector, Object, PartialObjectMetadata
from apimachinery.meta.unstructured import Unstructured
from apimachinery.scale import Scale
from apimachinery.selectors import field_selector as field_selectors
from apimachinery.selectors import label_selector as label_selectors
from apimachinery.watch import ObjectEvent
from client.object_codec import Document
from client.paging import Listing, Page
from client.transport.request import PatchType
from client.watches.stream_watcher import ListWatch

ObjectT = TypeVar("ObjectT", bound=Object)
OtherT = TypeVar("OtherT", bound=Object)

Labels: TypeAlias = str | Mapping[str, str] | label_selectors.Selector | LabelSelector
"""A label selector: as text, as labels that must all be equal, or as an object."""
Fields: TypeAlias = str | Mapping[str, str] | field_selectors.FieldSelector
Patch: TypeAlias = Document | Sequence[Document] | bytes
"""A merge patch, the operations of a JSON patch, or an encoded patch of any type."""


class WriteOptions(TypedDict, total=False):
    """The options of every write."""

    dry_run: bool
    """Process the request completely, but do not store the result."""
    field_manager: str
    """The manager that owns the changed fields."""
    field_validation: Literal["Strict", "Warn", "Ignore"]
    """How the server treats unknown and duplicate fields."""


class DeleteArguments(TypedDict, total=False):
    """The options of a delete."""

    dry_run: bool
    grace_period: int
    """Seconds for graceful termination."""
    propagation: Literal["Foreground", "Background", "Orphan"]
    """How garbage collection treats the dependents of the object."""
    uid: str
    """Precondition: delete the object only if it has this uid."""
    resource_version: str
    """Precondition: delete the object only if it has this resourceVersion."""
    ignore_store_read_error: bool
    """Remove an object that the server cannot decode, ignoring its finalizers.

    Requires the verb `unsafe-delete-ignore-read-errors`; no other option may be set.
    """


class SelectionArguments(TypedDict, total=False):
    """The selectors of a list or watch."""

    labels: Labels
    fields: Fields


class ReadOptions(SelectionArguments, total=False):
    """The options of a list."""

    resource_version: str
    resource_version_match: Literal["Exact", "NotOlderThan"]
    timeout_seconds: int
    """Seconds after which the server aborts the request."""


class SubresourceClient(ABC, Generic[ObjectT]):
    """Reads and writes one subresource, such as status or scale; see `ResourceClient`."""

    @abstractmethod
    async def get(self, name: str) -> ObjectT: ...

    @abstractmethod
    async def create(
        self, name: str, body: ObjectT | Document, **options: Unpack[WriteOptions]
    ) -> ObjectT:
        """POST *body* to the subresource, for example to evict a pod or to request a token."""

    @abstractmethod
    async def update(
        self, obj: ObjectT | Document, *, name: str = "", **options: Unpack[WriteOptions]
    ) -> ObjectT:
        """Replace the subresource; raises Conflict if the object has changed since it was read."""

    @abstractmethod
    async def patch(
        self,
        name: str,
        patch: Patch,
        type: PatchType | None = None,  # noqa: A002 - the name that kubectl and client-go use
        **options: Unpack[WriteOptions],
    ) -> ObjectT: ...

    @abstractmethod
    async def apply(
        self,
        obj: ObjectT | Document,
        *,
        name: str = "",
        force: bool = False,
        **options: Unpack[WriteOptions],
    ) -> ObjectT: ...

    @abstractmethod
    def edit(
        self, name: str, **options: Unpack[WriteOptions]
    ) -> AbstractAsyncContextManager[ObjectT]: ...

    @abstractmethod
    async def modify(
        self, name: str, change: Callable[[ObjectT], None], **options: Unpack[WriteOptions]
    ) -> ObjectT: ...


class Watch(ABC, AsyncIterator[ObjectEvent[ObjectT]]):
    """An iterator over the changes of objects; `async with` or `stop` closes its connection."""

    @property
    @abstractmethod
    def resource_version(self) -> str:
        """The resourceVersion of the last event, from which another watch can resume."""

    @abstractmethod
    def stop(self) -> None:
        """End the watch, even while a caller waits for its next event; idempotent."""

    async def aclose(self) -> None:
        self.stop()

    async def __aenter__(self) -> "Watch[ObjectT]":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()


class ResourceClient(ABC, Generic[ObjectT]):
    """Reads and writes the objects of one class, in one namespace or in all."""

    # Reading

    @abstractmethod
    async def get(self, name: str, *, resource_version: str = "") -> ObjectT:
        """Return one object; raises NotFound if it does not exist."""

    @abstractmethod
    def list(
        self, *, page_size: int = 500, inconsistent: bool = False, **options: Unpack[ReadOptions]
    ) -> Listing[ObjectT]:
        """Return an iterator over the objects, which fetches pages as they are needed.

        Its method `all` fetches every page, and requests the next one while it decodes the last.
        With *inconsistent*, pagination continues with the newest state after its snapshot expired.
        """

    @abstractmethod
    async def page(
        self, *, limit: int = 500, continue_: str = "", **options: Unpack[ReadOptions]
    ) -> Page[ObjectT]:
        """Return one page of objects."""

    @abstractmethod
    async def table(
        self,
        name: str = "",
        *,
        include_object: Literal["None", "Metadata", "Object"] = "Metadata",
        **options: Unpack[ReadOptions],
    ) -> Table:
        """Return all objects, or the named one, as the table that `kubectl get` prints."""

    @abstractmethod
    def watch(
        self, *, since: str = "", bookmarks: bool = False, **selection: Unpack[SelectionArguments]
    ) -> Watch[ObjectT]:
        """Watch the changes after the resourceVersion *since*.

        Without *since*, the watch starts with an ADDED event for each existing object. It
        reconnects by itself. Raises Expired if the server no longer has the events to resume from.
        """

    @abstractmethod
    def list_watch(self, **selection: Unpack[SelectionArguments]) -> ListWatch[ObjectT]:
        """Return the list and watch functions for a reflector or informer."""

    @abstractmethod
    async def wait(
        self, name: str, predicate: Callable[[ObjectT], bool], *, timeout: float = 60
    ) -> ObjectT:
        """Wait until *predicate* is true for the object, which need not exist yet; return it.

        Raises WaitTimeout after *timeout* seconds, and Deleted if the object is deleted.
        """

    @abstractmethod
    async def wait_deleted(self, name: str, *, uid: str = "", timeout: float = 60) -> None:
        """Wait until no object with this name (and *uid*, if given) exists.

        Raises WaitTimeout after *timeout* seconds.
        """

    # Writing

    @abstractmethod
    async def create(self, obj: ObjectT | Document, **options: Unpack[WriteOptions]) -> ObjectT: ...

    @abstractmethod
    async def update(self, obj: ObjectT | Document, **options: Unpack[WriteOptions]) -> ObjectT:
        """Replace an object; raises Conflict if it has changed since it was read."""

    @abstractmethod
    async def patch(
        self,
        name: str,
        patch: Patch,
        type: PatchType | None = None,  # noqa: A002 - the name that kubectl and client-go use
        **options: Unpack[WriteOptions],
    ) -> ObjectT:
        """Patch an object; without *type*, a mapping or bytes is a merge patch, else JSON patch."""

    @abstractmethod
    async def apply(
        self, obj: ObjectT | Document, *, force: bool = False, **options: Unpack[WriteOptions]
    ) -> ObjectT:
        """Apply *obj* with server-side apply; *force* takes over fields of other managers.

        Raises InvalidRequest without a `field_manager`, and Conflict if another manager owns a
        field and *force* is false.
        """

    @abstractmethod
    async def delete(self, name: str, **options: Unpack[DeleteArguments]) -> ObjectT | Status:
        """Delete an object.

        Returns the object if finalizers or a grace period delay its deletion, otherwise a Status.
        """

    @abstractmethod
    async def delete_collection(
        self,
        *,
        options: DeleteArguments | None = None,
        limit: int = 0,
        continue_: str = "",
        **selection: Unpack[SelectionArguments],
    ) -> Page[ObjectT]:
        """Delete the selected objects, or all of them; return the deleted objects.

        With *limit* one page of them is deleted; *continue_* is the token of the page before.
        """

    @abstractmethod
    def edit(
        self, name: str, **options: Unpack[WriteOptions]
    ) -> AbstractAsyncContextManager[ObjectT]:
        """Get an object, change it in an `async with` block, and update it at the end.

        If another client has changed the object meanwhile, the changes of the block are applied to
        the newest state. Raises Conflict if both changed the same field.
        """

    @abstractmethod
    async def modify(
        self, name: str, change: Callable[[ObjectT], None], **options: Unpack[WriteOptions]
    ) -> ObjectT:
        """Get an object, call *change* on it, and update it; repeat all of it after a Conflict."""

    # Other views of the same objects

    @property
    @abstractmethod
    def status(self) -> SubresourceClient[ObjectT]: ...

    @property
    @abstractmethod
    def scale(self) -> SubresourceClient[Scale]: ...

    @overload
    def subresource(self, name: str) -> SubresourceClient[Unstructured]: ...

    @overload
    def subresource(self, name: str, cls: type[OtherT]) -> SubresourceClient[OtherT]: ...

    @abstractmethod
    def subresource(self, name: str, cls: Any = Unstructured) -> Any:
        """Return a client for any subresource, which is decoded as *cls*."""

    @property
    @abstractmethod
    def metadata(self) -> "ResourceClient[PartialObjectMetadata]":
        """A client for the same objects that reads only their metadata."""

    @abstractmethod
    def in_namespace(self, namespace: str) -> "ResourceClient[ObjectT]":
        """Return a client for another namespace, or for all (`ALL_NAMESPACES`)."""

    @abstractmethod
    def with_options(self, **options: Unpack[WriteOptions]) -> "ResourceClient[ObjectT]":
        """Return a client with these defaults for the options of its writes."""

    def dry_run(self) -> "ResourceClient[ObjectT]":
        """Return a client whose writes are dry runs."""
        return self.with_options(dry_run=True)

    def as_manager(self, field_manager: str) -> "ResourceClient[ObjectT]":
        """Return a client that writes as *field_manager*."""
        return self.with_options(field_manager=field_manager)
