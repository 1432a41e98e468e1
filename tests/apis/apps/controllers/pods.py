"""Pods as a test drives them: what a kubelet would report about them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from apis.core.v1 import Pod
from client.testing.env import Environment

TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "a"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


async def pods(env: Environment) -> Sequence[Pod]:
    """Return the pods that are not being deleted, in the order of their names."""
    found = await env.list(Pod)
    alive = (pod for pod in found if pod.metadata.deletion_timestamp is None)
    return sorted(alive, key=lambda pod: pod.metadata.name)


async def report(env: Environment, name: str, phase: str, *, ready_at: datetime | None) -> None:
    """Report that a pod is in a phase, and since when it is ready."""
    condition = {
        "type": "Ready",
        "status": "False" if ready_at is None else "True",
        "lastTransitionTime": None if ready_at is None else ready_at.isoformat(),
    }
    status = {"phase": phase, "conditions": [condition]}
    await env.observer.of(Pod).status.patch(name, {"status": status})


async def all_ready(env: Environment) -> None:
    """Report every pod as running and ready since now."""
    for pod in await pods(env):
        await report(env, pod.metadata.name, "Running", ready_at=env.clock.now())
