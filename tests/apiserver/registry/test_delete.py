"""Deleting: at once, in good time, or not before others have acted."""

from dataclasses import replace
from datetime import timedelta

import pytest

from apimachinery.errors import Conflict, Forbidden, NotFound
from apimachinery.meta.options import DeleteOptions, ListOptions
from apimachinery.meta.types import Preconditions
from apiserver.admission.chain import Attributes, Chain
from apiserver.context import RequestContext
from apiserver.registry.deletion import plan_deletion
from apiserver.registry.strategy import Strategy
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.objects import Put
from tests.apiserver.registry.world import (
    NOTE_FORM,
    NOTE_RESOURCE,
    Note,
    NoteStrategy,
    World,
    context,
    document,
    note,
    put,
    revision,
    shelf,
    world,
)


def deleting(
    name: str = "a", namespace: str = "default", *, dry_run: bool = False
) -> RequestContext:
    return context("delete", name=name, namespace=namespace, dry_run=dry_run)


async def delete(here: World, **options: object) -> tuple[Note, bool]:
    return await here.notes.delete("a", DeleteOptions.model_validate(options), deleting())


async def test_an_object_nobody_holds_goes_at_once(here: World) -> None:
    await put(here, note("a", text="x"))

    removed, gone = await here.notes.delete("a", None, deleting())

    assert gone
    assert removed.spec.text == "x"
    assert removed.metadata.resource_version == str(await revision(here))
    with pytest.raises(NotFound):
        await here.notes.get("a", namespace="default")


async def test_what_does_not_exist_cannot_be_deleted(here: World) -> None:
    with pytest.raises(NotFound) as caught:
        await delete(here)

    assert str(caught.value) == 'notes.notes.example.io "a" not found'


async def test_a_finalizer_holds_the_object(here: World) -> None:
    await put(here, note("a", finalizers=["example.com/x"]))

    marked, gone = await delete(here)

    assert not gone
    assert marked.metadata.deletion_timestamp == here.clock.at
    assert marked.metadata.deletion_grace_period_seconds == 0
    assert marked.metadata.generation == 2
    assert await here.notes.read("a", namespace="default") == marked


async def test_a_second_deletion_changes_nothing(here: World) -> None:
    await put(here, note("a", finalizers=["example.com/x"]))
    first, _ = await delete(here)
    here.clock.at += timedelta(minutes=1)

    second, gone = await delete(here)

    assert not gone
    assert second == first


@pytest.mark.parametrize(
    ("options", "finalizers"),
    [
        ({"propagation_policy": "Orphan"}, ["orphan"]),
        ({"propagation_policy": "Foreground"}, ["foregroundDeletion"]),
        ({"orphan_dependents": True}, ["orphan"]),
    ],
)
async def test_dependents_hold_the_object(
    here: World, options: dict[str, object], finalizers: list[str]
) -> None:
    await put(here, note("a"))

    marked, gone = await delete(here, **options)

    assert not gone
    assert marked.metadata.finalizers == finalizers
    assert marked.metadata.deletion_timestamp == here.clock.at


@pytest.mark.parametrize(
    "options", [{}, {"propagation_policy": "Background"}, {"orphan_dependents": False}]
)
async def test_dependents_that_go_in_the_background_hold_nothing(
    here: World, options: dict[str, object]
) -> None:
    await put(here, note("a"))

    _, gone = await delete(here, **options)

    assert gone


@pytest.mark.parametrize(
    ("options", "warnings"), [({}, ["readers stay"]), ({"propagation_policy": "Orphan"}, [])]
)
async def test_a_kind_can_warn_of_deletions_that_do_not_say_what_becomes_of_dependents(
    options: dict[str, object], warnings: list[str]
) -> None:
    class Kept(NoteStrategy):
        deletion_warning = "readers stay"

    async with world(note_resource=replace(NOTE_RESOURCE, strategy=Kept())) as here:
        await put(here, note("a"))
        request = deleting()

        await here.notes.delete("a", DeleteOptions.model_validate(options), request)

    assert request.warnings == warnings


