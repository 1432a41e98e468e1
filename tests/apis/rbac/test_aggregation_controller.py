"""Cluster roles that are put together from others stay up to date, on a real server."""

from collections.abc import AsyncIterator

import pytest

from apis.rbac.v1 import ClusterRole
from client.resource import RESTResourceClient
from client.testing.env import environment
from tests.apis.rbac.making import cluster_role, rule

LABEL = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
LOOK = rule("look", "lamps")


@pytest.fixture
async def roles() -> AsyncIterator[RESTResourceClient[ClusterRole]]:
    async with environment() as env:
        yield env.client.of(ClusterRole)


async def test_a_labelled_role_joins_and_leaves(roles: RESTResourceClient[ClusterRole]) -> None:
    await roles.create(cluster_role("lamps", LOOK, **LABEL))
    await roles.wait("view", lambda role: LOOK in role.rules, timeout=10)

    await roles.delete("lamps")
    await roles.wait("view", lambda role: LOOK not in role.rules, timeout=10)


async def test_what_somebody_writes_into_it_is_taken_out_again(
    roles: RESTResourceClient[ClusterRole],
) -> None:
    view = await roles.get("view")
    before = view.deep_copy()
    view.rules.append(LOOK)
    assert LOOK in (await roles.update(view)).rules

    after = await roles.wait("view", lambda role: LOOK not in role.rules, timeout=10)

    assert after.rules == before.rules


async def test_chains_are_followed_to_their_end(roles: RESTResourceClient[ClusterRole]) -> None:
    """What joins `view` is in `edit`, and so in `admin`."""
    await roles.create(cluster_role("lamps", LOOK, **LABEL))

    for name in ("view", "edit", "admin"):
        await roles.wait(name, lambda role: LOOK in role.rules, timeout=10)
