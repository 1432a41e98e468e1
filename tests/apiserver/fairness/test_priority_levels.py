"""Levels of a worker: their seats, and what they lend and borrow."""

import pytest

from apiserver.fairness.flow_configuration import LevelConfiguration, Queuing
from apiserver.fairness.priority_levels import KEPT_SEATS, PriorityLevel, PriorityLevels
from apiserver.fairness.queue_set import SeatRequest, Start
from apiserver.fairness.seat_allocation import ImpossibleAllocation, SeatClaim, allocate
from apiserver.fairness.seat_demand import DemandIntegrator, SmoothedDemand
from tests.apiserver.fairness.fake_time import FakeTime

QUEUES = Queuing(queues=4, hand_size=1, length_limit=1000)


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


def configuration(
    name: str, shares: int, *, lendable: int = 0, borrowing: int | None = None
) -> LevelConfiguration:
    return LevelConfiguration(
        name,
        shares=shares,
        lendable_percent=lendable,
        borrowing_percent=borrowing,
        queuing=QUEUES,
    )


def demand(level: PriorityLevel, seats: int) -> list[SeatRequest]:
    """Have *seats* requests executed or waiting."""
    made = [SeatRequest((0,)) for _ in range(seats)]
    for request in made:
        assert level.queue_set.start(request) in (Start.EXECUTING, Start.QUEUED)
    return made


def test_seats_are_divided_by_shares(time: FakeTime) -> None:
    levels = PriorityLevels(600, time)
    levels.configure([configuration("a", 20), configuration("b", 40, lendable=50)])

    nominal = {name: level.nominal for name, level in levels.by_name.items()}

    # catch-all has 5 shares; fractions are rounded up.
    assert nominal == {"a": 185, "b": 370, "catch-all": 47, "exempt": 0}
    assert (levels.by_name["b"].lowest, levels.by_name["b"].highest) == (185, 970)


def test_a_busy_level_borrows_from_an_idle_one_and_returns_its_seats(time: FakeTime) -> None:
    levels = PriorityLevels(100, time)
    levels.configure([configuration("busy", 50), configuration("idle", 45, lendable=60)])
    busy, idle = levels.by_name["busy"], levels.by_name["idle"]
    demand(busy, 200)

    time.pass_by(10)
    levels.adjust()

    assert idle.current == idle.lowest == 18
    assert busy.current == 77
    assert busy.queue_set.executing == 77

    demand(idle, 45)
    time.pass_by(10)
    levels.adjust()

    assert idle.current == idle.nominal == 45


def test_a_level_borrows_no_more_than_it_may(time: FakeTime) -> None:
    levels = PriorityLevels(100, time)
    levels.configure(
        [configuration("busy", 50, borrowing=10), configuration("idle", 45, lendable=100)]
    )
    demand(levels.by_name["busy"], 200)

    time.pass_by(10)
    levels.adjust()

    assert levels.by_name["busy"].current == 55


def test_seats_that_are_not_lendable_stay(time: FakeTime) -> None:
    levels = PriorityLevels(100, time)
    levels.configure([configuration("busy", 50), configuration("idle", 45)])
    demand(levels.by_name["busy"], 200)

    time.pass_by(10)
    levels.adjust()

    assert levels.by_name["idle"].current == 45
    assert levels.by_name["busy"].current == 50


def test_demand_is_remembered_for_minutes(time: FakeTime) -> None:
    levels = PriorityLevels(100, time)
    levels.configure([configuration("a", 50, lendable=50), configuration("b", 45, lendable=50)])
    level = levels.by_name["a"]
    for request in demand(level, 50):
        level.queue_set.withdraw(request) or level.queue_set.finish(request)
    time.pass_by(0.001)
    smoothed = []
    demand(level, 40)
    for _ in range(3):
        time.pass_by(10)
        levels.adjust()
        smoothed.append(level.demand.smoothed)

    assert smoothed[-1] == pytest.approx(40, abs=1)


def test_a_deleted_level_drains_before_it_goes(time: FakeTime) -> None:
    levels = PriorityLevels(100, time)
    levels.configure([configuration("old", 50)])
    old = levels.by_name["old"]
    (request,) = demand(old, 1)

    levels.configure([])
    assert levels.by_name["old"].quiescing
    old.queue_set.finish(request)
    levels.adjust()

    assert set(levels.by_name) == {"catch-all", "exempt"}


def test_only_the_level_named_exempt_can_be_exempt(time: FakeTime) -> None:
    levels = PriorityLevels(100, time)
    levels.configure(
        [LevelConfiguration("mine", exempt=True), LevelConfiguration("exempt", shares=5)]
    )

    assert set(levels.by_name) == {"catch-all", "exempt"}
    assert levels.by_name["exempt"].configuration.exempt


def test_pressure_gives_out_a_fraction_of_the_seats(time: FakeTime) -> None:
    levels = PriorityLevels(100, time)
    levels.configure([configuration("a", 95)])
    level = levels.by_name["a"]
    levels.set_pressure(0.2)

    demand(level, 50)

    assert level.queue_set.executing == 19
    levels.set_pressure(1.0)
    assert level.queue_set.executing == 50


def test_every_level_keeps_a_few_seats_under_pressure(time: FakeTime) -> None:
    levels = PriorityLevels(100, time)
    levels.configure([configuration("small", 1), configuration("large", 94)])

    levels.set_pressure(1 / 64)

    assert levels.by_name["small"].queue_set.limit == 1
    assert levels.by_name["large"].queue_set.limit == KEPT_SEATS


@pytest.mark.parametrize(
    ("seats", "claims", "expected"),
    [
        (10, [(5, 0, 10), (5, 0, 10)], [5, 5]),
        (10, [(20, 0, 10), (5, 0, 10)], [8, 2]),
        (10, [(20, 0, 6), (5, 0, 10)], [6, 4]),
        (10, [(20, 0, 10), (5, 4, 10)], [6, 4]),
        (10, [(0, 0, 10), (0, 0, 10)], [5, 5]),
        (6, [(3, 3, 10), (3, 3, 10)], [3, 3]),
        (0, [(1, 0, 1)], [0]),
    ],
)
def test_allocation(
    seats: int, claims: list[tuple[float, float, float]], expected: list[float]
) -> None:
    found, _ = allocate(seats, [SeatClaim(*claim) for claim in claims])

    assert found == pytest.approx(expected)


@pytest.mark.parametrize(("seats", "claim"), [(1, (3, 3, 5)), (9, (3, 3, 5))])
def test_bounds_that_cannot_be_kept(seats: int, claim: tuple[float, float, float]) -> None:
    with pytest.raises(ImpossibleAllocation):
        allocate(seats, [SeatClaim(*claim)])


def test_demand_is_integrated_over_time() -> None:
    integrator = DemandIntegrator(0)
    integrator.set(10, 5)
    found = integrator.reset(10)

    assert (found.seconds, found.average, found.deviation, found.highest) == (10, 5, 5, 10)
    assert integrator.reset(20).average == 10


def test_smoothed_demand_rises_at_once_and_decays_slowly() -> None:
    integrator, smoothed = DemandIntegrator(0), SmoothedDemand()
    integrator.set(100, 0)
    smoothed.update(integrator.reset(10))
    integrator.set(0, 10)
    after = []
    for period in range(2, 32):
        smoothed.update(integrator.reset(period * 10))
        after.append(smoothed.smoothed)

    assert 45 < after[-1] < 55
