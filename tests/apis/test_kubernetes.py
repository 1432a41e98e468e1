"""KUBERNETES: one tuple of groups that every way to start a server takes."""

from collections.abc import Sequence

from apis.core.install import CORE
from apis.core.v1 import ServiceAccount
from apis.gadgets.install import GADGETS
from apis.gadgets.v1 import Gadget
from apis.kubernetes import KUBERNETES
from apiserver.controlplane.standard_server import beyond, standard_groups
from apiserver.group import Group
from client.testing import environment


def resources(groups: Sequence[Group]) -> set[str]:
    return {f"{group.name}/{resource.name}" for group in groups for resource in group.resources}


def test_the_full_core_group_describes_the_standard_resources_as_the_small_one_does() -> None:
    full = next(group for group in KUBERNETES if not group.name)

    assert [resource for resource in full.resources if resource in CORE.resources] == [
        *CORE.resources
    ]


def test_what_is_beyond_the_standard_groups() -> None:
    standard = standard_groups()

    assert beyond(standard, standard) == []
    assert beyond(standard, [GADGETS]) == [GADGETS]
    assert resources(beyond(standard, KUBERNETES)).isdisjoint(resources(standard))


async def test_an_environment_takes_them_with_a_group_of_ones_own() -> None:
    async with environment([*KUBERNETES, GADGETS]) as env:
        await env.client.of(Gadget).create({"metadata": {"name": "a"}, "spec": {"model": "a1"}})
        accounts = env.client.of(ServiceAccount)
        await accounts.create({"metadata": {"name": "builder"}})

        token = await accounts.subresource("token").create("builder", {"spec": {}})

        assert token["status"]["token"], "the server completes the core group"
