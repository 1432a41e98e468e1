"""Deployments roll from one template to the next, and report how far they are."""

from typing import Any

from apis.apps.controllers import deployment as deployments
from apis.apps.controllers import replica_set as replica_sets
from apis.apps.controllers.deployment_revisions import HISTORY, REVISION, TEMPLATE_HASH
from apis.apps.controllers.deployment_status import condition_of
from apis.apps.v1 import Deployment, ReplicaSet
from apis.core.v1 import Event
from client.controller.manager import Manager
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock
from client.testing.settling import ManagerUnderTest
from tests.apis.apps.controllers.pods import TEMPLATE, all_ready, pods


def setup(manager: Manager) -> None:
    deployments.setup(manager)
    replica_sets.setup(manager)


def deployment(replicas: int = 3, **spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "a"}}
    full = {"replicas": replicas, "selector": selector, "template": TEMPLATE, **spec}
    return {"metadata": {"name": "d", "annotations": {"team": "t"}}, "spec": full}


def image(name: str) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": name}]}}}}


async def images(env: Environment) -> list[str]:
    return sorted(pod.spec.containers[0].image for pod in await pods(env))


async def rolled_out(env: Environment, mgr: ManagerUnderTest) -> Deployment:
    """Let all pods become ready until nothing moves any more."""
    for _ in range(20):
        await mgr.settled()
        before = [pod.metadata.name for pod in await pods(env)]
        await all_ready(env)
        await mgr.settled()
        if before == [pod.metadata.name for pod in await pods(env)]:
            break
    return await env.get(Deployment, "d")


async def progress(env: Environment) -> tuple[str, str]:
    condition = condition_of((await env.get(Deployment, "d")).status, "Progressing")
    assert condition is not None
    return condition.status, condition.reason


async def test_a_deployment_from_its_creation_to_a_rollback(env: Environment) -> None:
    objects = env.client.of(Deployment)
    async with env.manager(setup) as mgr:
        await objects.create(deployment())
        await mgr.settled()
        (first,) = await env.list(ReplicaSet)
        hash_ = first.metadata.labels[TEMPLATE_HASH]
        assert first.metadata.name == f"d-{hash_}"
        assert first.spec.selector is not None
        assert first.spec.selector.match_labels == {"app": "a", TEMPLATE_HASH: hash_}
        assert first.metadata.annotations["team"] == "t"
        assert first.metadata.annotations[REVISION] == "1"
        assert await progress(env) == ("True", "ReplicaSetUpdated")

        done = await rolled_out(env, mgr)
        assert done.metadata.annotations[REVISION] == "1"
        status = done.status
        assert (status.replicas, status.updated_replicas, status.available_replicas) == (3, 3, 3)
        assert await progress(env) == ("True", "NewReplicaSetAvailable")

        await objects.patch("d", image("j"))
        await mgr.settled()
        assert await images(env) == ["i", "i", "i", "j"]  # one more than wanted, none fewer
        await rolled_out(env, mgr)
        assert await images(env) == ["j", "j", "j"]

        await objects.patch("d", image("i"))  # what `kubectl rollout undo` does
        done = await rolled_out(env, mgr)
        assert await images(env) == ["i", "i", "i"]
        assert done.metadata.annotations[REVISION] == "3"

    back = await env.get(ReplicaSet, first.metadata.name)
    assert back.metadata.annotations[REVISION] == "3"
    assert back.metadata.annotations[HISTORY] == "1"
    messages = {event.message for event in await env.list(Event) if event.reason.startswith("Sca")}
    assert f"Scaled up replica set {first.metadata.name} from 0 to 3" in messages


async def test_recreation_has_no_old_pod_beside_a_new_one(env: Environment) -> None:
    objects = env.client.of(Deployment)
    async with env.manager(setup) as mgr:
        await objects.create(deployment(strategy={"type": "Recreate"}))
        await rolled_out(env, mgr)
        await objects.patch("d", image("j"))
        await mgr.settled()
        # The pods were not scheduled, so that they were deleted at once.
        assert set(await images(env)) == {"j"}

        await rolled_out(env, mgr)
        assert await images(env) == ["j", "j", "j"]


async def test_a_paused_deployment_is_scaled_but_not_updated(env: Environment) -> None:
    objects = env.client.of(Deployment)
    async with env.manager(setup) as mgr:
        await objects.create(deployment(2))
        await rolled_out(env, mgr)
        await objects.patch("d", {"spec": {"paused": True}})
        await mgr.settled()
        assert await progress(env) == ("Unknown", "DeploymentPaused")
        await objects.patch("d", image("j"))
        await objects.patch("d", {"spec": {"replicas": 4}})
        await rolled_out(env, mgr)
        assert await images(env) == ["i"] * 4

        await objects.patch("d", {"spec": {"paused": False}})
        await rolled_out(env, mgr)
        assert await images(env) == ["j"] * 4
        assert await progress(env) == ("True", "NewReplicaSetAvailable")


async def test_a_rollout_that_does_not_move_is_late(env: Environment, clock: FakeClock) -> None:
    async with env.manager(setup) as mgr:
        await env.client.of(Deployment).create(deployment(progressDeadlineSeconds=60))
        await mgr.settled()
        await clock.advance(70)
        await mgr.settled()
        assert await progress(env) == ("False", "ProgressDeadlineExceeded")

        await rolled_out(env, mgr)
        assert await progress(env) == ("True", "NewReplicaSetAvailable")


async def test_old_revisions_are_forgotten(env: Environment) -> None:
    objects = env.client.of(Deployment)
    async with env.manager(setup) as mgr:
        await objects.create(deployment(1, revisionHistoryLimit=1))
        await rolled_out(env, mgr)
        for name in ("j", "k", "l"):
            await objects.patch("d", image(name))
            await rolled_out(env, mgr)

    kept = {one.spec.template.spec.containers[0].image for one in await env.list(ReplicaSet)}
    assert kept == {"k", "l"}


async def test_a_name_that_is_taken_is_not_used(env: Environment) -> None:
    async with env.manager(setup) as mgr:
        await env.client.of(Deployment).create(deployment(1))
        await mgr.settled()
        (made,) = await env.list(ReplicaSet)
    taken = {
        "metadata": {"name": made.metadata.name, "labels": {"app": "other"}},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "other"}},
            "template": {**TEMPLATE, "metadata": {"labels": {"app": "other"}}},
        },
    }
    await env.observer.of(ReplicaSet).delete(made.metadata.name)
    await env.observer.of(ReplicaSet).create(taken)
    async with env.manager(setup) as mgr:
        await mgr.settled()

    names = {one.metadata.name for one in await env.list(ReplicaSet)}
    assert len(names) == 2
    assert (await env.get(Deployment, "d")).status.collision_count == 1
