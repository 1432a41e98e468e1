"""Objects in the store, and changing them while others do."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest

from apimachinery.codec import Codec
from apimachinery.errors import BadRequest
from apimachinery.meta.types import ObjectMeta, Preconditions
from apimachinery.scheme import Scheme
from apimachinery.serialization.document_size import MAX_VALUES
from apimachinery.storage_codec import StorageCodec
from apis.gadgets import GROUP, register
from apis.gadgets.types import Gadget, GadgetSpec
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.cache.read_revision import Exact
from apiserver.storage.cache.watch_cache import CachedResource, WatchCache
from apiserver.storage.interface import KeyExists, ValueTooLarge
from apiserver.storage.keys import ResourceKeys
from apiserver.storage.objects import (
    Change,
    Intent,
    Keep,
    ObjectStorage,
    PreconditionFailed,
    Put,
    Remove,
    Unreadable,
    check_preconditions,
)
from apiserver.storage.sqlite.backend import open_sqlite
from apiserver.views.resource_view import ResourceView
from tests.apiserver.storage.cache.cached import Switchboard

KEYS = ResourceKeys(GROUP, "gadgets")
KEY = KEYS.object_key("lamp", namespace="default")


@dataclass
class Place:
    """A store behind a cache that can be made to lag behind."""

    board: Switchboard
    cached: CachedResource
    objects: ObjectStorage[Gadget]
    others: ObjectStorage[Gadget]
    """The same objects for somebody who has no cache."""
    gets: int = 0

    async def lag(self) -> None:
        """Let the cache know what is stored now, and nothing that comes after."""
        await self.cached.list(EntrySelection())
        self.board.silent = True

    async def revision(self) -> int:
        return await self.board.backend.current_revision()


@pytest.fixture
async def place() -> AsyncIterator[Place]:
    backend = await open_sqlite("sqlite://:memory:")
    board = Switchboard(backend)
    scheme = Scheme()
    register.add_to_scheme(scheme)
    codec = StorageCodec(scheme)
    cache = WatchCache(board)
    view = ResourceView(Gadget, group=GROUP, codec=Codec(scheme), storage=codec)
    cached = cache.register(KEYS, view)
    made = Place(
        board,
        cached,
        ObjectStorage(board, codec, cached, cls=Gadget),
        ObjectStorage(backend, codec, cls=Gadget),
    )
    get = backend.get

    async def counted(key: str) -> object:
        made.gets += 1
        return await get(key)

    board.get = counted  # type: ignore[attr-defined]
    async with cache:
        await cached.list(EntrySelection())
        yield made
    await backend.close()


def gadget(model: str = "a1") -> Gadget:
    return Gadget(
        metadata=ObjectMeta(name="lamp", namespace="default"), spec=GadgetSpec(model=model)
    )


def changed(make: Callable[[Gadget], Intent[Gadget]]) -> tuple[Change[Gadget], list[str]]:
    """A change of what must be there, and the models on which it was tried."""
    seen: list[str] = []

    async def change(current: Gadget | None) -> Intent[Gadget]:
        assert current is not None
        seen.append(current.spec.model)
        return make(current)

    return change, seen


def model(text: str) -> Callable[[Gadget], Intent[Gadget]]:
    def make(current: Gadget) -> Intent[Gadget]:
        current.spec.model = text
        return Put(current)

    return make


async def put(objects: ObjectStorage[Gadget], text: str) -> None:
    await objects.change(KEY, changed(model(text))[0])


async def test_an_object_that_could_not_be_sent_back_is_not_stored(place: Place) -> None:
    """managedFields may have more values than the document that a client has sent."""
    many = gadget()
    many.metadata.labels = {f"label-{number}": "" for number in range(MAX_VALUES // 2)}

    with pytest.raises(ValueTooLarge, match=f"limit is {MAX_VALUES} values"):
        await place.objects.create(KEY, many)


async def test_the_revision_is_the_resource_version(place: Place) -> None:
    made = (await place.objects.create(KEY, gadget())).object

    assert made.metadata.resource_version == str(await place.revision())
    assert await place.objects.get(KEY) == made


async def test_what_is_missing_is_none(place: Place) -> None:
    assert await place.objects.get(KEY) is None


async def test_a_key_is_created_once(place: Place) -> None:
    await place.objects.create(KEY, gadget())

    with pytest.raises(KeyExists):
        await place.objects.create(KEY, gadget())
    with pytest.raises(KeyExists):
        await place.objects.create(KEY, gadget(), dry_run=True)


async def test_a_change_begins_from_what_the_cache_knows(place: Place) -> None:
    await place.objects.create(KEY, gadget())
    await place.lag()
    change, seen = changed(model("b2"))

    outcome = await place.objects.change(KEY, change)

    assert seen == ["a1"]
    assert place.gets == 0
    assert outcome.object.metadata.resource_version == str(outcome.revision)
    assert outcome.revision == await place.revision()


async def test_a_change_of_something_old_is_tried_again_on_what_the_error_carries(
    place: Place,
) -> None:
    await place.objects.create(KEY, gadget())
    await place.lag()
    await put(place.others, "b2")
    change, seen = changed(lambda current: model(current.spec.model + "!")(current))

    outcome = await place.objects.change(KEY, change)

    assert seen == ["a1", "b2"]
    assert outcome.object.spec.model == "b2!"
    assert place.gets == 0


async def test_nothing_is_believed_unchanged_because_the_cache_says_so(place: Place) -> None:
    await place.objects.create(KEY, gadget("a1"))
    await place.lag()
    await put(place.others, "b2")

    outcome = await place.objects.change(KEY, changed(model("a1"))[0])

    assert outcome.revision == await place.revision()
    stored = await place.others.get(KEY)
    assert stored is not None
    assert stored.spec.model == "a1"


async def test_what_changes_nothing_is_not_written(place: Place) -> None:
    made = (await place.objects.create(KEY, gadget("a1"))).object
    before = await place.revision()

    outcome = await place.objects.change(KEY, changed(model("a1"))[0])

    assert outcome.revision == 0
    assert outcome.object.metadata.resource_version == made.metadata.resource_version
    assert await place.revision() == before


async def test_a_refusal_of_something_old_is_not_believed(place: Place) -> None:
    await place.objects.create(KEY, gadget("bad"))
    await place.lag()
    await put(place.others, "good")

    def choosy(current: Gadget) -> Intent[Gadget]:
        if current.spec.model == "bad":
            raise BadRequest("bad")
        return model("better")(current)

    outcome = await place.objects.change(KEY, changed(choosy)[0])

    assert outcome.object.spec.model == "better"


async def test_a_refusal_is_raised_once_the_store_confirms_it(place: Place) -> None:
    await place.objects.create(KEY, gadget())
    await place.lag()

    def never(current: Gadget) -> Intent[Gadget]:
        raise BadRequest("never")

    change, seen = changed(never)
    with pytest.raises(BadRequest, match="never"):
        await place.objects.change(KEY, change)

    assert seen == ["a1"]
    assert place.gets == 1


async def test_the_store_is_asked_only_once_for_confirmation(place: Place) -> None:
    await place.objects.create(KEY, gadget())
    await place.lag()
    await put(place.others, "b2")

    def never(current: Gadget) -> Intent[Gadget]:
        raise BadRequest("never")

    change, seen = changed(never)
    with pytest.raises(BadRequest, match="never"):
        await place.objects.change(KEY, change)

    assert seen == ["a1", "b2"]
    assert place.gets == 1


async def test_what_the_cache_does_not_know_is_read(place: Place) -> None:
    await place.lag()
    await place.others.create(KEY, gadget())

    outcome = await place.objects.change(KEY, changed(model("b2"))[0])

    assert outcome.object.spec.model == "b2"
    assert not outcome.created


async def test_a_change_may_create(place: Place) -> None:
    async def change(current: Gadget | None) -> Intent[Gadget]:
        assert current is None
        return Put(gadget())

    outcome = await place.objects.change(KEY, change)

    assert outcome.created
    assert outcome.object.metadata.resource_version == str(await place.revision())


async def test_a_change_that_creates_may_come_second(place: Place) -> None:
    async def change(current: Gadget | None) -> Intent[Gadget]:
        if current is None:
            await place.others.create(KEY, gadget("first"))
            return Put(gadget("second"))
        return model(current.spec.model + "!")(current)

    outcome = await place.objects.change(KEY, change)

    assert not outcome.created
    assert outcome.object.spec.model == "first!"


async def test_a_change_may_remove(place: Place) -> None:
    await place.objects.create(KEY, gadget())

    outcome = await place.objects.change(KEY, changed(Remove)[0])

    assert outcome.removed
    assert outcome.revision == await place.revision()
    assert await place.objects.get(KEY) is None


async def test_only_the_state_that_was_seen_is_removed(place: Place) -> None:
    await place.objects.create(KEY, gadget())
    await place.lag()
    await put(place.others, "precious")

    def unless_precious(current: Gadget) -> Intent[Gadget]:
        return Keep(current) if current.spec.model == "precious" else Remove(current)

    change, seen = changed(unless_precious)
    outcome = await place.objects.change(KEY, change)

    assert seen == ["a1", "precious"]
    assert not outcome.removed


async def test_to_keep_something_the_store_must_have_it(place: Place) -> None:
    await place.objects.create(KEY, gadget())
    await place.lag()
    await put(place.others, "b2")

    change, seen = changed(Keep)
    outcome = await place.objects.change(KEY, change)

    assert seen == ["a1", "b2"]
    assert outcome.object.spec.model == "b2"
    assert outcome.revision == 0


async def test_an_object_may_vanish_while_it_is_changed(place: Place) -> None:
    await place.objects.create(KEY, gadget())
    await place.lag()
    await place.others.change(KEY, changed(Remove)[0])

    async def change(current: Gadget | None) -> Intent[Gadget]:
        if current is None:
            raise BadRequest("gone")
        return model("b2")(current)

    with pytest.raises(BadRequest, match="gone"):
        await place.objects.change(KEY, change)


async def test_a_dry_run_writes_nothing_and_asks_the_store(place: Place) -> None:
    await place.objects.create(KEY, gadget())
    await place.lag()
    await put(place.others, "b2")
    newest = await place.revision()

    tried = await place.objects.change(
        KEY, changed(lambda current: model(current.spec.model + "!")(current))[0], dry_run=True
    )
    removed = await place.objects.change(KEY, changed(Remove)[0], dry_run=True)

    assert tried.object.spec.model == "b2!"
    assert tried.object.metadata.resource_version == str(newest)
    assert removed.removed
    assert await place.revision() == newest


async def test_no_change_is_lost_among_many(place: Place) -> None:
    await place.objects.create(KEY, gadget(""))

    async def add(letter: str) -> None:
        def make(current: Gadget) -> Intent[Gadget]:
            return model(current.spec.model + letter)(current)

        await place.objects.change(KEY, changed(make)[0])

    await asyncio.gather(*(add(letter) for letter in "abcdefghij"))

    stored = await place.objects.get(KEY)
    assert stored is not None
    assert sorted(stored.spec.model) == list("abcdefghij")


async def test_what_is_stored_can_be_unreadable(place: Place) -> None:
    await place.board.create(KEY, b"nonsense")

    with pytest.raises(Unreadable, match="gadgets/default/lamp' cannot be read"):
        await place.objects.get(KEY)
    with pytest.raises(Unreadable):
        await place.objects.change(KEY, changed(Remove)[0])


async def test_objects_are_listed_as_they_were(place: Place) -> None:
    made = (await place.objects.create(KEY, gadget("a1"))).object
    await put(place.objects, "b2")

    now, _ = await place.objects.list(EntrySelection())
    then, listing = await place.objects.list(
        EntrySelection(), at=Exact(int(made.metadata.resource_version))
    )

    assert [each.spec.model for each in now] == ["b2"]
    assert [each.spec.model for each in then] == ["a1"]
    assert listing.revision == int(made.metadata.resource_version)


def test_preconditions_that_hold_say_nothing() -> None:
    obj = gadget()
    obj.metadata.uid, obj.metadata.resource_version = "u", "5"

    check_preconditions(KEY, obj, Preconditions())
    check_preconditions(KEY, obj, Preconditions(uid="u", resource_version="5"))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Preconditions(uid="x"), "UID in precondition: x, UID in object meta: "),
        (
            Preconditions(resource_version="4"),
            "ResourceVersion in precondition: 4, ResourceVersion in object meta: ",
        ),
    ],
)
def test_preconditions_that_do_not_hold_are_told(wanted: Preconditions, message: str) -> None:
    with pytest.raises(PreconditionFailed) as caught:
        check_preconditions(KEY, None, wanted)

    assert str(caught.value) == (
        f"StorageError: invalid object, Code: 4, Key: {KEY}, ResourceVersion: 0,"
        f" AdditionalErrorMsg: Precondition failed: {message}"
    )
