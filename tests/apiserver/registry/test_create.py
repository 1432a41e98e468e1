"""What the server makes of a new object."""

from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID

import pytest

from apimachinery.errors import AlreadyExists, BadRequest, Invalid
from apimachinery.meta.options import CreateOptions
from apimachinery.meta.types import ManagedFieldsEntry, Object, ObjectMeta, OwnerReference
from apimachinery.names import generate_name
from apiserver.admission.chain import Attributes, Chain
from apiserver.context import RequestContext
from apiserver.managed_fields.ownership import Untracked
from apiserver.registry.identifiers import new_uid
from apiserver.registry.object_update import replacement
from apiserver.registry.store import ResourceStore
from apiserver.registry.strategy import Strategy
from apiserver.storage.cache.entry import EntrySelection
from apiserver.storage.interface import Record
from tests.apiserver.registry.world import (
    NOTE_RESOURCE,
    Note,
    NoteStatus,
    NoteStrategy,
    World,
    context,
    gadget,
    note,
    put,
    revision,
    shelf,
    world,
)


async def test_a_new_object_gets_what_every_object_has(here: World) -> None:
    made = await here.notes.create(note("a", text="hello"), context())

    assert UUID(made.metadata.uid).version == 4
    assert made.metadata.creation_timestamp == here.clock.at
    assert made.metadata.generation == 1
    assert made.metadata.namespace == "default"
    assert made.metadata.resource_version == str(await revision(here))


async def test_what_was_created_can_be_read_at_once(here: World) -> None:
    made = await here.notes.create(note("a", text="hello"), context())

    assert await here.notes.read("a", namespace="default") == made


async def test_a_client_cannot_choose_system_fields(here: World) -> None:
    long_ago = here.clock.at - timedelta(days=999)
    sent = note(
        "a",
        uid="mine",
        creation_timestamp=long_ago,
        deletion_timestamp=long_ago,
        deletion_grace_period_seconds=5,
        self_link="/x",
        generation=77,
    )

    made = (await here.notes.create(sent, context())).metadata

    assert made.uid != "mine"
    assert made.creation_timestamp == here.clock.at
    assert (made.deletion_timestamp, made.deletion_grace_period_seconds) == (None, None)
    assert (made.self_link, made.generation) == ("", 1)


async def test_the_status_of_a_new_object_is_the_servers(here: World) -> None:
    sent = note("a")
    sent.status = NoteStatus(readers=9)

    made = await here.notes.create(sent, context())

    assert made.status == NoteStatus()


async def test_a_kind_without_a_desired_state_has_no_generation(here: World) -> None:
    made = await here.shelves.create(shelf("s", generation=4), context(namespace=""))

    assert made.metadata.generation == 0


async def test_a_resource_version_cannot_be_given(here: World) -> None:
    with pytest.raises(BadRequest) as caught:
        await here.notes.create(note("a", resource_version="5"), context())

    assert str(caught.value) == "resourceVersion should not be set on objects to be created"


@pytest.mark.parametrize("version", ["0", "nonsense"])
async def test_a_resource_version_that_names_nothing_is_ignored(here: World, version: str) -> None:
    made = await here.notes.create(note("a", resource_version=version), context())

    assert made.metadata.resource_version == str(await revision(here))


async def test_the_strategy_prepares_and_warns(here: World) -> None:
    request = context()

    made = await here.notes.create(note("a", text="  LOUD "), request)

    assert made.spec.text == "LOUD"
    assert request.warnings == ["shouting"]


async def test_all_errors_are_told_at_once(here: World) -> None:
    with pytest.raises(Invalid) as caught:
        await here.notes.create(note("A_1", text="bad", labels={"x": "-"}), context())

    assert [cause.field for cause in caught.value.causes] == [
        "metadata.name",
        "metadata.labels",
        "spec.text",
    ]
    assert str(caught.value).startswith('Note.notes.example.io "A_1" is invalid: [metadata.name: ')
    assert (await here.notes.list(EntrySelection())).entries == []


async def test_a_name_is_required(here: World) -> None:
    with pytest.raises(Invalid) as caught:
        await here.notes.create(note(), context())

    assert "metadata.name: Required value: name or generateName is required" in str(caught.value)


class AnyName(NoteStrategy):
    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return []


async def test_no_strategy_can_allow_a_name_that_no_url_can_hold(here: World) -> None:
    with pytest.raises(Invalid) as caught:
        await here.notes.using(AnyName()).create(note("a/b"), context())

    assert "metadata.name: Invalid value: \"a/b\": may not contain '/'" in str(caught.value)


