"""Rate limiters, and what a queue tells of itself."""

import pytest

from client.controller import (
    Bucket,
    ExponentialFailure,
    FastSlow,
    MaxOf,
    MaxWait,
    PriorityQueue,
    WithJitter,
    WorkQueue,
    default_rate_limiter,
)
from tests.client.informer.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def test_each_failure_of_an_item_doubles_its_wait_from_5_ms_to_1000_s() -> None:
    limiter: ExponentialFailure[str] = ExponentialFailure()

    waits = [limiter.when("a") for _ in range(20)]

    assert waits[:4] == [0.005, 0.01, 0.02, 0.04]
    assert waits[17:] == [655.36, 1000.0, 1000.0]
    assert limiter.when("b") == 0.005
    assert limiter.num_requeues("a") == 20
    limiter.forget("a")
    assert (limiter.num_requeues("a"), limiter.when("a")) == (0, 0.005)


def test_no_number_of_failures_overflows() -> None:
    limiter: ExponentialFailure[str] = ExponentialFailure()
    limiter._failures["a"] = 10**6

    assert limiter.when("a") == 1000.0


async def test_the_bucket_gives_a_hundred_at_once_and_ten_a_second(clock: FakeClock) -> None:
    limiter: Bucket[str] = Bucket(clock=clock)

    assert {limiter.when("a") for _ in range(100)} == {0.0}
    assert [limiter.when("a") for _ in range(3)] == pytest.approx([0.1, 0.2, 0.3])
    await clock.advance(1)
    assert limiter.when("a") == 0.0
    limiter.forget("a")
    assert limiter.num_requeues("a") == 0


@pytest.mark.parametrize(("qps", "burst"), [(0, 1), (1, 0)])
def test_a_bucket_must_hold_something(qps: float, burst: int) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        Bucket[str](qps, burst)


def test_the_default_is_the_longer_of_both(clock: FakeClock) -> None:
    limiter = default_rate_limiter(clock)

    waits = [limiter.when(f"item-{number}") for number in range(102)]
    assert waits[:100] == [0.005] * 100
    assert waits[100:] == pytest.approx([0.1, 0.2])
    for _ in range(10):
        limiter.when("a")
    assert limiter.when("a") == 5.12
    assert limiter.num_requeues("a") == 11
    limiter.forget("a")
    assert limiter.num_requeues("a") == 0


def test_a_few_fast_attempts_and_then_slow_ones() -> None:
    limiter: FastSlow[str] = FastSlow(0.1, 10, 2)

    assert [limiter.when("a") for _ in range(4)] == [0.1, 0.1, 10, 10]
    assert limiter.num_requeues("a") == 4
    limiter.forget("a")
    assert limiter.when("a") == 0.1


def test_a_wait_can_be_bounded_and_stretched() -> None:
    limiter = MaxWait(ExponentialFailure[str](1, 100), 3)
    assert [limiter.when("a") for _ in range(3)] == [1, 2, 3]
    assert limiter.num_requeues("a") == 3
    limiter.forget("a")

    jittered = WithJitter(limiter, 0.5, chance=lambda: 1.0)
    assert jittered.when("a") == 1.5
    assert jittered.num_requeues("a") == 1
    jittered.forget("a")
    assert jittered.num_requeues("a") == 0


def test_no_limiters_do_not_limit() -> None:
    limiter: MaxOf[str] = MaxOf()

    assert (limiter.when("a"), limiter.num_requeues("a")) == (0.0, 0)


class Numbers:
    """Keeps what it is told by name."""

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = {}

    def count(self, metric: str, queue: str) -> None:
        assert queue == "test"
        counted = self.values.setdefault(metric, [0])
        counted[0] += 1

    def set(self, metric: str, queue: str, value: float, *, priority: int | None = None) -> None:
        name = metric if priority is None else f"{metric} {priority}"
        self.values.setdefault(name, []).append(value)

    def observe(self, metric: str, queue: str, seconds: float) -> None:
        self.values.setdefault(metric, []).append(seconds)


async def test_a_queue_tells_its_numbers_under_the_usual_names(clock: FakeClock) -> None:
    numbers = Numbers()
    queue: WorkQueue[str] = WorkQueue("test", metrics=numbers, clock=clock)
    queue.add("a")
    queue.add("b")
    queue.add("b")
    await clock.advance(2)
    await queue.get()
    await queue.get()
    await clock.advance(3)
    queue.metrics.report_running()
    queue.done("a")
    queue.add_after("c", 1)
    await clock.advance(5)
    await queue.get()

    assert numbers.values == {
        "workqueue_adds_total": [3],
        "workqueue_depth": [1, 2, 1, 0, 1, 0],
        "workqueue_queue_duration_seconds": [2, 2, 4],
        "workqueue_unfinished_work_seconds": [6],
        "workqueue_longest_running_processor_seconds": [3],
        "workqueue_work_duration_seconds": [3],
        "workqueue_retries_total": [1],
    }


async def test_a_priority_queue_tells_its_depth_by_priority(clock: FakeClock) -> None:
    numbers = Numbers()
    queue: PriorityQueue[str] = PriorityQueue("test", metrics=numbers, clock=clock)
    queue.add("a", priority=-100)
    queue.add("a", priority=5)
    queue.add_after("b", 1)
    queue.add("b")
    await queue.get()

    assert numbers.values["workqueue_depth -100"] == [1, 0]
    assert numbers.values["workqueue_depth 5"] == [1, 0]
    assert numbers.values["workqueue_depth 0"] == [1]
    assert numbers.values["workqueue_adds_total"] == [2]
    assert numbers.values["workqueue_retries_total"] == [1]
