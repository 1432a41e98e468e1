"""Discovery says of every resource what Kubernetes' says, and OpenAPI explains every field."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from apiserver.group import ALL_VERBS
from tests.apis.kinds.kind_files import STREAMED, facts, kubernetes_groups
from tests.apis.kinds.kind_server import KindServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

VERSIONS = [(group.name, version) for group in kubernetes_groups() for version in group.versions]
PART_VERBS = ["get", "patch", "update"]


def root(group: str, version: str) -> str:
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def expected_resources(group: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each resource and subresource of a group as discovery lists it, by name."""
    for name, fact in facts()[group]["resources"].items():
        resource = {
            "name": name,
            "kind": fact["kind"],
            "singularName": fact.get("singular", fact["kind"].lower()),
            "namespaced": fact.get("namespaced", True),
            "verbs": fact.get("verbs", list(ALL_VERBS)),
        }
        optional = {
            "shortNames": fact.get("short_names"),
            "categories": fact.get("categories"),
            "storageVersionHash": fact.get("hash"),
        }
        yield name, resource | {key: value for key, value in optional.items() if value}
        for part, about in fact.get("subresources", {}).items():
            if part in STREAMED:
                continue
            *version, kind = about.get("kind", fact["kind"]).split("/")
            yield (
                f"{name}/{part}",
                {
                    "name": f"{name}/{part}",
                    "kind": kind,
                    "singularName": "",
                    "namespaced": resource["namespaced"],
                    "verbs": about.get("verbs", PART_VERBS),
                }
                | dict(zip(("group", "version"), version, strict=False)),
            )


@pytest.mark.parametrize(("group", "version"), VERSIONS)
async def test_discovery_lists_what_kubernetes_lists(
    kinds: KindServer, group: str, version: str
) -> None:
    served = (await kinds.driver.get(root(group, version))).json["resources"]
    names = {resource["name"] for resource in served}
    expected = [fact for name, fact in expected_resources(group) if name.split("/")[0] in names]

    assert served == expected


@pytest.mark.parametrize("group", [group.name for group in kubernetes_groups()])
async def test_versions_are_preferred_as_in_kubernetes(kinds: KindServer, group: str) -> None:
    path = f"/apis/{group}" if group else "/api"
    listed = (await kinds.driver.get(path)).json["versions"]
    versions = [each["version"] if group else each for each in listed]
    expected = facts()[group]["versions"]

    # Versions that Kubernetes has stopped serving come last.
    assert versions[: len(expected)] == expected


async def test_groups_are_listed_in_the_order_of_kubernetes(kinds: KindServer) -> None:
    listed = (await kinds.driver.get("/apis")).json["groups"]
    names = [group["name"] for group in listed if group["name"] in facts()]

    assert names == [name for name in facts() if name in names]


@pytest.mark.parametrize(("group", "version"), VERSIONS)
async def test_every_field_is_explained(kinds: KindServer, group: str, version: str) -> None:
    answer = await kinds.driver.get(f"/openapi/v3{root(group, version)}")
    schemas = orjson.loads(answer.body)["components"]["schemas"]

    unexplained = [name for name, schema in schemas.items() if not schema.get("description")]
    unexplained += [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, about in schema.get("properties", {}).items()
        if not about.get("description")
    ]
    assert unexplained == []