async def test_the_warning_does_not_depend_on_the_object() -> None:
    class Kept(NoteStrategy):
        deletion_warning = "readers stay"

    async with world(note_resource=replace(NOTE_RESOURCE, strategy=Kept())) as here:
        single, collection = deleting(), deleting()

        with pytest.raises(NotFound):
            await here.notes.delete("missing", None, single)
        await here.notes.delete_collection(EntrySelection(namespace="default"), None, collection)

    assert single.warnings == collection.warnings == ["readers stay"]


async def test_the_policy_of_a_second_deletion_replaces_that_of_the_first(here: World) -> None:
    await put(here, note("a", finalizers=["example.com/x"]))
    await delete(here, propagation_policy="Orphan")

    second, _ = await delete(here, propagation_policy="Foreground")
    third, _ = await delete(here, propagation_policy="Background")

    assert second.metadata.finalizers == ["example.com/x", "foregroundDeletion"]
    assert third.metadata.finalizers == ["example.com/x"]


@pytest.mark.parametrize("finalizer", ["orphan", "foregroundDeletion"])
async def test_a_policy_in_the_object_counts_if_none_is_asked_for(
    here: World, finalizer: str
) -> None:
    await put(here, note("a", finalizers=[finalizer]))

    marked, gone = await delete(here)

    assert not gone
    assert marked.metadata.finalizers == [finalizer]


class Orphaning(NoteStrategy):
    orphans_by_default = True


async def test_a_kind_may_orphan_by_default(here: World) -> None:
    await put(here, note("a"))

    marked, _ = await here.notes.using(Orphaning()).delete("a", None, deleting())

    assert marked.metadata.finalizers == ["orphan"]


async def test_a_kind_without_garbage_collection_ignores_the_policy(here: World) -> None:
    await here.shelves.create(shelf("s"), context(namespace=""))

    _, gone = await here.shelves.delete(
        "s", DeleteOptions(propagation_policy="Foreground"), deleting("s", "")
    )

    assert gone


async def test_grace_delays_the_end(here: World) -> None:
    await put(here, note("a", grace=30))

    marked, gone = await delete(here)

    assert not gone
    assert marked.metadata.deletion_timestamp == here.clock.at + timedelta(seconds=30)
    assert marked.metadata.deletion_grace_period_seconds == 30
    assert marked.metadata.generation == 2


async def test_grace_can_only_get_shorter(here: World) -> None:
    await put(here, note("a", grace=30))
    first, _ = await delete(here)

    longer, _ = await delete(here, grace_period_seconds=60)
    unsaid, _ = await delete(here)
    shorter, gone = await delete(here, grace_period_seconds=10)

    assert longer == unsaid == first
    assert not gone
    assert shorter.metadata.deletion_timestamp == here.clock.at + timedelta(seconds=10)
    assert shorter.metadata.deletion_grace_period_seconds == 10
    assert shorter.metadata.generation == 2


async def test_no_grace_is_the_end(here: World) -> None:
    await put(here, note("a", grace=30), note("b", grace=30))
    await delete(here)

    _, after_grace = await delete(here, grace_period_seconds=0)
    _, at_once = await here.notes.delete("b", DeleteOptions(grace_period_seconds=0), deleting("b"))

    assert (after_grace, at_once) == (True, True)


async def test_negative_grace_is_a_second(here: World) -> None:
    await put(here, note("a", grace=30))

    marked, gone = await delete(here, grace_period_seconds=-5)

    assert not gone
    assert marked.metadata.deletion_grace_period_seconds == 1


async def test_finalizers_hold_longer_than_grace(here: World) -> None:
    await put(here, note("a", grace=30, finalizers=["example.com/x"]))
    await delete(here)

    marked, gone = await delete(here, grace_period_seconds=0)

    assert not gone
    assert marked.metadata.deletion_grace_period_seconds == 0


def test_a_deletion_without_grace_does_not_lie_in_the_future(here: World) -> None:
    now = here.clock.at
    going = note("a", finalizers=["example.com/x"], deletion_timestamp=now + timedelta(seconds=30))

    intent = plan_deletion(NoteStrategy(), going, DeleteOptions(), now=now)

    assert isinstance(intent, Put)
    assert intent.object.metadata.deletion_timestamp == now