async def test_the_namespace_must_be_that_of_the_request(here: World) -> None:
    with pytest.raises(BadRequest) as caught:
        await here.notes.create(note("a", namespace="other"), context(namespace="default"))

    assert str(caught.value) == (
        "the namespace of the provided object does not match the namespace sent on the request"
    )


async def test_a_cluster_scoped_object_loses_its_namespace(here: World) -> None:
    made = await here.shelves.create(shelf("s", namespace="x"), context(namespace=""))

    assert made.metadata.namespace == ""


async def test_an_object_of_that_name_exists(here: World) -> None:
    await put(here, note("a"))

    with pytest.raises(AlreadyExists) as caught:
        await put(here, note("a"))

    assert str(caught.value) == 'notes.notes.example.io "a" already exists'
    assert caught.value.details is not None
    assert caught.value.details.kind == "notes"


async def test_an_object_of_that_name_is_still_going(here: World) -> None:
    await put(here, note("a", finalizers=["example.com/x"]))
    await here.notes.delete("a", None, context("delete", name="a"))

    with pytest.raises(AlreadyExists) as caught:
        await put(here, note("a"))

    message = 'object is being deleted: notes.notes.example.io "a" already exists'
    assert str(caught.value) == caught.value.status.message == message


SEED = 1


def next_names(number: int) -> list[str]:
    """The names that a store will generate once it has its seed; a uid is made before each."""
    twin, names = Random(SEED), []
    for _ in range(number):
        new_uid(twin)
        names.append(generate_name("n-", random=twin))
    return names


def seed(store: ResourceStore[Note]) -> None:
    store.rules = replace(store.rules, random=Random(SEED))


async def test_a_name_is_generated(here: World) -> None:
    made = await here.notes.create(note(generate_name="n-"), context())

    assert made.metadata.name.startswith("n-")
    assert len(made.metadata.name) == 7


async def test_a_given_name_wins_over_a_prefix(here: World) -> None:
    made = await here.notes.create(note("a", generate_name="n-"), context())

    assert made.metadata.name == "a"


async def test_a_generated_name_that_is_taken_is_not_the_end(here: World) -> None:
    names = next_names(8)
    await put(here, *(note(name) for name in names[:7]))
    seed(here.notes)

    made = await here.notes.create(note(generate_name="n-", text="kept"), context())

    assert made.metadata.name == names[7]
    assert made.spec.text == "kept"


async def test_after_eight_names_the_server_gives_up(here: World) -> None:
    names = next_names(8)
    await put(here, *(note(name) for name in names))
    seed(here.notes)

    with pytest.raises(AlreadyExists) as caught:
        await here.notes.create(note(generate_name="n-"), context())

    assert str(caught.value) == (
        f'notes.notes.example.io "{names[7]}" already exists, the server was not able to generate'
        " a unique name for the object"
    )
    assert caught.value.retry_after == 1


async def test_repeated_owners_are_dropped_with_a_warning(here: World) -> None:
    owner = OwnerReference(api_version="v1", kind="Pod", name="p", uid="u1")
    request = context()

    made = await here.notes.create(note("a", owner_references=[owner, owner.deep_copy()]), request)

    assert made.metadata.owner_references == [owner]
    assert request.warnings == [
        ".metadata.ownerReferences contains duplicate entries; API server dedups owner references"
        " in 1.20+, and may reject such requests as early as 1.24; please fix your requests;"
        " duplicate UID(s) observed: [u1]"
    ]


@pytest.mark.parametrize("by", ["options", "context"])
async def test_a_dry_run_does_everything_but_store(here: World, by: str) -> None:
    options = CreateOptions(dry_run=["All"] if by == "options" else [])

    made = await here.notes.create(
        note(generate_name="n-"), context(dry_run=by == "context"), options
    )

    assert made.metadata.uid
    assert made.metadata.name
    assert made.metadata.resource_version == ""
    assert (await here.notes.list(EntrySelection())).entries == []


async def test_a_dry_run_notices_that_the_name_is_taken(here: World) -> None:
    await put(here, note("a"))

    with pytest.raises(AlreadyExists):
        await here.notes.create(note("a"), context(dry_run=True))


