"""Answers about custom resources, each as kube-apiserver gives it."""

import asyncio
from typing import Any

import orjson
import pytest

from tests.apis.kinds.kind_server import APPLY, KindServer
from tests.apis.kinds.test_answers import DEFINITIONS, definition

pytestmark = pytest.mark.asyncio(loop_scope="session")

INTEGER, TEXT = {"type": "integer"}, {"type": "string"}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def foos(group: str, name: str = "", *, version: str = "v1") -> str:
    return f"/apis/{group}/{version}/namespaces/default/foos" + (f"/{name}" if name else "")


def foo(group: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": f"{group}/v1", "kind": "Foo", "metadata": {"name": name}, **fields}


async def define(kinds: KindServer, group: str, schema: dict[str, Any], **version: Any) -> None:
    defined = definition(group, schema)
    defined["spec"]["versions"][0] |= version
    await kinds.create(defined)


SCALED: dict[str, Any] = {
    "subresources": {
        "status": {},
        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
    }
}


async def scaled(kinds: KindServer) -> str:
    status = schema(replicas=INTEGER, num={"type": "integer", "maximum": 10})
    own = schema(spec=schema(replicas=INTEGER), status=status)
    await define(kinds, "scaled.io", own, **SCALED)
    await kinds.driver.post(foos("scaled.io"), foo("scaled.io", "one", spec={"replicas": 1}))
    return foos("scaled.io", "one")


async def test_a_path_without_a_namespace_does_not_exist(kinds: KindServer) -> None:
    await define(kinds, "spaces.io", schema())
    path = "/apis/spaces.io/v1/foos"

    codes = [
        (await kinds.driver.get(path)).code,
        (await kinds.driver.post(path, foo("spaces.io", "a"))).code,
        (await kinds.driver.delete(path)).code,
    ]

    assert codes == [200, 404, 404]


async def test_the_status_is_listed_before_the_scale(kinds: KindServer) -> None:
    await scaled(kinds)

    listed = (await kinds.driver.get("/apis/scaled.io/v1")).json["resources"]

    assert [resource["name"] for resource in listed] == ["foos", "foos/status", "foos/scale"]


async def test_a_scale_takes_no_strategic_merge_patch(kinds: KindServer) -> None:
    path = await scaled(kinds)
    change = {"spec": {"replicas": 2}}

    refused = await kinds.driver.patch(f"{path}/scale", change, "strategic-merge-patch+json")

    assert refused.code == 415
    assert refused.json["message"] == (
        "the body of the request was in an unknown format - accepted media types include:"
        " application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


async def test_an_error_in_the_status_names_fields_within_it(kinds: KindServer) -> None:
    path = await scaled(kinds)

    refused = await kinds.driver.patch(f"{path}/status", {"status": {"num": 11}})

    assert refused.json["message"] == (
        'Foo.scaled.io "one" is invalid: status.num: Invalid value: 11: num in body should be less'
        " than or equal to 10"
    )


async def test_an_error_names_the_kind_that_was_sent(kinds: KindServer) -> None:
    await define(kinds, "kinds.io", schema())

    refused = await kinds.driver.post(foos("kinds.io"), foo("kinds.io", "x") | {"kind": "Other"})

    assert (refused.code, refused.json["message"]) == (
        422,
        'Other.kinds.io "x" is invalid: kind: Invalid value: "Other": must be Foo',
    )


async def test_nothing_is_created_while_the_definition_is_terminating(kinds: KindServer) -> None:
    await define(kinds, "ending.io", schema())
    kept = foo("ending.io", "kept")
    kept["metadata"]["finalizers"] = ["example.io/kept"]
    assert (await kinds.driver.post(foos("ending.io"), kept)).code == 201
    await kinds.driver.delete(f"{DEFINITIONS}/foos.ending.io")
    await announced_without_create(kinds, "ending.io")
    new = foo("ending.io", "new")

    posted = await kinds.driver.post(foos("ending.io"), new)
    applied = await kinds.driver.send(
        "PATCH",
        f"{foos('ending.io', 'new')}?fieldManager=m",
        body=orjson.dumps(new),
        headers=APPLY,
    )

    message = "create not allowed while custom resource definition is terminating"
    for answer in (posted, applied):
        assert answer.code == 403
        assert answer.json["message"] == f'foos.ending.io "new" is forbidden: {message}'


async def announced_without_create(kinds: KindServer, group: str) -> None:
    """Wait until discovery shows that the definition is terminating."""
    async with asyncio.timeout(10):
        while (
            "create" in (await kinds.driver.get(f"/apis/{group}/v1")).json["resources"][0]["verbs"]
        ):
            await asyncio.sleep(0)


async def test_a_constraint_of_the_version_sees_that_of_the_request(kinds: KindServer) -> None:
    await define(kinds, "pinned.io", schema(apiVersion={"type": "string", "pattern": "v1$"}))

    assert (await kinds.driver.post(foos("pinned.io"), foo("pinned.io", "a"))).code == 201


async def test_openapi_v2_publishes_selectable_fields(kinds: KindServer) -> None:
    color = {"selectableFields": [{"jsonPath": ".spec.color"}]}
    await define(kinds, "colors.io", schema(spec=schema(color=TEXT)), **color)

    published = (await kinds.driver.get("/openapi/v2")).json["definitions"]["io.colors.v1.Foo"]

    assert published["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.color"}]


async def test_an_object_gets_the_defaults_of_both_versions(kinds: KindServer) -> None:
    """Those of the request when it is created, those of the storage version when it is stored."""

    def defaulted(name: str) -> dict[str, Any]:
        fields = {"a": TEXT, "b": TEXT} | {name: {"type": "string", "default": name}}
        return schema(spec={"type": "object", "default": {}, "properties": fields})

    defined = definition("both.io", defaulted("a"))
    (first,) = defined["spec"]["versions"]
    second = first | {"name": "v2", "schema": {"openAPIV3Schema": defaulted("b")}}
    defined["spec"]["versions"] = [first | {"storage": False}, second]
    await kinds.create(defined)

    await kinds.driver.post(foos("both.io"), foo("both.io", "a"))

    stored = (await kinds.driver.get(foos("both.io", "a", version="v2"))).json
    assert stored["spec"] == {"a": "a", "b": "b"}
