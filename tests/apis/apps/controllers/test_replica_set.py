"""Replica sets have as many pods as they want, whatever happens to them."""

from typing import Any

from apis.apps.controllers.replica_set import setup
from apis.apps.v1 import ReplicaSet
from apis.core.controllers import replication_controller
from apis.core.v1 import Event, Pod, ReplicationController
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock
from tests.apis.apps.controllers.pods import TEMPLATE, all_ready, pods, report


def replica_set(replicas: int = 2, **spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "a"}}
    full = {"replicas": replicas, "selector": selector, "template": TEMPLATE, **spec}
    return {"metadata": {"name": "r"}, "spec": full}


async def names(env: Environment) -> set[str]:
    return {pod.metadata.name for pod in await pods(env)}


async def test_pods_are_made_and_taken_away(env: Environment) -> None:
    sets = env.client.of(ReplicaSet)
    async with env.manager(setup) as mgr:
        await sets.create(replica_set(3))
        await mgr.settled()
        made = await pods(env)

        assert len(made) == 3
        assert all(pod.metadata.name.startswith("r-") for pod in made)
        assert made[0].metadata.labels == {"app": "a"}
        owner = made[0].metadata.owner_references[0]
        assert (owner.kind, owner.name, owner.controller) == ("ReplicaSet", "r", True)
        assert owner.block_owner_deletion

        await sets.patch("r", {"spec": {"replicas": 1}})
        await mgr.settled()
        assert len(await pods(env)) == 1

        await env.observer.of(Pod).delete((await pods(env))[0].metadata.name)
        await mgr.settled()
        assert len(await pods(env)) == 1

    status = (await env.get(ReplicaSet, "r")).status
    assert (status.replicas, status.observed_generation) == (1, 2)
    reasons = {(event.reason, event.type) for event in await env.list(Event)}
    assert reasons == {("SuccessfulCreate", "Normal"), ("SuccessfulDelete", "Normal")}


async def test_a_pod_that_has_ended_is_replaced(env: Environment) -> None:
    async with env.manager(setup) as mgr:
        await env.client.of(ReplicaSet).create(replica_set(1))
        await mgr.settled()
        (first,) = await names(env)
        await report(env, first, "Failed", ready_at=None)
        await mgr.settled()

    assert len(await names(env)) == 2


async def test_the_status_counts_ready_and_available_pods(
    env: Environment, clock: FakeClock
) -> None:
    async with env.manager(setup) as mgr:
        await env.client.of(ReplicaSet).create(replica_set(2, minReadySeconds=30))
        await mgr.settled()
        await all_ready(env)
        await mgr.settled()
        status = (await env.get(ReplicaSet, "r")).status
        assert (status.ready_replicas, status.available_replicas) == (2, 0)

        await clock.advance(31)
        await mgr.settled()

    status = (await env.get(ReplicaSet, "r")).status
    assert (status.ready_replicas, status.available_replicas) == (2, 2)
    assert status.fully_labeled_replicas == 2


async def test_orphans_are_adopted_and_strangers_released(env: Environment) -> None:
    orphan = {"metadata": {"name": "o", "labels": {"app": "a", "x": "y"}}, "spec": TEMPLATE["spec"]}
    async with env.manager(setup) as mgr:
        await env.client.of(ReplicaSet).create(replica_set(1))
        await mgr.settled()
        await env.client.of(Pod).create(orphan)
        await mgr.settled()
        assert len(await names(env)) == 1  # it was one too many, adopted and then compared

        (kept,) = await names(env)
        await env.observer.of(Pod).patch(kept, {"metadata": {"labels": {"app": "b"}}})
        await mgr.settled()

    assert len(await names(env)) == 2
    assert (await env.get(Pod, kept)).metadata.owner_references == []


async def test_the_pods_that_matter_least_go_first(env: Environment) -> None:
    sets = env.client.of(ReplicaSet)
    async with env.manager(setup) as mgr:
        await sets.create(replica_set(3))
        await mgr.settled()
        one, two, three = sorted(await names(env))
        await report(env, two, "Running", ready_at=env.clock.now())
        await env.observer.of(Pod).patch(
            one,
            {"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-1"}}},
        )
        await mgr.settled()

        await sets.patch("r", {"spec": {"replicas": 2}})
        await mgr.settled()
        assert await names(env) == {two, three}

        await sets.patch("r", {"spec": {"replicas": 1}})
        await mgr.settled()
        assert await names(env) == {two}


async def test_a_replication_controller_does_the_same(env: Environment) -> None:
    spec = {"replicas": 2, "selector": {"app": "a"}, "template": TEMPLATE}
    async with env.manager(replication_controller.setup) as mgr:
        await env.client.of(ReplicationController).create({"metadata": {"name": "r"}, "spec": spec})
        await mgr.settled()
        await all_ready(env)
        await mgr.settled()

    status = (await env.get(ReplicationController, "r")).status
    assert (status.replicas, status.ready_replicas, status.available_replicas) == (2, 2, 2)
    assert {pod.metadata.owner_references[0].kind for pod in await pods(env)} == {
        "ReplicationController"
    }


async def test_faults_are_waited_out(env: Environment) -> None:
    env.faults.create(Pod).internal_error(times=2)
    env.faults.create(Pod).lose()
    env.faults.update(ReplicaSet, "status").conflict(times=2)
    async with env.manager(setup) as mgr:
        await env.client.of(ReplicaSet).create(replica_set(3))
        await mgr.settled()

    assert not env.faults.pending
    assert len(await pods(env)) == 3
    status = (await env.get(ReplicaSet, "r")).status
    assert (status.replicas, status.conditions) == (3, [])
    assert "FailedCreate" in {event.reason for event in await env.list(Event)}
