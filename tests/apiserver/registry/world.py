"""What the tests of the registry share: a few kinds, and stores of them over real parts.

Gadgets are the example group. Notes are a kind whose only version is the stored class itself; they
have a period of grace if they ask for one. Shelves have no namespace, no spec and no status.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import orjson

from apimachinery.codec import Codec
from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.model.model import Model
from apimachinery.model.model import field as wire
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.gadgets import GROUP as GADGETS
from apis.gadgets import register
from apis.gadgets.types import Gadget, GadgetSpec
from apis.gadgets.validation import validate_gadget
from apiserver.admission.chain import NO_ADMISSION, Chain
from apiserver.auth.user import User
from apiserver.context import RequestContext
from apiserver.group import STATUS, Group, Resource
from apiserver.managed_fields.ownership import Ownership
from apiserver.registry.store import ResourceStore
from apiserver.registry.store_builder import assemble_store
from apiserver.registry.strategy import Strategy
from apiserver.storage.cache.cache_limits import CacheLimits
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.interface import Backend
from apiserver.storage.sqlite.backend import open_sqlite
from apiserver.views.resource_view import Form
from apiserver.views.table import Column

NOTES = "notes.example.io"
NOTES_V1 = GroupVersion(NOTES, "v1")
NOTE_FORM = Form(NOTES_V1)
GADGET_FORM = Form(GroupVersion(GADGETS, "v1"))
BETA_FORM = Form(GroupVersion(GADGETS, "v1beta1"))


class NoteSpec(Model):
    text: str = wire("", proto=1)
    grace: int = wire(0, proto=2)
    pinned: bool = wire(False, proto=3)


class NoteStatus(Model):
    readers: int = wire(0, proto=1)


class Note(Object):
    spec: NoteSpec = wire(default_factory=NoteSpec, proto=2)
    status: NoteStatus = wire(default_factory=NoteStatus, proto=3)


class Shelf(Object):
    books: dict[str, str] = wire(default_factory=dict, proto=2)


class GadgetStrategy(Strategy[Gadget]):
    allow_unconditional_update = False

    def validate(self, obj: Gadget) -> FieldErrors:
        yield from validate_gadget(obj)


class NoteStrategy(Strategy[Note]):
    returns_deleted_object = True

    def prepare_for_create(self, obj: Note) -> None:
        obj.spec.text = obj.spec.text.strip()

    def prepare_for_update(self, new: Note, old: Note) -> None:
        new.spec.text = new.spec.text.strip()

    def validate(self, obj: Note) -> FieldErrors:
        if obj.spec.text == "bad":
            yield invalid(Path("spec", "text"), obj.spec.text, "must be good")

    def validate_status_update(self, new: Note, old: Note) -> FieldErrors:
        if new.status.readers < 0:
            yield invalid(Path("status", "readers"), new.status.readers, "must not be negative")

    def warnings(self, obj: Note, old: Note | None = None) -> list[str]:
        return ["shouting"] if obj.spec.text.isupper() else []

    def grace_period(self, obj: Note, options: DeleteOptions) -> int | None:
        if not obj.spec.grace:
            return None
        asked = options.grace_period_seconds
        return obj.spec.grace if asked is None else asked


class ShelfStrategy(Strategy[Shelf]):
    allow_create_on_update = True
    collects_garbage = False

    def may_be_removed(self, obj: Shelf) -> bool:
        return "precious" not in obj.books


NOTE_COLUMNS = (
    Column("Text", lambda note: note.spec.text, description="What it says."),
    Column("Readers", lambda note: note.status.readers, type="integer", priority=1),
)

NOTE_RESOURCE = Resource(
    "notes",
    Note,
    NoteStrategy(),
    subresources=(STATUS,),
    columns=NOTE_COLUMNS,
    fields={"spec.text": "spec.text", "spec.pinned": "spec.pinned"},
)
SHELF_RESOURCE = Resource("shelves", Shelf, ShelfStrategy(), namespaced=False)
GADGET_RESOURCE = Resource("gadgets", Gadget, GadgetStrategy(), subresources=(STATUS,))


def add_notes(scheme: Scheme) -> None:
    scheme.add(NOTES_V1, Note, Shelf, internal=True)
    scheme.add_field_labels(NOTES_V1.with_kind("Note"), ("spec.text", "spec.pinned"))


@dataclass
class World:
    """Stores over one backend and one cache."""

    backend: Backend
    cache: WatchCache
    codec: Codec
    notes: ResourceStore[Note]
    shelves: ResourceStore[Shelf]
    gadgets: ResourceStore[Gadget]
    clock: "FixedClock"


@dataclass
class FixedClock:
    """The time of day, which a test may set."""

    at: datetime = field(default_factory=lambda: datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at


@asynccontextmanager
async def world(
    *,
    admission: Chain = NO_ADMISSION,
    ownership: Ownership | None = None,
    storage_version: str = "",
    note_resource: Resource = NOTE_RESOURCE,
    backend: Backend | None = None,
    limits: CacheLimits | None = None,
) -> AsyncIterator[World]:
    """A running cache over an empty store in memory, with the stores of all kinds."""
    store = backend or await open_sqlite("sqlite://:memory:")
    scheme = Scheme()
    register.add_to_scheme(scheme)
    add_notes(scheme)
    codec = Codec(scheme)
    cache = WatchCache(store, limits=limits)
    notes = Group(
        NOTES, ("v1",), (note_resource, SHELF_RESOURCE), add_notes, storage_version=storage_version
    )
    gadgets = Group(GADGETS, ("v1", "v1beta1"), (GADGET_RESOURCE,), register.add_to_scheme)
    clock = FixedClock()

    def assemble(group: Group, resource: Resource) -> ResourceStore[Any]:
        return assemble_store(
            replace(group, mutating=admission.mutating, validating=admission.validating),
            resource,
            codec=codec,
            backend=store,
            cache=cache,
            ownership=ownership,
            now=clock,
        )

    made = World(
        store,
        cache,
        codec,
        assemble(notes, note_resource),
        assemble(notes, SHELF_RESOURCE),
        assemble(gadgets, GADGET_RESOURCE),
        clock,
    )
    async with cache:
        await made.notes.list(EntrySelection())
        yield made
    await store.close()


def note(
    name: str = "", *, text: str = "", namespace: str = "", grace: int = 0, **meta: Any
) -> Note:
    return Note(
        metadata=ObjectMeta(name=name, namespace=namespace, **meta),
        spec=NoteSpec(text=text, grace=grace),
    )


def shelf(name: str, books: dict[str, str] | None = None, **meta: Any) -> Shelf:
    return Shelf(metadata=ObjectMeta(name=name, **meta), books=books or {})


def gadget(name: str, model: str = "a1", **meta: Any) -> Gadget:
    return Gadget(metadata=ObjectMeta(name=name, **meta), spec=GadgetSpec(model=model))


def context(
    verb: str = "create",
    *,
    resource: str = "notes",
    namespace: str = "default",
    name: str = "",
    subresource: str = "",
    dry_run: bool = False,
) -> RequestContext:
    return RequestContext(
        user=User("alice"),
        verb=verb,
        resource=NOTES_V1.with_resource(resource),
        namespace=namespace,
        name=name,
        subresource=subresource,
        dry_run=dry_run,
    )


async def put(made: World, *notes: Note) -> list[Note]:
    """Create notes, each in its namespace, `default` if it names none."""
    return [
        await made.notes.create(each, context(namespace=each.metadata.namespace or "default"))
        for each in notes
    ]


async def revision(made: World) -> int:
    return await made.backend.current_revision()


def document(encoded: bytes) -> Any:
    return orjson.loads(encoded)
