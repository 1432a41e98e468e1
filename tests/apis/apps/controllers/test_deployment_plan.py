"""The plan of a rollout keeps its promises at every step, and ends."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from apimachinery.meta.types import ObjectMeta
from apis.apps.controllers.deployment_plan import (
    DESIRED,
    MAXIMUM,
    Rollout,
    RolloutLimits,
    recreate_step,
    rolling_step,
    scaled,
    size,
    total,
)
from apis.apps.v1 import Deployment, ReplicaSet
from apis.apps.v1.deployment import DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment
from apis.apps.v1.replica_set import ReplicaSetSpec, ReplicaSetStatus

share = st.one_of(st.integers(0, 5), st.integers(0, 100).map("{}%".format))


def deployment(wanted: int, surge: int | str, unavailable: int | str) -> Deployment:
    rolling = RollingUpdateDeployment(max_surge=surge, max_unavailable=unavailable)
    strategy = DeploymentStrategy(type="RollingUpdate", rolling_update=rolling)
    return Deployment(spec=DeploymentSpec(replicas=wanted, strategy=strategy))


def replica_set(name: str, wanted: int, available: int = 0, *, part_of: int = 0) -> ReplicaSet:
    annotations = {DESIRED: str(part_of), MAXIMUM: str(part_of)} if part_of else {}
    return ReplicaSet(
        metadata=ObjectMeta(name=name, annotations=annotations),
        spec=ReplicaSetSpec(replicas=wanted),
        status=ReplicaSetStatus(replicas=wanted, available_replicas=available),
    )


def settle(sets: Sequence[ReplicaSet], data: st.DataObject) -> None:
    """Let the replica sets follow their sizes; an arbitrary part of the pods becomes available."""
    for each in sets:
        wanted = size(each)
        least = min(each.status.available_replicas, wanted)
        each.status.replicas = wanted
        each.status.available_replicas = data.draw(st.integers(least, wanted))


@given(st.data(), st.integers(1, 20), share, share)
def test_a_rolling_update_keeps_within_its_limits_and_ends(
    data: st.DataObject, wanted: int, surge: int | str, unavailable: int | str
) -> None:
    target = deployment(wanted, surge, unavailable)
    limits = RolloutLimits.of(target)
    old = [replica_set("old", wanted, available=wanted)]
    new = replica_set("new", 0)
    rollout = Rollout(target, new, old)

    for step in range(20 * wanted + 20):
        if size(new) == wanted and not total(old):
            break
        before = sum(min(each.status.available_replicas, size(each)) for each in rollout.sets)
        for name, count in rolling_step(rollout).items():
            next(each for each in rollout.sets if each.metadata.name == name).spec.replicas = count
        assert total(rollout.sets) <= limits.maximum
        left = sum(min(each.status.available_replicas, size(each)) for each in rollout.sets)
        assert left >= min(limits.minimum, before)
        settle(rollout.sets, data)
        # In the end every pod becomes available.
        for each in rollout.sets:
            each.status.available_replicas = max(
                each.status.available_replicas, size(each) if step % 3 == 2 else 0
            )
    else:
        raise AssertionError(f"the rollout did not end: {[size(each) for each in rollout.sets]}")


@given(st.integers(1, 20), share, share, st.integers(0, 20))
def test_pods_that_are_not_available_go_first(
    wanted: int, surge: int | str, unavailable: int | str, healthy: int
) -> None:
    healthy = min(healthy, wanted)
    target = deployment(wanted, surge, unavailable)
    broken = replica_set("broken", wanted - healthy)
    serving = replica_set("serving", healthy, available=healthy)
    new = replica_set("new", wanted, available=0)
    rollout = Rollout(target, new, [broken, serving])

    sizes = rolling_step(rollout)

    if sizes.get("serving", healthy) < healthy:
        assert sizes.get("broken", size(broken)) == 0 or healthy > RolloutLimits.of(target).minimum


@given(st.integers(0, 30), st.lists(st.integers(1, 10), min_size=2, max_size=5), share, share)
def test_scaling_in_the_middle_of_a_rollout_keeps_the_sum(
    wanted: int, counts: list[int], surge: int | str, unavailable: int | str
) -> None:
    target = deployment(wanted, surge, unavailable)
    whole = sum(counts)
    sets = [replica_set(f"s{n}", count, part_of=whole) for n, count in enumerate(counts)]
    rollout = Rollout(target, sets[-1], sets[:-1])

    sizes = scaled(rollout)

    assert all(count >= 0 for count in sizes.values())
    aim = RolloutLimits.of(target).maximum if wanted else 0
    # What rounding leaves over is taken from the largest, and no more than it has: the rest follows
    # in the next step.
    assert sum(sizes.values()) == aim or (sum(sizes.values()) > aim and 0 in sizes.values())


def test_one_replica_set_is_simply_scaled() -> None:
    rollout = Rollout(deployment(7, 1, 0), replica_set("new", 0), [replica_set("old", 3)])

    assert scaled(rollout) == {"old": 7}


def test_recreation_waits_for_the_old_pods() -> None:
    target = deployment(3, 0, 0)
    new = replica_set("new", 0)

    assert recreate_step(Rollout(target, new, [replica_set("old", 3)])) == {"old": 0}
    assert recreate_step(Rollout(target, new, [replica_set("old", 0)])) == {"new": 3}


def test_percentages_that_round_to_nothing_still_let_an_update_begin() -> None:
    tiny, ten = deployment(1, "0%", "20%"), deployment(10, "25%", "25%")

    assert RolloutLimits.of(tiny) == RolloutLimits(wanted=1, surge=0, unavailable=1)
    assert RolloutLimits.of(ten) == RolloutLimits(wanted=10, surge=3, unavailable=2)
