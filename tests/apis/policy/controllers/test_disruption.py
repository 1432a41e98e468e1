"""Disruption budgets allow as many evictions as their pods can bear."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from apis.apps.controllers import replica_set
from apis.apps.v1 import ReplicaSet
from apis.core.v1 import ConfigMap, Event, Pod
from apis.kubernetes import KUBERNETES
from apis.policy.controllers import disruption
from apis.policy.v1 import PodDisruptionBudget
from client.controller.manager import Manager
from client.testing import environment
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock
from tests.apis.apps.controllers.pods import TEMPLATE, all_ready, pods


def setup(manager: Manager) -> None:
    disruption.setup(manager)
    replica_set.setup(manager)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def env(clock: FakeClock) -> AsyncIterator[Environment]:
    async with environment(KUBERNETES, clock=clock) as running:
        yield running


def budget(**spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "a"}}
    return {"metadata": {"name": "b"}, "spec": {"selector": selector, **spec}}


SET = {
    "metadata": {"name": "r"},
    "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE},
}


async def counts(env: Environment) -> tuple[int, int, int, int]:
    status = (await env.get(PodDisruptionBudget, "b")).status
    return (
        status.expected_pods,
        status.desired_healthy,
        status.current_healthy,
        status.disruptions_allowed,
    )


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"maxUnavailable": 1}, (4, 3, 4, 1)),
        ({"maxUnavailable": "30%"}, (4, 2, 4, 2)),
        ({"minAvailable": 3}, (4, 3, 4, 1)),
        ({"minAvailable": "60%"}, (4, 3, 4, 1)),
        ({"minAvailable": 9}, (4, 9, 4, 0)),
        ({}, (0, 0, 4, 0)),
    ],
)
async def test_what_a_budget_allows(
    env: Environment, spec: dict[str, Any], expected: tuple[int, int, int, int]
) -> None:
    async with env.manager(setup) as mgr:
        await env.client.of(PodDisruptionBudget).create(budget(**spec))
        await env.client.of(ReplicaSet).create(SET)
        await mgr.settled()
        assert (await counts(env))[2:] == (0, 0)

        await all_ready(env)
        await mgr.settled()
        assert await counts(env) == expected


async def test_evictions_are_allowed_one_after_the_other(
    env: Environment, clock: FakeClock
) -> None:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction"}
    async with env.manager(setup) as mgr:
        await env.client.of(PodDisruptionBudget).create(budget(maxUnavailable=1))
        await env.client.of(ReplicaSet).create(SET)
        await mgr.settled()
        for pod in await pods(env):
            binding = {"metadata": {"name": pod.metadata.name}, "target": {"name": "n"}}
            await env.observer.of(Pod).subresource("binding").create(pod.metadata.name, binding)
        await all_ready(env)
        await mgr.settled()
        first = (await pods(env))[0].metadata.name
        answer = {**eviction, "metadata": {"name": first}}
        await env.observer.of(Pod).subresource("eviction").create(first, answer)
        await mgr.settled()
        assert await counts(env) == (4, 3, 3, 0)

        await all_ready(env)  # its successor is ready as well
        await mgr.settled()
        assert await counts(env) == (4, 3, 4, 1)


async def test_while_the_controller_of_a_pod_is_unknown_nothing_is_allowed(
    env: Environment,
) -> None:
    """A ConfigMap can be the controller of a pod, but does not say how many there should be."""
    made = await env.client.of(ConfigMap).create({"metadata": {"name": "odd"}})
    owner = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "odd",
        "uid": made.metadata.uid,
        "controller": True,
    }
    pod = {
        "metadata": {"name": "p", "labels": {"app": "a"}, "ownerReferences": [owner]},
        "spec": TEMPLATE["spec"],
    }
    async with env.manager(disruption.setup):
        await env.client.of(Pod).create(pod)
        await env.client.of(PodDisruptionBudget).create(budget(maxUnavailable=1))
        failed = await env.observer.of(PodDisruptionBudget).wait(
            "b", lambda b: any(each.reason == "SyncFailed" for each in b.status.conditions)
        )

    assert failed.status.disruptions_allowed == 0
    assert failed.status.conditions[0].message == 'found no controllers for pod "p"'


async def test_pods_without_a_controller_are_warned_about(env: Environment) -> None:
    async with env.manager(disruption.setup) as mgr:
        pod = {"metadata": {"name": "p", "labels": {"app": "a"}}, "spec": TEMPLATE["spec"]}
        await env.client.of(Pod).create(pod)
        await env.client.of(PodDisruptionBudget).create(budget(minAvailable="50%"))
        await mgr.settled()

    assert "UnmanagedPods" in {event.reason for event in await env.list(Event)}
