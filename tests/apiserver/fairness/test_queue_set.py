"""Seats and queues of one level: who is executed, who waits, and who is rejected."""

from collections import Counter

import pytest

from apiserver.fairness.flow_configuration import Queuing
from apiserver.fairness.queue_set import QueueSet, SeatRequest, Start
from tests.apiserver.fairness.fake_time import FakeTime

QUEUES = Queuing(queues=8, hand_size=1, length_limit=100)


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


def queue_set(time: FakeTime, limit: int, queuing: Queuing | None = QUEUES) -> QueueSet:
    level = QueueSet(time, limit)
    level.configure(queuing, limit)
    return level


def request(*hand: int, seats: int = 1, final: int = 0, linger: float = 0.0) -> SeatRequest:
    made = SeatRequest(hand or (0,))
    made.set_work(seats, final, linger)
    return made


class Load:
    """Flows that always have requests waiting, each in a queue of its own."""

    def __init__(self, level: QueueSet, time: FakeTime, seconds: dict[int, float]) -> None:
        self.level, self.time, self.seconds = level, time, seconds
        self.executing: list[tuple[float, int, SeatRequest]] = []
        self.served: Counter[int] = Counter()
        self.busy: Counter[int] = Counter()

    def offer(self, flow: int, *, seats: int = 1) -> None:
        made = request(flow, seats=seats)
        made.dispatched = lambda: self.begin(flow, made)
        if self.level.start(made) is Start.EXECUTING:
            self.begin(flow, made)

    def begin(self, flow: int, made: SeatRequest) -> None:
        self.executing.append((self.time.now + self.seconds[flow], flow, made))

    def finish_next(self) -> None:
        self.executing.sort(key=lambda entry: entry[0])
        end, flow, made = self.executing.pop(0)
        self.time.now = max(self.time.now, end)
        self.served[flow] += 1
        self.busy[flow] += round(self.seconds[flow] * 1000) * made.seats
        self.level.finish(made)
        self.offer(flow, seats=made.seats)


def test_requests_are_executed_while_seats_are_free(time: FakeTime) -> None:
    level = queue_set(time, 2)

    outcomes = [level.start(request(queue)) for queue in range(3)]

    assert outcomes == [Start.EXECUTING, Start.EXECUTING, Start.QUEUED]
    assert (level.executing, level.waiting, level.seats_in_use) == (2, 1, 2)


def test_a_request_that_ends_makes_room_for_the_next(time: FakeTime) -> None:
    level, dispatched = queue_set(time, 1), []
    first, second = request(0), request(1)
    second.dispatched = lambda: dispatched.append(second)
    level.start(first)
    level.start(second)

    time.pass_by(0.1)
    level.finish(first)

    assert dispatched == [second]
    assert (level.executing, level.waiting, level.dispatched) == (1, 0, 2)


def test_flows_get_the_same_time_however_many_requests_they_have(time: FakeTime) -> None:
    level = queue_set(time, 4)
    load = Load(level, time, {0: 0.01, 1: 0.01, 2: 0.01})
    for _ in range(50):
        load.offer(0)
    for flow in (1, 2):
        for _ in range(4):
            load.offer(flow)

    for _ in range(600):
        load.finish_next()

    assert max(load.served.values()) - min(load.served.values()) <= 12


def test_a_flow_of_long_requests_gets_as_much_time_as_one_of_short_requests(
    time: FakeTime,
) -> None:
    level = queue_set(time, 2)
    load = Load(level, time, {0: 0.2, 1: 0.01})
    for _ in range(20):
        load.offer(0)
        load.offer(1)

    for _ in range(1500):
        load.finish_next()

    assert load.busy[1] / load.busy[0] == pytest.approx(1, rel=0.1)


def test_a_flow_of_wide_requests_gets_as_many_seat_seconds_as_one_of_narrow_requests(
    time: FakeTime,
) -> None:
    level = queue_set(time, 4)
    load = Load(level, time, {0: 0.02, 1: 0.02})
    for _ in range(20):
        load.offer(0, seats=4)
        load.offer(1, seats=1)

    for _ in range(1000):
        load.finish_next()

    assert load.busy[1] / load.busy[0] == pytest.approx(1, rel=0.15)


def test_an_idle_flow_saves_up_no_turns(time: FakeTime) -> None:
    """A queue that was idle starts at the present, not where it stopped."""
    level = queue_set(time, 1)
    load = Load(level, time, {0: 0.01, 1: 0.01})
    for _ in range(30):
        load.offer(0)
    for _ in range(100):
        load.finish_next()
    for _ in range(30):
        load.offer(1)
    load.served.clear()

    for _ in range(40):
        load.finish_next()

    assert abs(load.served[0] - load.served[1]) <= 2


def test_a_full_queue_rejects(time: FakeTime) -> None:
    level = queue_set(time, 1, Queuing(queues=8, hand_size=1, length_limit=2))
    for _ in range(3):
        level.start(request(0))

    outcome, other = level.start(request(0)), level.start(request(1))

    assert (outcome, other) == (Start.QUEUE_FULL, Start.QUEUED)
    assert level.rejected == 1


