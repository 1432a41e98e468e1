"""Leader election by Lease, against a real server and by a clock that only the test moves."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from apimachinery.errors import Conflict
from apis.coordination.v1 import Lease as ServedLease
from client.leaderelection.leader_election import (
    InvalidElection,
    LeaderElection,
    LeaderElector,
    LeadershipLost,
)
from client.leaderelection.lease import leases
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock


class Candidate:
    """A program that wants to lead, and what has become of it."""

    def __init__(self, env: Environment, name: str, **settings: Any) -> None:
        self.name = name
        self.leads = False
        self.stopped = 0
        self.leaders: list[str] = []
        self.release_work = asyncio.Event()
        chance = settings.pop("chance", lambda: 0.0)
        self.elector = LeaderElector(
            leases(env.client, "default"),
            LeaderElection("example", name, **settings),
            on_stopped=self._on_stopped,
            on_new_leader=self.leaders.append,
            clock=env.clock,
            chance=chance,
        )
        self.task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self.task = asyncio.create_task(self.elector.run(self._work))

    async def end(self) -> BaseException | None:
        assert self.task is not None
        self.task.cancel()
        (outcome,) = await asyncio.gather(self.task, return_exceptions=True)
        return outcome

    async def _work(self) -> None:
        self.leads = True
        try:
            await self.release_work.wait()
        finally:
            self.leads = False

    def _on_stopped(self) -> None:
        self.stopped += 1


Running = Callable[..., Candidate]


@pytest.fixture
async def running(env: Environment, clock: FakeClock) -> AsyncIterator[Running]:
    made: list[Candidate] = []

    def start(name: str, **settings: Any) -> Candidate:
        made.append(Candidate(env, name, **settings))
        made[-1].start()
        return made[-1]

    yield start
    env.faults.clear()
    for candidate in made:
        await candidate.end()


async def lease(env: Environment) -> Any:
    return (await env.get(ServedLease, "example")).spec


@asynccontextmanager
async def unreachable(env: Environment) -> AsyncIterator[None]:
    env.faults.on("").refuse(times=-1)
    yield
    env.faults.clear()


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"identity": ""}, "identity is empty"),
        ({"lease_name": ""}, "lease_name is empty"),
        ({"lease_duration": 10}, "lease_duration must be greater than renew_deadline"),
        ({"renew_deadline": 2.4}, "renew_deadline must be greater than retry_period"),
        ({"retry_period": 0}, "retry_period must be greater than zero"),
        (
            {"lease_duration": 0.5, "renew_deadline": 0.4, "retry_period": 0.1},
            "lease_duration must be at least a second",
        ),
    ],
)
def test_settings_by_which_nobody_could_lead_are_refused(
    settings: dict[str, Any], rule: str
) -> None:
    with pytest.raises(InvalidElection, match=rule):
        LeaderElection(**{"lease_name": "a", "identity": "me", **settings})


async def test_the_first_one_leads_and_the_record_says_so(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one")
    await clock.advance(0)

    assert one.leads
    record = await lease(env)
    assert (record.holder_identity, record.lease_duration_seconds) == ("one", 15)
    assert record.lease_transitions == 0
    assert record.acquire_time == record.renew_time == clock.now()


async def test_a_second_one_waits_while_the_lease_is_renewed(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one")
    await clock.advance(0)
    acquired = (await lease(env)).acquire_time
    two = running("two")
    await clock.advance(300)

    assert one.leads
    assert not two.leads
    record = await lease(env)
    assert record.acquire_time == acquired
    assert (clock.now() - record.renew_time).total_seconds() <= 2


async def test_a_leader_renews_with_one_request(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    running("one")
    await clock.advance(0)
    before = env.requests

    await clock.advance(10)

    assert env.requests - before == 5


async def test_another_takes_over_when_the_record_has_not_changed_for_its_duration(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    await leases(env.client, "default").create(
        {
            "metadata": {"name": "example"},
            "spec": {
                "holderIdentity": "gone",
                "leaseDurationSeconds": 15,
                # Far away from the local time, which must not matter.
                "renewTime": "2040-01-01T00:00:00.000000Z",
                "acquireTime": "1999-01-01T00:00:00.000000Z",
                "leaseTransitions": 4,
            },
        }
    )
    two = running("two")
    await clock.advance(14.9)
    assert not two.leads

    await clock.advance(2)

    assert two.leads
    record = await lease(env)
    assert record.holder_identity == "two"
    assert record.lease_transitions == 5
    assert two.leaders == ["gone", "two"]


async def test_a_record_that_changes_is_alive_whatever_its_times_say(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    resource = leases(env.client, "default")
    spec = {"holderIdentity": "other", "leaseDurationSeconds": 15, "leaseTransitions": 0}
    await resource.create({"metadata": {"name": "example"}, "spec": spec})
    two = running("two")
    for number in range(5):
        await clock.advance(10)
        # Only the count changes: the holder has no clock at all.
        await resource.patch("example", {"spec": {"leaseTransitions": number + 1}})

    assert not two.leads


async def test_a_lease_that_nobody_holds_is_taken_at_once(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    await leases(env.client, "default").create(
        {
            "metadata": {"name": "example", "labels": {"kept": "yes"}},
            "spec": {"holderIdentity": "", "leaseDurationSeconds": 1000, "leaseTransitions": 1},
        }
    )
    one = running("one")
    await clock.advance(0)

    assert one.leads
    found = await env.get(ServedLease, "example")
    assert found.metadata.labels == {"kept": "yes"}
    assert found.spec.lease_transitions == 2


async def test_a_leader_that_cannot_renew_gives_up_before_another_can_take_over(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one")
    await clock.advance(1)
    renewed = (await lease(env)).renew_time

    async with unreachable(env):
        await clock.advance(10.9)
        assert one.leads  # the deadline counts from the first failure, two seconds after renewing
        await clock.advance(0.2)

        assert not one.leads
        assert one.task is not None
        assert isinstance(one.task.exception(), LeadershipLost)
        assert (clock.now() - renewed).total_seconds() < 15
    assert one.stopped == 1


async def test_a_leader_survives_failures_shorter_than_its_deadline(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one")
    await clock.advance(1)

    async with unreachable(env):
        await clock.advance(8.5)
    await clock.advance(60)

    assert one.leads


async def test_the_deadline_is_never_longer_than_the_others_have_to_wait(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one", lease_duration=10.5, renew_deadline=10, retry_period=2)
    await clock.advance(0)

    async with unreachable(env):
        await clock.advance(10.4)
        assert one.leads
        await clock.advance(0.2)

        assert not one.leads


async def test_a_conflict_of_the_fast_way_is_met_by_reading_again(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one")
    await clock.advance(1)
    await leases(env.observer, "default").patch("example", {"metadata": {"labels": {"x": "y"}}})

    await clock.advance(2)

    assert one.leads
    record = await lease(env)
    assert record.lease_transitions == 0
    assert (clock.now() - record.renew_time).total_seconds() <= 1


async def test_a_lost_race_for_the_lease_is_run_again_later(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    await leases(env.client, "default").create({"metadata": {"name": "example"}, "spec": {}})
    env.faults.update(ServedLease).conflict()
    one = running("one")
    await clock.advance(1.9)
    assert not one.leads

    await clock.advance(0.2)

    assert one.leads


async def test_the_retries_of_those_who_wait_are_spread_by_chance(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    running("one")
    await clock.advance(0)
    clock.slept.clear()

    running("two", chance=lambda: 0.5)
    running("three", chance=lambda: 1.0)
    await clock.advance(0)

    waits = sorted(round(s, 3) for s in clock.slept)
    assert waits == [3.2, 4.4]


async def test_a_leader_that_is_cancelled_releases_the_lease_after_its_work_has_ended(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one")
    await clock.advance(0)
    order: list[str] = []
    finish = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await finish.wait()
            order.append(f"work ended, held by {(await lease(env)).holder_identity}")

    two = Candidate(env, "two")
    await one.end()
    leading = asyncio.create_task(two.elector.run(work))
    await clock.advance(5)

    leading.cancel()
    await clock.advance(40)  # it is renewed all the while
    assert (await lease(env)).holder_identity == "two"
    finish.set()
    await asyncio.gather(leading, return_exceptions=True)

    assert order == ["work ended, held by two"]
    record = await lease(env)
    assert (record.holder_identity, record.lease_duration_seconds) == ("", 1)


async def test_after_a_release_another_leads_at_its_next_try(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one")
    await clock.advance(0)
    two = running("two")
    await clock.advance(0)

    await one.end()
    await clock.advance(2)

    assert two.leads
    assert two.leaders == ["one", "two"]


async def test_releasing_is_tried_again_after_a_conflict(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one")
    await clock.advance(0)
    env.faults.update(ServedLease).conflict(times=2)
    ending = asyncio.create_task(one.end())
    await clock.advance(1)
    await ending

    assert (await lease(env)).holder_identity == ""


async def test_a_lease_that_somebody_else_has_by_now_is_not_released(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one")
    await clock.advance(0)
    taken = {"spec": {"holderIdentity": "other", "leaseDurationSeconds": 15}}
    await leases(env.observer, "default").patch("example", taken)

    await one.end()

    record = await lease(env)
    assert (record.holder_identity, record.lease_duration_seconds) == ("other", 15)


async def test_a_release_is_given_up_at_its_own_deadline(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one", release_deadline=2.0)
    await clock.advance(0)
    assert one.leads
    env.faults.on("").latency(3600)
    ending = asyncio.create_task(one.end())

    await clock.advance(1.9)
    assert not ending.done()
    await clock.advance(0.2)

    assert ending.done()


async def test_without_release_the_lease_runs_out(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one", release_on_cancel=False)
    await clock.advance(0)
    two = running("two")
    await clock.advance(0)

    await one.end()
    await clock.advance(13)
    assert not two.leads
    await clock.advance(4)

    assert two.leads


async def test_stopped_is_told_even_to_one_that_never_led(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    running("one")
    await clock.advance(0)
    two = running("two")
    await clock.advance(5)

    await two.end()

    assert two.stopped == 1
    assert (await lease(env)).holder_identity == "one"


async def test_work_that_ends_gives_up_the_lead(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    one = running("one")
    await clock.advance(0)

    one.release_work.set()
    await clock.advance(0)

    assert one.task is not None
    assert one.task.done()
    assert one.task.exception() is None
    assert (await lease(env)).holder_identity == ""


async def test_an_error_of_the_work_is_raised_after_the_release(
    env: Environment, clock: FakeClock
) -> None:
    elector = LeaderElector(
        leases(env.client, "default"), LeaderElection("example", "one"), clock=clock
    )

    async def work() -> None:
        raise Conflict("of the work")

    with pytest.raises(Conflict, match="of the work"):
        await elector.run(work)

    assert (await lease(env)).holder_identity == ""


async def test_there_are_never_two_leaders(
    env: Environment, clock: FakeClock, running: Running
) -> None:
    """Programs come, go and lose their connection, and at no moment do two of them lead."""
    candidates = [running(f"c{number}", chance=lambda n=number: n / 5) for number in range(5)]
    led: set[str] = set()
    for step in range(60):
        if step % 7 == 3:
            env.faults.update(ServedLease).refuse(times=9)
        if step % 5 == 4:
            env.faults.update(ServedLease).conflict(times=2)
        await clock.advance(3)
        leading = [c.name for c in candidates if c.leads]
        assert len(leading) <= 1
        led.update(leading)
        for candidate in candidates:
            if candidate.task is not None and candidate.task.done():
                candidate.task.exception()
                candidate.start()
    assert led
