"""ResourceClient: what can be done with the objects of one class; the interface to depend on.

`AsyncClient.of` gives one; a test may give another. The keyword arguments that several verbs share
are written down once, as TypedDicts, for this interface and for its synchronous twin.
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
"""Which labels: the text of a selector, labels that must all be equal, or a selector."""
Fields: TypeAlias = str | Mapping[str, str] | field_selectors.FieldSelector
Patch: TypeAlias = Document | Sequence[Document] | bytes
"""A merge patch, the operations of a JSON patch, or either as bytes."""


class WriteOptions(TypedDict, total=False):
    """How something is written."""

    dry_run: bool
    """Go through every step and store nothing."""
    field_manager: str
    """The name under which the changed fields are owned."""
    field_validation: Literal["Strict", "Warn", "Ignore"]
    """What happens to unknown and duplicate fields."""


class DeleteArguments(TypedDict, total=False):
    """How something is deleted."""

    dry_run: bool
    grace_period: int
    """Seconds the object has to end."""
    propagation: Literal["Foreground", "Background", "Orphan"]
    """What becomes of the objects it owns."""
    uid: str
    """Delete it only if it is still this one."""
    resource_version: str
    """Delete it only if it is still in this state."""


class SelectionArguments(TypedDict, total=False):
    """Which objects of a collection."""

    labels: Labels
    fields: Fields


class ReadOptions(SelectionArguments, total=False):
    """Which objects, in which state."""

    resource_version: str
    resource_version_match: Literal["Exact", "NotOlderThan"]
    timeout_seconds: int
    """How long the server may work on it."""


class SubresourceClient(ABC, Generic[ObjectT]):
    """A part or an action of objects that has a path of its own."""

    @abstractmethod
    async def get(self, name: str) -> ObjectT: ...

    @abstractmethod
    async def create(
        self, name: str, body: ObjectT | Document, **options: Unpack[WriteOptions]
    ) -> ObjectT:
        """Ask for what the subresource does: an eviction, a token."""

    @abstractmethod
    async def update(
        self, obj: ObjectT | Document, *, name: str = "", **options: Unpack[WriteOptions]
    ) -> ObjectT:
        """Replace it; a Conflict when it has changed since it was read."""

    @abstractmethod
    async def patch(
        self,
        name: str,
        patch: Patch,
        type: PatchType | None = None,  # noqa: A002 - what it is called everywhere
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
    """Changes as they happen; `async with` or `stop` lets go of the connection."""

    @property
    @abstractmethod
    def resource_version(self) -> str:
        """How far this watch has come: where another could go on."""

    @abstractmethod
    def stop(self) -> None:
        """End the watch, also under somebody who waits for its next event; may be repeated."""

    async def aclose(self) -> None:
        self.stop()

    async def __aenter__(self) -> "Watch[ObjectT]":
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stop()


class ResourceClient(ABC, Generic[ObjectT]):
    """The objects of one class, in one namespace or in all."""

    # Reading

    @abstractmethod
    async def get(self, name: str, *, resource_version: str = "") -> ObjectT:
        """One object; NotFound when there is none of this name."""

    @abstractmethod
    def list(
        self, *, page_size: int = 500, inconsistent: bool = False, **options: Unpack[ReadOptions]
    ) -> Listing[ObjectT]:
        """The objects, to iterate over; pages are fetched as they are needed.

        `all` wants every page, and asks for the next one while it decodes the last.
        """

    @abstractmethod
    async def page(
        self, *, limit: int = 500, continue_: str = "", **options: Unpack[ReadOptions]
    ) -> Page[ObjectT]:
        """One page of the objects."""

    @abstractmethod
    async def table(
        self,
        name: str = "",
        *,
        include_object: Literal["None", "Metadata", "Object"] = "Metadata",
        **options: Unpack[ReadOptions],
    ) -> Table:
        """The objects, or one of them, as the rows that `kubectl get` prints."""

    @abstractmethod
    def watch(
        self, *, since: str = "", bookmarks: bool = False, **selection: Unpack[SelectionArguments]
    ) -> Watch[ObjectT]:
        """Changes after the resourceVersion *since*; without one, what exists comes first as added.

        It goes on over as many connections as it takes. Expired is raised when the server has
        forgotten what happened since.
        """

    @abstractmethod
    def list_watch(self, **selection: Unpack[SelectionArguments]) -> ListWatch[ObjectT]:
        """The two functions that a cache of the collection is built on."""

    @abstractmethod
    async def wait(
        self, name: str, predicate: Callable[[ObjectT], bool], *, timeout: float = 60
    ) -> ObjectT:
        """The object as soon as *predicate* is true of it; it need not exist yet.

        Raises WaitTimeout after *timeout* seconds, and Deleted when the object goes away.
        """

    @abstractmethod
    async def wait_deleted(self, name: str, *, uid: str = "", timeout: float = 60) -> None:
        """Return when no object of this name (or with this uid) exists."""

    # Writing

    @abstractmethod
    async def create(self, obj: ObjectT | Document, **options: Unpack[WriteOptions]) -> ObjectT: ...

    @abstractmethod
    async def update(self, obj: ObjectT | Document, **options: Unpack[WriteOptions]) -> ObjectT:
        """Replace an object; a Conflict when it has changed since it was read."""

    @abstractmethod
    async def patch(
        self,
        name: str,
        patch: Patch,
        type: PatchType | None = None,  # noqa: A002 - what it is called everywhere
        **options: Unpack[WriteOptions],
    ) -> ObjectT:
        """Change part of an object: by a merge patch, or by the operations of a JSON patch."""

    @abstractmethod
    async def apply(
        self, obj: ObjectT | Document, *, force: bool = False, **options: Unpack[WriteOptions]
    ) -> ObjectT:
        """Say what one wants of an object and own it; with *force*, also what others own."""

    @abstractmethod
    async def delete(self, name: str, **options: Unpack[DeleteArguments]) -> ObjectT | Status:
        """Delete an object; returned is its last state while it lives on, or a Status."""

    @abstractmethod
    async def delete_collection(
        self, *, options: DeleteArguments | None = None, **selection: Unpack[SelectionArguments]
    ) -> Page[ObjectT]:
        """Delete the selected objects, or all; returned are those deleted."""

    @abstractmethod
    def edit(
        self, name: str, **options: Unpack[WriteOptions]
    ) -> AbstractAsyncContextManager[ObjectT]:
        """Get an object, change it in the block, and update it at its end.

        If somebody else changed it meanwhile, the changes of the block are made to the newest
        state, unless both changed the same field: that is a Conflict.
        """

    @abstractmethod
    async def modify(
        self, name: str, change: Callable[[ObjectT], None], **options: Unpack[WriteOptions]
    ) -> ObjectT:
        """Get an object, let *change* change it, and update it; all again on a Conflict."""

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
        """Any subresource, read and written as *cls*."""

    @property
    @abstractmethod
    def metadata(self) -> "ResourceClient[PartialObjectMetadata]":
        """The same objects of which only the metadata is read."""

    @abstractmethod
    def in_namespace(self, namespace: str) -> "ResourceClient[ObjectT]":
        """The same objects of another namespace, or of all (`ALL_NAMESPACES`)."""

    @abstractmethod
    def with_options(self, **options: Unpack[WriteOptions]) -> "ResourceClient[ObjectT]":
        """The same objects, written with these options unless a call says otherwise."""

    def dry_run(self) -> "ResourceClient[ObjectT]":
        """The same objects, of which nothing that is written is stored."""
        return self.with_options(dry_run=True)

    def as_manager(self, field_manager: str) -> "ResourceClient[ObjectT]":
        """The same objects, whose fields are written as this manager's."""
        return self.with_options(field_manager=field_manager)
