"""SharedInformer: the cache, its handlers, and how they hear of changes."""

import asyncio
import logging
import sys
import threading

import pytest

from apimachinery.meta.decode import decode_json
from apimachinery.meta.types import ManagedFieldsEntry
from apimachinery.meta.unstructured import Unstructured
from client.informer import (
    CacheMutated,
    DeletedObject,
    Filtered,
    Functions,
    Handler,
    IndexFailed,
    InformerOptions,
    InformerStopped,
    InvalidResourceVersion,
    MutationDetector,
    SharedInformer,
    chain,
    compact,
    drop_managed_fields,
    object_key,
)
from client.informer.deltas import Transform
from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.conftest import Background
from tests.client.informer.server import Gadget, Server, gadget


class Notes(Handler[Gadget]):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def on_add(self, obj: Gadget, is_in_initial_list: bool) -> None:
        self.told.append(f"{'+ ' if is_in_initial_list else ''}add {_short(obj)}")

    def on_update(self, old: Gadget, new: Gadget) -> None:
        self.told.append(f"update {_short(old)} to {_short(new)}")

    def on_delete(self, deleted: DeletedObject[Gadget]) -> None:
        shown = _short(deleted.object) if deleted.object is not None else "?"
        unknown = " unseen" if deleted.final_state_unknown else ""
        self.told.append(f"delete {deleted.key} {shown}{unknown}")


def _short(obj: Gadget) -> str:
    return f"{obj.metadata.name}@{obj.metadata.resource_version}"


def informer_of(
    server: Server,
    clock: FakeClock,
    *,
    transform: Transform[Gadget] | None = None,
    **options: object,
) -> SharedInformer[Gadget]:
    made = InformerOptions(**options)  # type: ignore[arg-type]
    return SharedInformer(server, expected=Gadget, transform=transform, options=made, clock=clock)


# What handlers are told


@pytest.mark.parametrize("in_order", [True, False])
async def test_handlers_hear_of_every_change(
    in_order: bool, server: Server, clock: FakeClock, background: Background
) -> None:
    """Stored: update; not stored: add; deleted: the last state, with the deletion's version."""
    server.put("a")
    informer = informer_of(server, clock, in_order=in_order)
    notes = Notes()
    informer.add_handler(notes)
    background(informer.run())
    await settle()

    server.put("b")
    await settle()
    server.put("a")
    await settle()
    server.delete("b")
    await settle()

    assert notes.told == [
        "+ add a@101",
        "add b@102",
        "update a@101 to a@103",
        "delete default/b b@104",
    ]
    assert informer.store.keys() == ["default/a"]