async def test_an_object_that_may_not_be_removed_yet_is_marked(here: World) -> None:
    await here.shelves.create(shelf("s", {"precious": "1"}), context(namespace=""))

    marked, gone = await here.shelves.delete("s", None, deleting("s", ""))

    assert not gone
    assert marked.metadata.deletion_timestamp == here.clock.at
    assert marked.metadata.generation == 0


class Farewell(Strategy[Note]):
    def may_be_removed(self, obj: Note) -> bool:
        return False

    def prepare_for_deletion(self, obj: Note) -> None:
        obj.status.readers = -1


async def test_a_strategy_may_show_that_an_object_is_going(here: World) -> None:
    await put(here, note("a"))

    marked, _ = await here.notes.using(Farewell()).delete("a", None, deleting())

    assert marked.status.readers == -1


async def test_the_uid_must_be_the_one_meant(here: World) -> None:
    [made] = await put(here, note("a"))

    with pytest.raises(Conflict) as caught:
        await delete(here, preconditions=Preconditions(uid="other"))

    assert str(caught.value) == (
        'Operation cannot be fulfilled on Note.notes.example.io "a": the UID in the precondition'
        f" (other) does not match the UID in record ({made.metadata.uid}). The object might have"
        " been deleted and then recreated"
    )
    assert caught.value.details is not None
    assert caught.value.details.kind == "Note"


async def test_the_version_must_be_the_one_meant(here: World) -> None:
    [made] = await put(here, note("a"))
    version = made.metadata.resource_version

    with pytest.raises(Conflict) as caught:
        await delete(here, preconditions=Preconditions(resource_version="1"))

    assert str(caught.value) == (
        'Operation cannot be fulfilled on Note.notes.example.io "a": the ResourceVersion in the'
        f" precondition (1) does not match the ResourceVersion in record ({version}). The object"
        " might have been modified"
    )


async def test_preconditions_that_hold_do_not_matter(here: World) -> None:
    [made] = await put(here, note("a"))
    meta = made.metadata

    _, gone = await delete(
        here, preconditions=Preconditions(uid=meta.uid, resource_version=meta.resource_version)
    )

    assert gone


async def test_a_dry_run_leaves_everything_as_it_is(here: World) -> None:
    [plain, held] = await put(here, note("a"), note("b", finalizers=["example.com/x"]))

    shown, gone = await here.notes.delete("a", None, deleting(dry_run=True))
    marked, held_gone = await here.notes.delete("b", DeleteOptions(dry_run=["All"]), deleting("b"))

    assert (gone, shown) == (True, plain)
    assert not held_gone
    assert marked.metadata.deletion_timestamp == here.clock.at
    assert marked.metadata.resource_version == held.metadata.resource_version
    assert await here.notes.read("b", namespace="default") == held


async def test_admission_is_asked_about_the_old_object() -> None:
    seen: list[str] = []

    def notice(attributes: Attributes) -> None:
        old = attributes.old_object
        if attributes.object is None and old is not None:
            seen.append(f"{attributes.operation} {old.metadata.name}")

    async with world(admission=Chain(mutating=[notice], validating=[notice])) as here:
        await put(here, note("a"))
        await delete(here)

    assert seen == ["DELETE a", "DELETE a"]


async def test_admission_may_refuse() -> None:
    def refuse(attributes: Attributes) -> None:
        if attributes.operation == "DELETE":
            raise attributes.forbidden("it is needed")

    async with world(admission=Chain(validating=[refuse])) as here:
        await put(here, note("a"))
        with pytest.raises(Forbidden) as caught:
            await delete(here)
        await here.notes.get("a", namespace="default")

    assert str(caught.value) == 'notes.notes.example.io "a" is forbidden: it is needed'