async def test_the_time_to_live_is_the_resources() -> None:
    short = replace(NOTE_RESOURCE, ttl=lambda obj: 60 if obj.spec.text == "short" else None)
    lives: dict[str, int | None] = {}

    async with world(note_resource=short) as made:
        create = made.backend.create

        async def noticing(key: str, value: bytes, *, ttl: int | None = None) -> int:
            lives[key.rpartition("/")[2]] = ttl
            return await create(key, value, ttl=ttl)

        made.backend.create = noticing  # type: ignore[method-assign]
        await put(made, note("a", text="short"), note("b"))

    assert lives == {"a": 60, "b": None}


class Seen(Untracked):
    """Notes what passes by, in order."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def mutate(self, attributes: Attributes) -> None:
        assert attributes.object is not None
        self.steps.append(
            f"mutate {attributes.operation} uid={bool(attributes.object.metadata.uid)}"
        )

    def validate(self, attributes: Attributes) -> None:
        assert attributes.object is not None
        self.steps.append(
            f"validate {attributes.operation} uid={bool(attributes.object.metadata.uid)}"
        )

    def track(self, context: RequestContext, old: Object | None, new: Object) -> None:
        self.steps.append(f"track old={old is not None}")
        entry = ManagedFieldsEntry(manager="m", operation="Update", api_version="v1")
        new.metadata.managed_fields = [entry]


class Watching(Strategy[Note]):
    def __init__(self, seen: Seen) -> None:
        self.seen = seen

    def prepare_for_create(self, obj: Note) -> None:
        self.seen.steps.append("prepare")

    def validate(self, obj: Note) -> Any:
        self.seen.steps.append("check")
        yield from ()


async def test_the_steps_of_a_creation_have_an_order() -> None:
    seen = Seen()
    chain = Chain(mutating=[seen.mutate], validating=[seen.validate])

    async with world(admission=chain, ownership=seen) as made:
        stored = await made.notes.using(Watching(seen)).create(note("a"), context())

    assert seen.steps == [
        "track old=False",
        "mutate CREATE uid=False",
        "prepare",
        "check",
        "validate CREATE uid=True",
    ]
    assert [entry.manager for entry in stored.metadata.managed_fields] == ["m"]


async def test_ownership_need_not_be_tracked_twice() -> None:
    """An apply computes managedFields before it gets here."""
    seen = Seen()

    async with world(ownership=seen) as made:
        await made.notes.create(note("a"), context(), track=False)

    assert seen.steps == []


async def test_admission_may_put_another_object_in_the_place() -> None:
    def replace_it(attributes: Attributes) -> None:
        attributes.object = note("other", text="instead")

    async with world(admission=Chain(mutating=[replace_it])) as made:
        stored = await made.notes.create(note("a"), context())

    assert (stored.metadata.name, stored.spec.text) == ("other", "instead")
    assert stored.metadata.namespace == "default"


async def test_a_status_needs_somewhere_to_start_from() -> None:
    class Bare(Object):
        pass

    with pytest.raises(TypeError, match="Bare has a status subresource: give its status a default"):
        async with world(note_resource=replace(NOTE_RESOURCE, cls=Bare)):
            pass


async def test_a_kind_of_several_versions_is_stored_in_its_internal_form(here: World) -> None:
    made = await here.gadgets.create(gadget("lamp"), context(resource="gadgets"))

    record = await here.backend.get("/registry/gadgets.example.io/gadgets/default/lamp")

    assert isinstance(record, Record)
    assert record.value.startswith(b'{"kind":"Gadget","apiVersion":"gadgets.example.io/__internal"')
    assert b"resourceVersion" not in record.value
    assert made.metadata.generation == 1


async def test_a_group_may_choose_the_version_it_is_stored_in() -> None:
    async with world(storage_version="v1") as here:
        made = await here.notes.create(note("a", text="x"), context())
        changed, _ = await here.notes.update(
            "a", replacement(note("a", text="y")), context("update", name="a")
        )
        record = await here.backend.get("/registry/notes.example.io/notes/default/a")
        read = await here.notes.read("a", namespace="default")

    assert record is not None
    assert record.value.startswith(b'{"kind":"Note","apiVersion":"notes.example.io/v1"')
    assert b"resourceVersion" not in record.value
    assert made.metadata.generation == 1
    assert read == changed


async def test_metadata_of_the_request_is_not_shared_between_attempts(here: World) -> None:
    names = next_names(2)
    await put(here, note(names[0]))
    seed(here.notes)
    sent = Note(metadata=ObjectMeta(generate_name="n-"))

    made = await here.notes.create(sent, context())

    assert made.metadata.name == names[1]
    assert sent.metadata.uid == ""