async def test_a_new_list_deletes_first_and_then_updates_and_adds(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """What a list does not have was deleted unseen; the store is ahead of those who hear of it."""
    for name in "ab":
        server.put(name)
    informer = informer_of(server, clock)
    notes = Notes()
    stored: list[list[str]] = []
    informer.add_handler(notes)
    informer.add_handler(Functions(delete=lambda _: stored.append(informer.store.keys())))
    background(informer.run())
    await settle()

    server.end_streams()
    server.delete("a")
    server.put("b")
    server.put("c")
    server.compact()
    await clock.advance(2)

    assert notes.told == [
        "+ add a@101",
        "+ add b@102",
        "delete default/a a@101 unseen",
        "update b@102 to b@104",
        "add c@105",
    ]
    assert stored == [["default/b", "default/c"]]


async def test_deleting_what_was_never_seen_is_told(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    notes = Notes()
    informer.add_handler(notes)
    background(informer.run())
    await settle()

    server.open[0].events.clear()
    server.objects["default/x"] = gadget("x")
    server.delete("x")
    await settle()

    assert notes.told == ["delete default/x x@101"]


async def test_an_object_deleted_and_created_again_may_be_one_update(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """The uid is no part of the key."""
    server.put("a")
    informer = informer_of(server, clock)
    notes = Notes()
    informer.add_handler(notes)
    background(informer.run())
    await settle()

    server.end_streams()
    server.delete("a")
    server.put("a")
    server.compact()
    await clock.advance(2)

    assert notes.told == ["+ add a@101", "update a@101 to a@103"]


async def test_a_notification_follows_its_change_of_the_cache(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    found: list[bool] = []
    informer.on_add(lambda obj: found.append(informer.store.get(object_key(obj)) is obj))
    background(informer.run())
    await settle()

    server.put("a")
    server.put("b")
    await settle()

    assert found == [True, True]


async def test_single_functions_can_be_handlers(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    told: list[str] = []

    @informer.on_add
    async def added(obj: Gadget) -> None:
        await asyncio.sleep(0)
        told.append(f"added {_short(obj)}")

    @informer.on_update
    def changed(old: Gadget, new: Gadget) -> None:
        told.append(f"changed {_short(new)}")

    @informer.on_delete
    def gone(deleted: DeletedObject[Gadget]) -> None:
        told.append(f"gone {deleted.key}")

    background(informer.run())
    for change in (server.put, server.put, server.delete):
        await settle()
        change("a")
    await settle()

    assert told == ["added a@101", "changed a@102", "gone default/a"]


async def test_a_filter_turns_changes_into_additions_and_deletions(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Starts to pass: add. Stops: delete of the old one. A last state nobody knows: passed on."""
    informer = informer_of(server, clock)
    notes = Notes()
    large = Filtered(lambda obj: obj.spec.size > 5, notes)
    informer.add_handler(large)
    background(informer.run())
    await settle()

    for size in (1, 9, 8, 2):
        server.put("a", size=size)
        await settle()
    server.put("b", size=7)
    await settle()
    server.delete("a")
    server.delete("b")
    await settle()
    large.on_delete(DeletedObject("default/c", None, final_state_unknown=True))

    assert notes.told == [
        "add a@102",
        "update a@102 to a@103",
        "delete default/a a@103",
        "add b@105",
        "delete default/b b@107",
        "delete default/c ? unseen",
    ]


# Registration


async def test_a_late_handler_is_told_of_what_is_there_and_then_joins(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Synthetic additions as in the first list; those who were there are not told again."""
    informer = informer_of(server, clock)
    early, late = Notes(), Notes()
    informer.add_handler(early)
    background(informer.run())
    server.put("a")
    await settle()
    server.put("b")
    await settle()

    registration = informer.add_handler(late)
    server.put("c")
    assert not registration.has_synced
    await settle()

    assert late.told == ["+ add a@101", "+ add b@102", "add c@103"]
    assert early.told == ["+ add a@101", "add b@102", "add c@103"]
    assert registration.has_synced


async def test_no_handler_can_join_an_informer_that_has_stopped(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    run = background(informer.run())
    await settle()
    informer.stop()
    await run

    with pytest.raises(InformerStopped, match="stopped already"):
        informer.add_handler(Notes())


async def test_an_informer_runs_once(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    informer = informer_of(server, clock)
    background(informer.run())
    await settle()

    await informer.run()

    assert "started already" in caplog.text
    assert informer.running
    assert len(server.watches) == 1


async def test_a_registration_is_synced_when_its_handler_heard_of_the_first_list(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """The informer is synced earlier, when the list is in the cache."""
    server.put("a")
    server.put("b")
    informer = informer_of(server, clock)
    gate = asyncio.Event()

    async def slow(obj: Gadget) -> None:
        await gate.wait()

    registration = informer.add_handler(Functions(add=slow))
    quick = informer.add_handler(Notes())
    background(informer.run())
    assert not informer.has_synced
    waiting = background(registration.wait_synced())

    await informer.wait_synced()
    await quick.wait_synced()
    assert (informer.has_synced, registration.has_synced) == (True, False)
    assert not waiting.done()

    gate.set()
    await waiting
    assert registration.has_synced


async def test_an_empty_collection_is_synced_too(
    server: Server, clock: FakeClock, background: Background
) -> None:
    for in_order in (True, False):
        informer = informer_of(server, clock, in_order=in_order)
        registration = informer.add_handler(Notes())
        background(informer.run())

        await asyncio.wait_for(registration.wait_synced(), 5)


async def test_waiting_for_sync_has_an_end(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    waiting = asyncio.ensure_future(informer.wait_synced(timeout=30))
    await clock.advance(30)
    with pytest.raises(TimeoutError):
        await waiting

    endless = asyncio.ensure_future(informer.wait_version("900"))
    run = background(informer.run())
    await settle()
    informer.stop()
    await run
    with pytest.raises(InformerStopped):
        await endless


async def test_a_removed_handler_hears_nothing_more(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Asynchronous and idempotent; a separate call waits until it is not running any more."""
    informer = informer_of(server, clock)
    gate, told = asyncio.Event(), list[str]()

    async def slow(obj: Gadget) -> None:
        told.append(obj.metadata.name)
        await gate.wait()

    registration = informer.add_handler(Functions(add=slow))
    background(informer.run())
    await settle()
    server.put("a")
    server.put("b")
    await settle()

    registration.remove()
    registration.remove()
    waiting = background(registration.wait_removed())
    await settle()
    assert not waiting.done()
    gate.set()
    await waiting
    server.put("c")
    await settle()

    assert told == ["a"]


async def test_a_handler_removed_before_the_start_is_never_called(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    notes = Notes()
    registration = informer.add_handler(notes)
    registration.remove()
    await registration.wait_removed()
    server.put("a")
    background(informer.run())
    await settle()

    assert notes.told == []


# Handlers that misbehave


async def test_a_handler_that_raises_is_logged_counted_and_gets_the_next_one_a_second_later(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    informer = informer_of(server, clock)
    told: list[str] = []

    def moody(obj: Gadget) -> None:
        if obj.metadata.name == "bad":
            raise ValueError("not this one")
        told.append(obj.metadata.name)

    registration = informer.add_handler(Functions(add=moody))
    other = Notes()
    informer.add_handler(other)
    server.put("bad")
    server.put("good")
    background(informer.run())
    await settle()
    assert (told, registration.failures) == ([], 1)
    assert len(other.told) == 2
    await clock.advance(0.9)
    assert told == []

    await clock.advance(0.1)

    assert told == ["good"]
    assert registration.has_synced
    assert "handler failed" in caplog.text


async def test_a_slow_handler_delays_nobody_else_and_is_named_at_high_water(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    """What waits for a handler is not bounded; the log says when it is much."""
    informer = informer_of(server, clock, high_water=10)

    async def stuck(obj: Gadget) -> None:
        await asyncio.Event().wait()

    registration = informer.add_handler(Functions(add=stuck))
    quick = Notes()
    informer.add_handler(quick)
    for number in range(30):
        server.put(f"first-{number}")
    background(informer.run())
    await settle()
    assert "notifications wait" not in caplog.text, "a first list comes all at once"

    with caplog.at_level(logging.WARNING):
        for number in range(45):
            server.put(f"later-{number}")
            await settle()

    assert len(quick.told) == 75
    assert registration.pending == 74
    warnings = [r.getMessage() for r in caplog.records if "notifications wait" in r.getMessage()]
    assert len(warnings) == 3, "at 10, 20 and 40 beyond the first list"
    assert all("stuck" in warning for warning in warnings)


async def test_a_handler_that_holds_up_the_event_loop_is_named(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    informer = informer_of(server, clock)

    def slow(obj: Gadget) -> None:
        clock._now += 0.2

    informer.on_add(slow)
    server.put("a")
    background(informer.run())
    with caplog.at_level(logging.WARNING):
        await settle()

    assert "held up the event loop for 0.200s" in caplog.text


async def test_a_threaded_handler_does_not_run_on_the_event_loop(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    threads: list[int] = []
    names: list[str] = []

    def blocking(obj: Gadget) -> None:
        threads.append(threading.get_ident())
        names.append(obj.metadata.name)

    registration = informer.add_handler(Functions(add=blocking), threaded=True)
    server.put("a")
    server.put("b")
    background(informer.run())

    await asyncio.wait_for(registration.wait_synced(), 10)

    assert names == ["a", "b"]
    assert threading.get_ident() not in threads


# Resync


async def test_a_resync_is_told_only_to_handlers_that_want_it_and_are_due(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """The check period is the shortest that was asked for before the start."""
    for in_order in (True, False):
        server.put("a")
        informer = informer_of(server, clock, in_order=in_order)
        every, other, never = Notes(), Notes(), Notes()
        informer.add_handler(every, resync=10)
        informer.add_handler(other, resync=25)
        informer.add_handler(never)
        background(informer.run())
        await clock.advance(61)

        assert len(every.told) == 1 + 6
        assert len(other.told) == 1 + 2, "at 30 and 60, which is when somebody looks"
        assert len(never.told) == 1
        version = server.objects["default/a"].metadata.resource_version
        assert every.told[1] == f"update a@{version} to a@{version}"


async def test_a_list_that_changes_nothing_tells_nobody_who_is_not_due(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Equal versions are a resync, however they come."""
    server.put("a")
    informer = informer_of(server, clock)
    notes = Notes()
    informer.add_handler(notes)
    background(informer.run())
    await settle()

    server.expire_streams()
    await clock.advance(5)

    assert len(server.watches) == 2
    assert notes.told == ["+ add a@101"]


async def test_resync_periods_have_bounds(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    """Not below a second; after the start not below what the informer looks at."""
    server.put("a")
    informer = informer_of(server, clock, resync=20)
    default, eager, late, none = Notes(), Notes(), Notes(), Notes()
    informer.add_handler(default)
    informer.add_handler(eager, resync=0.1)
    informer.add_handler(none, resync=0)
    background(informer.run())
    await clock.advance(0.5)
    informer.add_handler(late, resync=0.5)
    await clock.advance(3.6)

    assert len(eager.told) == 1 + 4
    assert len(late.told) == 1 + 3
    await clock.advance(17)
    assert len(default.told) == 1 + 1
    assert len(none.told) == 1
    assert "too short" in caplog.text


async def test_an_informer_that_never_looks_cannot_resync_a_late_handler(
    server: Server, clock: FakeClock, background: Background, caplog: pytest.LogCaptureFixture
) -> None:
    server.put("a")
    informer = informer_of(server, clock)
    background(informer.run())
    await settle()
    late = Notes()
    informer.add_handler(late, resync=5)
    await clock.advance(60)

    assert late.told == ["+ add a@101"]
    assert "asked for after the informer started" in caplog.text


# Reading one's own writes


@pytest.mark.parametrize("in_order", [True, False])
async def test_one_can_wait_until_the_cache_shows_ones_own_write(
    in_order: bool, server: Server, clock: FakeClock, background: Background
) -> None:
    """Versions are compared as numbers: 1000 is after 999."""
    server.revision = 998
    informer = informer_of(server, clock, in_order=in_order)
    background(informer.run())
    await informer.wait_synced()
    assert informer.resource_version == "998"

    written = server.put("a")
    await informer.wait_version(written.metadata.resource_version)
    assert informer.lister.namespace("default").get("a") == written

    waiting = background(informer.wait_version("1005"))
    server.put("a")
    await settle()
    assert not waiting.done()
    server.revision = 1010
    server.bookmark()
    await waiting
    assert informer.resource_version == "1010"


async def test_waiting_for_a_version_can_time_out_and_must_make_sense(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    background(informer.run())
    with pytest.raises(InvalidResourceVersion):
        await informer.wait_version("0")

    waiting = asyncio.ensure_future(informer.wait_version("900", timeout=5))
    await clock.advance(5)

    with pytest.raises(TimeoutError):
        await waiting


# What would make the cache lie


async def test_a_failing_index_function_ends_the_informer_after_the_rest_was_told(
    server: Server, clock: FakeClock, background: Background
) -> None:
    informer = informer_of(server, clock)
    notes = Notes()
    informer.add_handler(notes)
    informer.add_index("share", lambda obj: [str(100 // obj.spec.size)])
    run = asyncio.ensure_future(informer.run())
    await settle()

    server.put("bad", size=0)
    server.put("good", size=1)
    with pytest.raises(IndexFailed, match="default/bad"):
        await run

    assert informer.stopped
    assert informer.store.keys() == ["default/good"]


async def test_a_mutated_object_is_found(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """Cached objects are everybody's; the detector compares them with copies every second."""
    informer = informer_of(server, clock, detector=MutationDetector(clock))
    server.put("a", size=1)
    run = asyncio.ensure_future(informer.run())
    await clock.advance(5)
    assert not run.done()

    cached = informer.lister.namespace("default").get("a")
    cached.spec.size = 2
    await clock.advance(1)

    with pytest.raises(CacheMutated, match=r"Gadget default/a: spec\.size was 1 and is 2"):
        await run


async def test_the_detector_forgets_after_some_minutes(clock: FakeClock) -> None:
    detector = MutationDetector(clock)
    obj = gadget("a")
    detector.add(obj)
    for _ in range(3):
        await clock.advance(121)
        detector.check()

    obj.spec.size = 5

    detector.check()


# Small caches


async def test_a_transform_makes_what_is_cached_smaller(
    server: Server, clock: FakeClock, background: Background
) -> None:
    made = server.put("a")
    made.metadata.managed_fields = [ManagedFieldsEntry(manager="m", operation="Update")]
    informer = informer_of(server, clock, transform=drop_managed_fields)
    background(informer.run())
    await informer.wait_synced()

    cached = informer.lister.namespace("default").get("a")

    assert cached.metadata.managed_fields == []
    assert made.metadata.managed_fields
    made.metadata.managed_fields = []
    assert cached == made


async def test_transforms_can_be_chained_and_compacting_can_be_left_out(
    server: Server, clock: FakeClock, background: Background
) -> None:
    seen: list[Gadget] = []

    def note(obj: Gadget) -> Gadget:
        seen.append(obj)
        return obj

    server.put("a")
    for smaller in (True, False):
        transform = chain(drop_managed_fields, note)
        informer = informer_of(server, clock, transform=transform, compact=smaller)
        background(informer.run())
        await informer.wait_synced()

        assert informer.store.objects() == [seen[-1]]
        assert bool(seen[-1].spec.model_fields_set) is not smaller


def size_of(obj: Gadget) -> int:
    parts = (obj, obj.metadata, obj.spec)
    return sum(
        sys.getsizeof(part.__dict__) + sys.getsizeof(part.model_fields_set) for part in parts
    )


def test_a_compact_object_is_equal_and_much_smaller() -> None:
    document = (
        b'{"metadata":{"name":"a","namespace":"x","uid":"1","resourceVersion":"7",'
        b'"labels":{"a":"b"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p",'
        b'"uid":"2"}]},"spec":{"size":3}}'
    )
    decoded = decode_json(Gadget, document, find_unknown=False).object

    small = compact(decoded.deep_copy())

    assert small == decoded
    assert small.model_dump_json() == decoded.model_dump_json()
    own = size_of(small) - 3 * sys.getsizeof(set())
    assert own < size_of(decoded) * 0.6
    copy = small.deep_copy()
    copy.spec.size = 9
    assert copy.spec.model_fields_set == {"size"}
    copy.metadata.labels["c"] = "d"
    assert (small.spec.size, small.metadata.labels) == (3, {"a": "b"})


def test_compact_objects_share_nothing_that_can_change() -> None:
    one, other = compact(gadget("a")), compact(gadget("b"))

    one.spec.size = 7
    one.metadata.labels["x"] = "y"

    assert other == gadget("b")
    assert (one.spec.model_fields_set, other.spec.model_fields_set) == (set(), set())
    assert one.model_copy().model_fields_set == set()


def test_an_unstructured_object_can_be_compacted() -> None:
    decoded = decode_json(Unstructured, b'{"kind":"X","metadata":{"name":"a"},"spec":{"n":[1]}}')

    small = compact(decoded.object)

    assert small == decoded.object
    assert small["spec"] == {"n": [1]}


# Its end


async def test_stopping_is_prompt_whatever_goes_on(
    server: Server, clock: FakeClock, background: Background
) -> None:
    """A stuck handler, a backoff, an open stream: nothing delays it, and nothing is left behind."""
    for name in "ab":
        server.put(name)
    informer = informer_of(server, clock)

    async def stuck(obj: Gadget) -> None:
        await asyncio.Event().wait()

    informer.on_add(stuck)
    run = background(informer.run())
    await settle()
    stream = server.open[0]

    informer.stop()
    informer.stop()
    await asyncio.wait_for(run, 5)

    assert informer.stopped
    assert stream.stopped
    assert [task for task in asyncio.all_tasks() if "informer" in task.get_name()] == []


async def test_cancelling_ends_everything_too(server: Server, clock: FakeClock) -> None:
    informer = informer_of(server, clock)
    informer.add_handler(Notes())
    run = asyncio.ensure_future(informer.run())
    await settle()

    run.cancel()
    await asyncio.gather(run, return_exceptions=True)

    assert run.cancelled()
    assert informer.stopped
    assert server.streams[0].stopped
