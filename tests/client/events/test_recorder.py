"""Events: written by and by, counted when they repeat, combined when they are many."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from apimachinery.meta.types import ObjectMeta
from apis.core import v1 as core
from apis.gadgets import v1
from client.events.correlation import COMBINED
from client.events.recorder import QUEUE_SIZE, EventRecorder
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock


def lamp(name: str = "lamp", uid: str = "u1") -> v1.Gadget:
    metadata = ObjectMeta(name=name, namespace="default", uid=uid, resource_version="7")
    return v1.Gadget(metadata=metadata, spec=v1.GadgetSpec(model="a1"))


@pytest.fixture
def recorder(env: Environment, clock: FakeClock) -> EventRecorder:
    return EventRecorder(
        env.client,
        "gadget-controller",
        kind_of=env.scheme.kind_of,
        clock=clock,
        host="here",
        chance=lambda: 0.5,
    )


@asynccontextmanager
async def writing(recorder: EventRecorder) -> AsyncIterator[None]:
    task = asyncio.create_task(recorder.run())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def events(env: Environment, namespace: str = "default") -> list[core.Event]:
    return sorted(await env.list(core.Event, namespace=namespace), key=lambda e: e.metadata.name)


async def test_an_event_says_what_happened_to_which_object(
    env: Environment, clock: FakeClock, recorder: EventRecorder
) -> None:
    recorder.event(lamp(), "Normal", "Synced", "all parts are in place")
    await recorder.flush()

    (event,) = await events(env)
    about = event.involved_object
    assert (about.kind, about.api_version) == ("Gadget", "gadgets.example.io/v1")
    assert (about.name, about.namespace, about.uid, about.resource_version) == (
        "lamp",
        "default",
        "u1",
        "7",
    )
    assert (event.type, event.reason, event.message) == (
        "Normal",
        "Synced",
        "all parts are in place",
    )
    assert event.count == 1
    assert event.first_timestamp == event.last_timestamp == clock.now()
    assert event.source.component == event.reporting_component == "gadget-controller"
    assert event.reporting_instance == "here"
    assert event.metadata.name.startswith("lamp.")


async def test_an_object_without_a_namespace_has_its_events_in_default(
    env: Environment, recorder: EventRecorder
) -> None:
    namespace = await env.get(core.Namespace, "kube-system", namespace="")
    recorder.event(namespace, "Warning", "Odd", "something is odd")
    await recorder.flush()

    (event,) = await events(env)
    assert event.involved_object.name == "kube-system"


async def test_the_same_again_is_counted(
    env: Environment, clock: FakeClock, recorder: EventRecorder
) -> None:
    first = clock.now()
    for _ in range(3):
        recorder.event(lamp(), "Warning", "Failed", "no bulb")
        await recorder.flush()
        await clock.advance(60)

    (event,) = await events(env)
    assert event.count == 3
    assert event.first_timestamp == first
    assert (event.last_timestamp - first).total_seconds() == 120  # type: ignore[operator]


async def test_different_messages_are_different_events_until_there_are_too_many(
    env: Environment, clock: FakeClock, recorder: EventRecorder
) -> None:
    for number in range(13):
        recorder.event(lamp(), "Warning", "Failed", f"bulb {number} is broken")
        await recorder.flush()
        await clock.advance(1)

    found = await events(env)
    assert len(found) == 10
    combined = [e for e in found if e.message.startswith(COMBINED)]
    assert [(e.count, e.message) for e in combined] == [(4, f"{COMBINED}bulb 12 is broken")]


async def test_combining_ends_after_ten_quiet_minutes(
    env: Environment, clock: FakeClock, recorder: EventRecorder
) -> None:
    for number in range(10):
        recorder.event(lamp(), "Normal", "Tried", f"attempt {number}")
    await recorder.flush()
    await clock.advance(601)
    recorder.event(lamp(), "Normal", "Tried", "attempt after a while")
    await recorder.flush()

    assert "attempt after a while" in [e.message for e in await events(env)]


async def test_who_tells_too_much_of_one_object_is_not_listened_to(
    env: Environment, clock: FakeClock, recorder: EventRecorder
) -> None:
    for _ in range(40):
        recorder.event(lamp(), "Normal", "Blinked", "again")
    recorder.event(lamp("other", "u2"), "Normal", "Blinked", "again")
    await recorder.flush()

    counts = {e.involved_object.name: e.count for e in await events(env)}
    assert counts == {"lamp": 25, "other": 1}

    await clock.advance(300)
    recorder.event(lamp(), "Normal", "Blinked", "again")
    recorder.event(lamp(), "Normal", "Blinked", "again")
    await recorder.flush()
    counts = {e.involved_object.name: e.count for e in await events(env)}
    # What was not told is counted all the same.
    assert counts["lamp"] == 41


async def test_an_event_that_the_server_has_forgotten_is_created_again(
    env: Environment, recorder: EventRecorder
) -> None:
    recorder.event(lamp(), "Normal", "Synced", "done")
    await recorder.flush()
    (event,) = await events(env)
    await env.observer.of(core.Event).delete(event.metadata.name)

    recorder.event(lamp(), "Normal", "Synced", "done")
    await recorder.flush()

    (again,) = await events(env)
    assert again.count == 2


async def test_an_event_is_written_when_the_server_is_back(
    env: Environment, clock: FakeClock, recorder: EventRecorder
) -> None:
    await recorder.flush()
    await env.client.discovery.resources()
    env.faults.create(core.Event).refuse(times=2)
    async with writing(recorder):
        recorder.event(lamp(), "Normal", "Synced", "done")
        await clock.advance(0)
        assert not recorder.idle
        await clock.advance(5)  # half of the first wait, by chance
        assert not await events(env)
        await clock.advance(10)

    assert recorder.idle
    assert len(await events(env)) == 1
    assert clock.slept == [5.0, 10.0]


async def test_an_event_is_given_up_after_twelve_attempts(
    env: Environment, clock: FakeClock, recorder: EventRecorder, caplog: pytest.LogCaptureFixture
) -> None:
    await env.client.discovery.resources()
    env.faults.create(core.Event).refuse(times=-1)
    async with writing(recorder):
        recorder.event(lamp(), "Normal", "Synced", "done")
        await clock.advance(200)

    assert recorder.idle
    assert len(clock.slept) == 12
    assert "no more attempts" in caplog.text


async def test_an_event_that_the_server_rejects_is_not_tried_again(
    env: Environment, clock: FakeClock, recorder: EventRecorder, caplog: pytest.LogCaptureFixture
) -> None:
    gone = lamp()
    gone.metadata.namespace = "no-such-namespace"
    recorder.event(gone, "Normal", "Synced", "done")
    await recorder.flush()

    assert not clock.slept
    assert "rejected an event" in caplog.text


async def test_types_other_than_normal_and_warning_are_refused(
    env: Environment, recorder: EventRecorder, caplog: pytest.LogCaptureFixture
) -> None:
    recorder.event(lamp(), "Fatal", "Broken", "done")

    assert recorder.idle
    assert "unsupported event type: 'Fatal'" in caplog.text


async def test_what_finds_no_room_is_dropped_and_counted(
    env: Environment, recorder: EventRecorder
) -> None:
    for _ in range(QUEUE_SIZE + 3):
        recorder.event(lamp(), "Normal", "Synced", "done")

    assert recorder.dropped == 3