async def test_a_deletion_decides_by_the_newest_state(here: World) -> None:
    """A finalizer that is added while admission thinks about it holds the object."""
    await put(here, note("a"))

    async def be_faster(attributes: Attributes) -> None:
        if attributes.user.name != "alice":
            return

        def hold(current: Note) -> Note:
            new = current.deep_copy()
            new.metadata.finalizers = ["example.com/x"]
            return new

        bob = replace(deleting(), user=replace(attributes.user, name="bob"))
        await here.notes.update("a", hold, bob)

    here.notes.rules = replace(here.notes.rules, admission=Chain(mutating=[be_faster]))

    marked, gone = await delete(here)

    assert not gone
    assert marked.metadata.finalizers == ["example.com/x"]


async def test_a_deletion_is_seen_with_its_own_version(here: World) -> None:
    [made] = await put(here, note("a"))
    options = ListOptions(resource_version=made.metadata.resource_version)

    async with here.notes.watch(EntrySelection(), NOTE_FORM, options) as watcher:
        removed, _ = await delete(here)
        [event] = await anext(watcher)

    assert document(event.frame)["type"] == "DELETED"
    seen = document(event.frame)["object"]["metadata"]["resourceVersion"]
    assert seen == removed.metadata.resource_version


def names(entries: list[Note]) -> list[str]:
    return [entry.metadata.name for entry in entries]


async def test_a_collection_is_deleted_by_selector(here: World) -> None:
    await put(
        here,
        note("a", labels={"app": "x"}),
        note("b"),
        note("c", labels={"app": "x"}, finalizers=["example.com/x"]),
        note("d", labels={"app": "x"}, namespace="other"),
    )
    selection = EntrySelection(namespace="default", labels=lambda labels: labels.get("app") == "x")

    page = await here.notes.delete_collection(selection, None, context("deletecollection"))

    assert names([here.notes.decode(entry) for entry in page.entries]) == ["a", "c"]
    left = [here.notes.decode(entry) for entry in (await here.notes.list(EntrySelection())).entries]
    assert names(left) == ["b", "c", "d"]
    assert left[1].metadata.deletion_timestamp is not None


async def test_a_collection_spans_namespaces(here: World) -> None:
    await put(here, note("a"), note("a", namespace="other"))

    page = await here.notes.delete_collection(
        EntrySelection(), None, context("deletecollection", namespace="")
    )

    assert len(page.entries) == 2
    assert (await here.notes.list(EntrySelection())).entries == []


async def test_a_collection_may_be_deleted_in_part(here: World) -> None:
    await put(here, *(note(f"n{number}") for number in range(5)))

    page = await here.notes.delete_collection(
        EntrySelection(namespace="default"),
        None,
        context("deletecollection"),
        ListOptions(limit=2),
    )

    assert len(page.entries) == 2
    assert page.continue_token
    assert len((await here.notes.list(EntrySelection())).entries) == 3


async def test_a_collection_larger_than_a_page_goes_as_a_whole(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apiserver.registry.store.DELETE_PAGE", 3)
    await put(here, *(note(f"n{number}") for number in range(8)))

    page = await here.notes.delete_collection(
        EntrySelection(namespace="default"), None, context("deletecollection")
    )

    assert len(page.entries) == 8
    assert page.continue_token == ""
    assert (await here.notes.list(EntrySelection())).entries == []


async def test_the_first_error_ends_the_deletion_of_a_collection() -> None:
    def refuse(attributes: Attributes) -> None:
        if attributes.operation == "DELETE":
            raise attributes.forbidden("no")

    async with world(admission=Chain(validating=[refuse])) as here:
        await put(here, note("a"), note("b"))

        with pytest.raises(Forbidden):
            await here.notes.delete_collection(
                EntrySelection(namespace="default"), None, context("deletecollection")
            )


async def test_what_somebody_else_deletes_meanwhile_is_no_error() -> None:
    here: World

    async def be_faster(attributes: Attributes) -> None:
        if attributes.operation == "DELETE" and attributes.user.name == "alice":
            bob = replace(attributes.context, user=replace(attributes.user, name="bob"))
            await here.notes.delete(attributes.name, None, bob)

    async with world(admission=Chain(mutating=[be_faster])) as here:
        await put(here, note("a"), note("b"))

        page = await here.notes.delete_collection(
            EntrySelection(namespace="default"), None, context("deletecollection")
        )

    assert len(page.entries) == 2
