"""OpenAPI says of definitions and operations what Kubernetes' says, which is in two files of facts.

Clients rely on them: kubectl explain prints them, and generators of clients and validators of
manifests read them. Descriptions are ours.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson
import pytest
import yaml

from tests.apis.kinds.kind_files import FOLDER, Manifest, facts, manifests
from tests.apis.kinds.kind_server import KindServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

Facts = dict[str, dict[str, Any]]
"""The facts of each definition, by package and name."""


@cache
def expected() -> Facts:
    facts: Facts = yaml.load((FOLDER / "openapi.yaml").read_text(), Loader=yaml.CSafeLoader)
    return facts


def without_defaults(facts: Facts) -> Facts:
    """Return the facts that version 2 publishes, which has no defaults."""
    return {
        package: {
            name: rest
            for name, about in definitions.items()
            if (rest := {key: value for key, value in about.items() if key != "defaults"})
        }
        for package, definitions in facts.items()
    }


def innermost(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of the items of a list or map, which have the enum of a field."""
    inner = schema.get("items") or schema.get("additionalProperties")
    return innermost(inner) if inner else schema


def facts_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    strings = {name: innermost(about) for name, about in properties.items()}
    enums = {name: about["enum"] for name, about in strings.items() if "enum" in about}
    facts = {
        "required": sorted(schema.get("required", ())),
        "map_type": schema.get("x-kubernetes-map-type"),
        "enums": enums,
        "defaults": {
            name: about["default"] for name, about in properties.items() if "default" in about
        },
    }
    return {key: value for key, value in facts.items() if value}


def published(schemas: Mapping[str, Any]) -> Facts:
    """Return the facts of the definitions whose package has facts."""
    facts: Facts = {package: {} for package in expected()}
    for full_name, schema in schemas.items():
        package, _, name = full_name.rpartition(".")
        if package in facts and (about := facts_of(schema)):
            facts[package][name] = about
    return facts


@cache
def expected_paths() -> dict[str, dict[str, str]]:
    """Return the operations of each path by method: the ID, and the type of the response."""
    paths: dict[str, dict[str, str]] = yaml.load(
        (FOLDER / "openapi_paths.yaml").read_text(), Loader=yaml.CSafeLoader
    )
    return paths


def operations(path: Mapping[str, Any]) -> dict[str, str]:
    return {
        method: f"{operation['operationId']} {response_type(operation['responses'])}"
        for method, operation in path.items()
        if method != "parameters"
    }


def response_type(responses: Mapping[str, Any]) -> str:
    """Return the name of the definition that a successful response has, or its plain type."""
    response = responses["200"]
    contents = response.get("content", {"": response}).values()
    (name,) = {
        str(schema.get("$ref") or schema["type"]).rpartition(".")[2]
        for schema in (content["schema"] for content in contents)
    }
    return name


async def documents(kinds: KindServer) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schemas and the paths of all documents of version 3."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for path in orjson.loads((await kinds.driver.get("/openapi/v3")).body)["paths"]:
        document = orjson.loads((await kinds.driver.get(f"/openapi/v3/{path}")).body)
        schemas |= document["components"].get("schemas", {})
        paths |= document["paths"]
    return schemas, paths


def is_of_kubernetes(path: str) -> bool:
    """Return whether a path belongs to a version of Kubernetes, and not to a definition."""
    parts = path.split("/")
    group = parts[2] if parts[1] == "apis" else ""
    return group in facts() and "/authentication.k8s.io/v1beta1/" not in path


async def test_version_3_publishes_what_kubernetes_publishes(kinds: KindServer) -> None:
    schemas, paths = await documents(kinds)
    found = {path: operations(item) for path, item in paths.items() if is_of_kubernetes(path)}

    assert published(schemas) == expected()
    assert found == expected_paths()


async def test_version_2_publishes_what_kubernetes_publishes(kinds: KindServer) -> None:
    document = orjson.loads((await kinds.driver.get("/openapi/v2")).body)
    paths = document["paths"]
    found = {path: operations(item) for path, item in paths.items() if is_of_kubernetes(path)}

    assert published(document["definitions"]) == without_defaults(expected())
    assert found == expected_paths()


RETURNED_THOUGH_NOT_DOCUMENTED = ("CustomResourceDefinition", "Namespace")
"""Kinds whose deletion responds with the object, though Kubernetes documents a Status."""


@pytest.mark.parametrize("manifest", manifests("minimal"), ids=lambda manifest: manifest.name)
async def test_a_deletion_responds_with_what_is_documented(
    kinds: KindServer, manifest: Manifest
) -> None:
    document = await kinds.applied(manifest)
    endpoint = kinds.endpoint(document)
    root = f"/apis/{endpoint.version}" if endpoint.version.group else "/api/v1"
    scope = "/namespaces/{namespace}" if endpoint.resource.namespaced else ""
    documented = expected_paths()[f"{root}{scope}/{endpoint.resource.name}/{{name}}"]["delete"]

    query = "dryRun=All&propagationPolicy=Background"
    answer = await kinds.driver.delete(f"{kinds.path(document)}?{query}")

    kind = document["kind"]
    expected_kind = kind if kind in RETURNED_THOUGH_NOT_DOCUMENTED else documented.split()[1]
    assert (answer.code, answer.json["kind"]) == (200, expected_kind)