def test_a_request_waits_in_the_shortest_queue_of_its_hand(time: FakeTime) -> None:
    level = queue_set(time, 1, Queuing(queues=8, hand_size=3, length_limit=100))
    level.start(request(7))

    for _ in range(30):
        level.start(request(0, 1, 2))

    assert [len(level.queues[index].waiting) for index in range(3)] == [10, 10, 10]


def test_a_flow_that_fills_its_queues_leaves_another_queue_to_others(time: FakeTime) -> None:
    level = queue_set(time, 1, Queuing(queues=8, hand_size=2, length_limit=5))
    for _ in range(12):
        level.start(request(0, 1))
    assert level.start(request(0, 1)) is Start.QUEUE_FULL

    outcome = level.start(request(1, 2))

    assert outcome is Start.QUEUED
    assert len(level.queues[2].waiting) == 1


def test_a_level_without_queues_rejects_what_it_cannot_execute(time: FakeTime) -> None:
    level = queue_set(time, 1, None)

    outcomes = [level.start(request()) for _ in range(2)]

    assert outcomes == [Start.EXECUTING, Start.CONCURRENCY_LIMIT]


def test_an_exempt_level_executes_everything(time: FakeTime) -> None:
    level = QueueSet(time)

    outcomes = {level.start(request(seats=10)) for _ in range(1000)}

    assert outcomes == {Start.EXECUTING}


def test_a_level_without_seats_executes_nothing_from_its_queues(time: FakeTime) -> None:
    level = queue_set(time, 0)

    assert level.start(request()) is Start.QUEUED
    assert level.executing == 0


def test_a_request_wider_than_the_level_is_executed_alone(time: FakeTime) -> None:
    level = queue_set(time, 2)
    narrow, wide, later = request(0), request(1, seats=5), request(1)
    level.start(narrow)
    level.start(wide)
    level.start(later)
    assert level.executing == 1

    time.pass_by(1)
    level.finish(narrow)

    assert (level.executing, level.waiting, level.seats_in_use) == (1, 1, 5)


def test_wide_requests_leave_half_of_the_seats_to_others(time: FakeTime) -> None:
    level = queue_set(time, 8)
    wide = [request(0, seats=4) for _ in range(3)]

    outcomes = [level.start(one) for one in wide]
    others = [level.start(request(number)) for number in (1, 2, 3, 4)]

    assert outcomes == [Start.EXECUTING, Start.QUEUED, Start.QUEUED]
    assert others == [Start.EXECUTING] * 4
    level.finish(wide[0])
    assert level.seats_in_use == 8
    assert level.waiting == 1


def test_a_small_request_passes_wide_ones_that_have_to_wait(time: FakeTime) -> None:
    level = queue_set(time, 4)
    running = [request(0, seats=2), request(1), request(2)]
    waiting = [request(3, seats=2), request(4)]

    assert [level.start(one) for one in running] == [Start.EXECUTING] * 3
    assert [level.start(one) for one in waiting] == [Start.QUEUED] * 2
    level.finish(running[1])

    assert level.seats_waiting == 2  # the wide one


def test_seats_linger_after_the_response(time: FakeTime) -> None:
    level = queue_set(time, 3)
    write, other = request(0, final=3, linger=0.005), request(1)
    level.start(write)
    assert level.start(other) is Start.QUEUED

    time.pass_by(0.01)
    linger = level.finish(write)

    assert linger == 0.005
    assert (level.executing, level.seats_in_use, level.waiting) == (0, 3, 1)
    time.pass_by(linger)
    level.release(write)
    assert (level.executing, level.seats_in_use, level.waiting) == (1, 1, 0)


def test_more_final_seats_than_the_level_has_linger_longer(time: FakeTime) -> None:
    level = queue_set(time, 2)
    write = request(0, final=8, linger=0.005)
    level.start(write)

    linger = level.finish(write)

    assert linger == pytest.approx(0.02)
    assert level.seats_in_use == 2


def test_a_request_can_be_withdrawn_until_it_is_executed(time: FakeTime) -> None:
    level = queue_set(time, 1)
    first, late, gone = request(0), request(1), request(1)
    for made in (first, late, gone):
        level.start(made)

    assert level.withdraw(late)
    assert level.withdraw(gone, cancelled=True)
    assert not level.withdraw(first)
    assert not level.withdraw(late)
    assert (level.waiting, level.seats_waiting) == (0, 0)
    assert (level.rejected, level.timed_out, level.cancelled) == (2, 1, 1)


def test_more_seats_dispatch_waiting_requests_at_once(time: FakeTime) -> None:
    level = queue_set(time, 1)
    for queue in range(4):
        level.start(request(queue))

    level.configure(QUEUES, 3)

    assert (level.executing, level.waiting) == (3, 1)


def test_idle_queues_take_no_memory(time: FakeTime) -> None:
    level = queue_set(time, 1, Queuing(queues=10_000_000, hand_size=1, length_limit=1))

    for index in range(2000):
        made = request(index)
        level.start(made)
        level.finish(made)

    assert len(level.queues) <= 256
    assert level.is_idle
