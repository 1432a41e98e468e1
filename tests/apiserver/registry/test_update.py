"""What becomes of a stored object that somebody changes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from apimachinery.errors import APIError, BadRequest, Conflict, Invalid, NotFound
from apimachinery.meta.options import UpdateOptions
from apimachinery.meta.types import ManagedFieldsEntry, Object, OwnerReference
from apiserver.admission.chain import Attributes, Chain
from apiserver.context import RequestContext
from apiserver.managed_fields.ownership import Untracked
from apiserver.registry.object_update import Change, replacement
from apiserver.storage.cache.entry import EntrySelection
from tests.apiserver.registry.world import (
    NOTE_RESOURCE,
    Note,
    NoteSpec,
    NoteStatus,
    NoteStrategy,
    Shelf,
    World,
    context,
    gadget,
    note,
    put,
    revision,
    shelf,
    world,
)

MODIFIED = (
    'Operation cannot be fulfilled on notes.notes.example.io "a": the object has been modified;'
    " please apply your changes to the latest version and try again"
)


def updating(name: str = "a", subresource: str = "", *, dry_run: bool = False) -> RequestContext:
    return context("update", name=name, subresource=subresource, dry_run=dry_run)


def saying(text: str) -> Callable[[Note], Note]:
    """A change as a patch makes it: of whatever is there, with its resourceVersion."""

    def change(current: Note) -> Note:
        new = current.deep_copy()
        new.spec.text = text
        return new

    return change


async def edit(here: World, change: Change[Note]) -> Note:
    changed, created = await here.notes.update("a", change, updating())
    assert not created
    return changed


async def test_an_update_changes_the_object_and_its_version(here: World) -> None:
    [before] = await put(here, note("a", text="one"))

    after = await edit(here, saying("two"))

    assert after.spec.text == "two"
    assert int(after.metadata.resource_version) > int(before.metadata.resource_version)
    assert await here.notes.read("a", namespace="default") == after


async def test_what_does_not_exist_cannot_be_updated(here: World) -> None:
    with pytest.raises(NotFound) as caught:
        await here.notes.update("a", saying("x"), updating())

    assert str(caught.value) == 'notes.notes.example.io "a" not found'


async def test_a_change_of_the_desired_state_raises_the_generation(here: World) -> None:
    await put(here, note("a", text="one"))

    assert (await edit(here, saying("two"))).metadata.generation == 2
    assert (await edit(here, saying("three"))).metadata.generation == 3


async def test_a_change_of_metadata_does_not_raise_the_generation(here: World) -> None:
    await put(here, note("a"))

    def label(current: Note) -> Note:
        new = current.deep_copy()
        new.metadata.labels = {"x": "y"}
        return new

    assert (await edit(here, label)).metadata.generation == 1


class Tagging(NoteStrategy):
    def desired_state(self, obj: Note) -> object:
        return {"tags": [] if obj.spec.pinned else None}


async def test_what_means_the_same_does_not_raise_the_generation(here: World) -> None:
    await put(here, note("a"))

    def pin(current: Note) -> Note:
        new = current.deep_copy()
        new.spec.pinned = True
        return new

    changed, _ = await here.notes.using(Tagging()).update("a", pin, updating())

    assert changed.metadata.generation == 1


async def test_a_client_cannot_choose_the_generation(here: World) -> None:
    await put(here, note("a"))

    changed = await edit(here, replacement(note("a", text="x", generation=50)))

    assert changed.metadata.generation == 2


async def test_system_fields_are_restored(here: World) -> None:
    [before] = await put(here, note("a"))
    later = here.clock.at + timedelta(days=1)

    changed = await edit(
        here, replacement(note("a", text="x", creation_timestamp=later, self_link="/x"))
    )

    assert changed.metadata.creation_timestamp == before.metadata.creation_timestamp
    assert changed.metadata.uid == before.metadata.uid
    assert changed.metadata.self_link == ""


async def test_a_deletion_cannot_be_made_up(here: World) -> None:
    await put(here, note("a"))

    with pytest.raises(Invalid) as caught:
        await edit(here, replacement(note("a", deletion_timestamp=here.clock.at)))

    assert [cause.field for cause in caught.value.causes] == ["metadata.deletionTimestamp"]


async def test_a_deletion_cannot_be_taken_back(here: World) -> None:
    await put(here, note("a", finalizers=["example.com/x"]))
    await here.notes.delete("a", None, context("delete", name="a"))

    changed = await edit(here, replacement(note("a", finalizers=["example.com/x"])))

    assert changed.metadata.deletion_timestamp == here.clock.at
    assert changed.metadata.deletion_grace_period_seconds == 0


async def test_the_version_named_must_be_the_current_one(here: World) -> None:
    [before] = await put(here, note("a"))
    await edit(here, saying("meanwhile"))

    with pytest.raises(Conflict) as caught:
        await edit(here, replacement(before))

    assert str(caught.value) == MODIFIED
    assert caught.value.details is not None
    assert caught.value.details.kind == "notes"


async def test_the_current_version_may_be_named(here: World) -> None:
    [before] = await put(here, note("a"))
    before.spec.text = "changed"

    assert (await edit(here, replacement(before))).spec.text == "changed"


async def test_a_version_that_is_no_number_is_refused(here: World) -> None:
    await put(here, note("a"))

    with pytest.raises(BadRequest) as caught:
        await edit(here, replacement(note("a", resource_version="abc")))

    assert str(caught.value) == 'strconv.ParseUint: parsing "abc": invalid syntax'


async def test_a_number_too_large_is_refused(here: World) -> None:
    await put(here, note("a"))
    version = str(2**64)

    with pytest.raises(BadRequest) as caught:
        await edit(here, replacement(note("a", resource_version=version)))

    assert str(caught.value) == f'strconv.ParseUint: parsing "{version}": value out of range'


@pytest.mark.parametrize("version", ["", "0"])
async def test_without_a_version_whatever_there_is_is_replaced(here: World, version: str) -> None:
    await put(here, note("a"))

    changed = await edit(here, replacement(note("a", text="new", resource_version=version)))

    assert changed.spec.text == "new"


async def test_some_kinds_insist_on_a_version(here: World) -> None:
    await here.gadgets.create(gadget("lamp"), context(resource="gadgets"))

    with pytest.raises(Invalid) as caught:
        await here.gadgets.update("lamp", replacement(gadget("lamp")), updating("lamp"))

    assert str(caught.value) == (
        'gadgets.gadgets.example.io "lamp" is invalid: metadata.resourceVersion: Invalid value: 0:'
        " must be specified for an update"
    )


async def test_whoever_names_no_version_gets_another_try(here: World) -> None:
    await put(here, note("a"))
    tries = count()

    def slow(current: Note) -> Note:
        next(tries)
        return saying(current.spec.text + "!")(current)

    async def be_faster(attributes: Attributes) -> None:
        if attributes.user.name == "alice" and next(tries) == 1:
            other = replace(updating(), user=replace(attributes.user, name="bob"))
            await here.notes.update("a", saying("bob was here"), other)

    here.notes.rules = replace(here.notes.rules, admission=Chain(mutating=[be_faster]))

    changed, _ = await here.notes.update("a", slow, updating())

    assert changed.spec.text == "bob was here!"


async def test_whoever_names_a_version_gets_no_other_try(here: World) -> None:
    [before] = await put(here, note("a"))
    asked: list[str] = []

    async def be_faster(attributes: Attributes) -> None:
        asked.append(attributes.user.name)
        if attributes.user.name == "alice":
            other = replace(updating(), user=replace(attributes.user, name="bob"))
            await here.notes.update("a", saying("bob was here"), other)

    here.notes.rules = replace(here.notes.rules, admission=Chain(mutating=[be_faster]))
    before.spec.text = "mine"

    with pytest.raises(Conflict):
        await edit(here, replacement(before))

    assert asked == ["alice", "bob"]
    assert (await here.notes.read("a", namespace="default")).spec.text == "bob was here"


async def test_a_write_that_changes_nothing_is_not_made(here: World) -> None:
    [before] = await put(here, note("a", text="one"))
    newest = await revision(here)

    after = await edit(here, replacement(note("a", text="one")))

    assert after.metadata.resource_version == before.metadata.resource_version
    assert await revision(here) == newest


class Stamps(Untracked):
    """Tracks ownership with a later time at each write."""

    def __init__(self) -> None:
        self.hours = count()

    def track(self, context: RequestContext, old: Object | None, new: Object) -> None:
        time = datetime(2030, 1, 1, next(self.hours), tzinfo=UTC)
        new.metadata.managed_fields = [
            ManagedFieldsEntry(manager="m", operation="Update", api_version="v1", time=time)
        ]


async def test_a_later_time_in_managed_fields_is_no_change() -> None:
    async with world(ownership=Stamps()) as here:
        [before] = await put(here, note("a", text="one"))

        same = await edit(here, saying("one"))
        other = await edit(here, saying("two"))

    assert same.metadata.resource_version == before.metadata.resource_version
    assert same.metadata.managed_fields == before.metadata.managed_fields
    assert other.metadata.managed_fields[0].time == datetime(2030, 1, 1, 2, tzinfo=UTC)


async def test_the_status_is_not_written_by_the_way(here: World) -> None:
    await put(here, note("a"))

    def both(current: Note) -> Note:
        new = saying("new")(current)
        new.status = NoteStatus(readers=5)
        return new

    changed = await edit(here, both)

    assert changed.spec.text == "new"
    assert changed.status == NoteStatus()


async def test_a_status_update_writes_the_status_and_nothing_else(here: World) -> None:
    [before] = await put(here, note("a", text="one", labels={"x": "y"}))

    def everything(current: Note) -> Note:
        new = current.deep_copy()
        new.spec = NoteSpec(text="two")
        new.status = NoteStatus(readers=5)
        new.metadata.labels = {}
        new.metadata.finalizers = ["example.com/x"]
        new.metadata.generation = 9
        new.metadata.managed_fields = [ManagedFieldsEntry(manager="m", operation="Update")]
        return new

    changed, _ = await here.notes.update("a", everything, updating(subresource="status"))

    assert changed.status.readers == 5
    assert changed.spec == before.spec
    expected = before.metadata.deep_copy()
    expected.managed_fields = [ManagedFieldsEntry(manager="m", operation="Update")]
    expected.resource_version = changed.metadata.resource_version
    assert changed.metadata == expected


async def test_a_status_update_minds_the_version(here: World) -> None:
    [before] = await put(here, note("a"))
    await edit(here, saying("meanwhile"))

    with pytest.raises(Conflict):
        await here.notes.update("a", replacement(before), updating(), subresource="status")


async def test_a_status_update_is_validated_by_its_own_rule(here: World) -> None:
    await put(here, note("a"))

    def negative(current: Note) -> Note:
        new = current.deep_copy()
        new.status = NoteStatus(readers=-1)
        return new

    with pytest.raises(Invalid) as caught:
        await here.notes.update("a", negative, updating(subresource="status"))

    assert [cause.field for cause in caught.value.causes] == ["status.readers"]


async def test_the_name_must_be_that_of_the_url(here: World) -> None:
    await put(here, note("a"))

    with pytest.raises(BadRequest) as caught:
        await edit(here, replacement(note("b")))

    assert str(caught.value) == (
        "the name of the object (b) does not match the name on the URL (a)"
    )


async def test_the_name_must_be_there(here: World) -> None:
    await put(here, note("a"))

    with pytest.raises(BadRequest) as caught:
        await edit(here, replacement(note()))

    assert str(caught.value) == (
        "the name of the object (a based on URL) was undeterminable: name must be provided"
    )


async def test_the_namespace_must_be_that_of_the_url(here: World) -> None:
    await put(here, note("a"))

    with pytest.raises(BadRequest) as caught:
        await edit(here, replacement(note("a", namespace="other")))

    assert str(caught.value) == (
        "the namespace of the provided object does not match the namespace sent on the request"
    )


async def test_the_uid_must_be_that_of_the_object(here: World) -> None:
    [before] = await put(here, note("a"))

    with pytest.raises(Conflict) as caught:
        await here.notes.update("a", saying("x"), updating(), uid="other")

    assert str(caught.value) == (
        'Operation cannot be fulfilled on notes.notes.example.io "a": StorageError: invalid object,'
        " Code: 4, Key: /registry/notes.example.io/notes/default/a, ResourceVersion: 0,"
        " AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta:"
        f" {before.metadata.uid}"
    )


async def test_a_uid_is_not_that_of_an_object_that_is_missing(here: World) -> None:
    with pytest.raises(Conflict) as caught:
        await here.notes.update("a", saying("x"), updating(), uid="other")

    assert str(caught.value).endswith("UID in precondition: other, UID in object meta: ")


async def test_a_patch_cannot_change_the_uid(here: World) -> None:
    await put(here, note("a"))

    def other(current: Note) -> Note:
        new = current.deep_copy()
        new.metadata.uid = "other"
        return new

    with pytest.raises(Invalid) as caught:
        await edit(here, other)

    assert 'metadata.uid: Invalid value: "other": field is immutable' in str(caught.value)


async def new_shelf() -> Shelf:
    return shelf("s", {"a": "b"})


def unused(current: Shelf) -> Shelf:
    raise AssertionError("there is nothing to change")


async def test_an_update_may_create(here: World) -> None:
    request = context("update", namespace="", name="s")

    made, created = await here.shelves.update("s", unused, request, create_if_missing=new_shelf)

    assert created
    assert made.metadata.uid
    assert made.metadata.resource_version == str(await revision(here))


async def test_an_update_that_could_create_does_not_have_to(here: World) -> None:
    await here.shelves.create(shelf("s"), context(namespace=""))
    request = context("update", namespace="", name="s")

    changed, created = await here.shelves.update(
        "s", replacement(shelf("s", {"c": "d"})), request, create_if_missing=new_shelf
    )

    assert not created
    assert changed.books == {"c": "d"}


async def test_what_is_created_by_an_update_cannot_have_a_uid(here: World) -> None:
    async def known() -> Shelf:
        return shelf("s", uid="u")

    with pytest.raises(Conflict) as caught:
        await here.shelves.update(
            "s", unused, context("update", namespace="", name="s"), create_if_missing=known
        )

    assert str(caught.value) == (
        'Operation cannot be fulfilled on shelves.notes.example.io "s": uid mismatch: the provided'
        " object specified uid u, and no existing object was found"
    )


async def test_two_updates_that_create_make_one_object(here: World) -> None:
    """Whoever comes second updates what the first has made."""

    async def overtaken() -> Shelf:
        await here.shelves.create(shelf("s", {"first": "1"}), context(namespace=""))
        return shelf("s")

    def add(current: Shelf) -> Shelf:
        new = current.deep_copy()
        new.books["second"] = "2"
        return new

    changed, created = await here.shelves.update(
        "s", add, context("update", namespace="", name="s"), create_if_missing=overtaken
    )

    assert not created
    assert changed.books == {"first": "1", "second": "2"}


async def test_admission_sees_a_creation_as_one() -> None:
    seen: list[str] = []

    def notice(attributes: Attributes) -> None:
        seen.append(str(attributes.operation))

    async with world(admission=Chain(mutating=[notice], validating=[notice])) as here:
        request = context("update", resource="shelves", namespace="", name="s")
        await here.shelves.update("s", unused, request, create_if_missing=new_shelf)
        await here.shelves.update("s", replacement(shelf("s")), request)

    assert seen == ["CREATE", "CREATE", "UPDATE", "UPDATE"]


async def test_admission_sees_the_old_object_and_the_new() -> None:
    seen: list[tuple[str, str]] = []

    def notice(attributes: Attributes) -> None:
        if isinstance(attributes.old_object, Note) and isinstance(attributes.object, Note):
            seen.append((attributes.old_object.spec.text, attributes.object.spec.text))

    async with world(admission=Chain(mutating=[notice], validating=[notice])) as here:
        await put(here, note("a", text="one"))
        await edit(here, saying(" two "))

    assert seen == [("one", " two "), ("one", "two")]


async def test_the_last_finalizer_to_go_takes_the_object_with_it(here: World) -> None:
    await put(here, note("a", finalizers=["example.com/x"]))
    marked, _ = await here.notes.delete("a", None, context("delete", name="a"))

    freed = await edit(here, replacement(note("a")))

    assert freed.metadata.finalizers == []
    assert freed.metadata.resource_version == marked.metadata.resource_version
    with pytest.raises(NotFound):
        await here.notes.get("a", namespace="default")


async def test_a_finalizer_that_stays_keeps_the_object(here: World) -> None:
    await put(here, note("a", finalizers=["example.com/x", "example.com/y"]))
    await here.notes.delete("a", None, context("delete", name="a"))

    await edit(here, replacement(note("a", finalizers=["example.com/y"])))

    kept = await here.notes.read("a", namespace="default")
    assert kept.metadata.finalizers == ["example.com/y"]


async def test_an_object_with_grace_left_stays(here: World) -> None:
    await put(here, note("a", grace=30, finalizers=["example.com/x"]))
    await here.notes.delete("a", None, context("delete", name="a"))

    await edit(here, replacement(note("a", grace=30)))

    kept = await here.notes.read("a", namespace="default")
    assert kept.metadata.deletion_grace_period_seconds == 30


async def test_an_object_that_may_not_be_removed_stays(here: World) -> None:
    await here.shelves.create(
        shelf("s", {"precious": "1"}, finalizers=["example.com/x"]), context(namespace="")
    )
    request = context("update", namespace="", name="s")
    await here.shelves.delete("s", None, request)

    await here.shelves.update("s", replacement(shelf("s", {"precious": "1"})), request)
    assert (await here.shelves.read("s")).metadata.finalizers == []
    await here.shelves.update("s", replacement(shelf("s")), request)

    with pytest.raises(NotFound):
        await here.shelves.get("s")


async def test_no_finalizer_can_be_added_to_what_is_going(here: World) -> None:
    await put(here, note("a", finalizers=["example.com/x"]))
    await here.notes.delete("a", None, context("delete", name="a"))

    with pytest.raises(Invalid) as caught:
        await edit(here, replacement(note("a", finalizers=["example.com/x", "example.com/y"])))

    assert "metadata.finalizers: Forbidden: no new finalizers can be added" in str(caught.value)


async def test_a_dry_run_changes_nothing(here: World) -> None:
    [before] = await put(here, note("a", text="one"))

    tried, _ = await here.notes.update("a", saying("two"), updating(dry_run=True))

    assert tried.spec.text == "two"
    assert tried.metadata.generation == 2
    assert tried.metadata.resource_version == before.metadata.resource_version
    assert await here.notes.read("a", namespace="default") == before


async def test_a_dry_run_that_creates_stores_nothing(here: World) -> None:
    request = context("update", namespace="", name="s")

    made, created = await here.shelves.update(
        "s", unused, request, UpdateOptions(dry_run=["All"]), create_if_missing=new_shelf
    )

    assert created
    assert made.metadata.resource_version == ""
    assert (await here.shelves.list(EntrySelection())).entries == []


async def test_an_update_sets_the_time_to_live_again() -> None:
    short = replace(NOTE_RESOURCE, ttl=lambda obj: 60)
    lives: list[int | None] = []

    async with world(note_resource=short) as here:
        await put(here, note("a"))
        update = here.backend.update

        async def noticing(key: str, value: bytes, **options: Any) -> int:
            lives.append(options["ttl"])
            return await update(key, value, **options)

        here.backend.update = noticing  # type: ignore[method-assign]
        await edit(here, saying("x"))

    assert lives == [60]


async def test_an_update_is_validated_and_warned_of(here: World) -> None:
    await put(here, note("a"))
    request = updating()

    await here.notes.update("a", saying("LOUD"), request)
    with pytest.raises(Invalid):
        await here.notes.update("a", saying("bad"), request)

    assert request.warnings == ["shouting"]


async def test_an_update_of_the_status_is_not_warned_of(here: World) -> None:
    await put(here, note("a", text="LOUD"))
    request = updating(subresource="status")

    await here.notes.update("a", saying("LOUD"), request)

    assert request.warnings == []


async def test_repeated_owners_are_dropped(here: World) -> None:
    owner = OwnerReference(api_version="v1", kind="Pod", name="p", uid="u1")
    await put(here, note("a"))

    changed = await edit(here, replacement(note("a", owner_references=[owner, owner.deep_copy()])))

    assert changed.metadata.owner_references == [owner]


async def test_an_error_of_the_change_is_the_answer(here: World) -> None:
    await put(here, note("a"))

    def refuse(current: Note) -> Note:
        raise BadRequest("no such patch")

    with pytest.raises(APIError, match="no such patch"):
        await edit(here, refuse)


@pytest.mark.parametrize(
    ("name", "namespace", "message"),
    [
        ("a/b", "default", "Name parameter invalid: \"a/b\": may not contain '/'"),
        ("", "default", "Name parameter required."),
        ("a", "", "Namespace parameter required."),
        ("a", "x/y", "Namespace parameter invalid: \"x/y\": may not contain '/'"),
    ],
)
async def test_a_place_where_no_object_can_be(
    here: World, name: str, namespace: str, message: str
) -> None:
    with pytest.raises(BadRequest) as written:
        await here.notes.update(name, saying("x"), context("update", namespace=namespace))
    with pytest.raises(BadRequest) as read:
        await here.notes.get(name, namespace=namespace)

    assert str(written.value) == str(read.value) == message
