"""Answers about custom resources, each as kube-apiserver gives it."""

import asyncio
from typing import Any

import orjson
import pytest

from tests.apis.kinds.kind_server import APPLY, KindServer
from tests.apis.kinds.test_answers import DEFINITIONS, definition
from tests.apiserver.http.driver import Answer

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


async def apply(kinds: KindServer, path: str, document: dict[str, Any]) -> Answer:
    body = orjson.dumps(document)
    return await kinds.driver.send("PATCH", f"{path}?fieldManager=m", body=body, headers=APPLY)


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
    applied = await apply(kinds, foos("ending.io", "new"), new)

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
    """It is not ratcheted: it holds for updates in each version."""
    pinned = {"type": "string", "pattern": "v1$"}
    defined = definition("pinned.io", schema(apiVersion=pinned))
    (first,) = defined["spec"]["versions"]
    defined["spec"]["versions"] = [first, first | {"name": "v2", "storage": False}]
    await kinds.create(defined)
    change = {"metadata": {"labels": {"a": "b"}}}

    created = await kinds.driver.post(foos("pinned.io"), foo("pinned.io", "a"))
    changed = await kinds.driver.patch(foos("pinned.io", "a"), change)
    refused = await kinds.driver.patch(foos("pinned.io", "a", version="v2"), change)

    assert (created.code, changed.code, refused.code) == (201, 200, 422)
    assert refused.json["message"] == (
        'Foo.pinned.io "a" is invalid: apiVersion: Invalid value: "pinned.io/v2": apiVersion in'
        " body should match 'v1$'"
    )


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

    dry = await kinds.driver.post(f"{foos('both.io')}?dryRun=All", foo("both.io", "a"))
    created = await kinds.driver.post(foos("both.io"), foo("both.io", "a"))

    assert dry.json["spec"] == created.json["spec"] == {"a": "a", "b": "b"}
    stored = (await kinds.driver.get(foos("both.io", "a", version="v2"))).json
    assert stored["spec"] == {"a": "a", "b": "b"}


async def test_apply_refuses_null_where_it_is_not_allowed(kinds: KindServer) -> None:
    """Other writes drop such a null, as if the field were absent."""
    fields = {"o": schema(x=INTEGER), "m": {"type": "object", "additionalProperties": TEXT}}
    fields["d"] = schema(x=INTEGER) | {"default": {"x": 1}}
    fields["n"] = schema() | {"nullable": True}
    await define(kinds, "nulls.io", schema(spec=schema(**fields)))

    for number, (spec, problem) in enumerate(
        (
            (None, 'spec: Invalid value: "null": spec in body must be of type object: "null"'),
            (
                {"o": None},
                'spec.o: Invalid value: "null": spec.o in body must be of type object: "null"',
            ),
            (
                {"m": {"k": None}},
                'spec.m.k: Invalid value: "null": spec.m.k in body must be of type string: "null"',
            ),
        )
    ):
        name = f"a{number}"
        refused = await apply(kinds, foos("nulls.io", name), foo("nulls.io", name) | {"spec": spec})
        assert refused.code == 422
        assert refused.json["message"] == f'Foo.nulls.io "{name}" is invalid: {problem}'
        created = await kinds.driver.post(foos("nulls.io"), foo("nulls.io", name, spec=spec))
        assert created.code == 201

    accepted = await apply(
        kinds, foos("nulls.io", "b"), foo("nulls.io", "b", spec={"d": None, "n": None})
    )
    assert accepted.json["spec"] == {"d": {"x": 1}, "n": None}


async def test_a_change_from_absent_to_empty_is_a_new_generation(kinds: KindServer) -> None:
    labels = {"type": "object", "additionalProperties": TEXT}
    await define(kinds, "generations.io", schema(spec=schema(m=labels)))
    await kinds.driver.post(foos("generations.io"), foo("generations.io", "a", spec={}))

    changed = await kinds.driver.patch(foos("generations.io", "a"), {"spec": {"m": {}}})

    assert changed.json["metadata"]["generation"] == 2


EMBEDDED: dict[str, Any] = {
    "type": "object",
    "x-kubernetes-embedded-resource": True,
    "properties": {"spec": {"type": "object"}},
}


async def test_a_default_loses_unknown_metadata_of_embedded_resources(kinds: KindServer) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "unknown": 1}}
    known = pod | {"metadata": {"name": "a"}}
    spec = schema(inside=EMBEDDED | {"default": pod}) | {"default": {"inside": pod}}

    await define(kinds, "embedding.io", schema(spec=spec))

    stored = (await kinds.driver.get(f"{DEFINITIONS}/foos.embedding.io")).json["spec"]
    published = stored["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert published["default"] == {"inside": known}
    assert published["properties"]["inside"]["default"] == known
    created = await kinds.driver.post(foos("embedding.io"), foo("embedding.io", "a"))
    assert created.json["spec"] == {"inside": known}


@pytest.mark.parametrize(
    ("group", "default", "problem"),
    [
        (
            "unknown",
            {"apiVersion": "v1", "kind": "Pod", "unknown": 1},
            ': Invalid value: {"apiVersion":"v1","kind":"Pod","unknown":1}: must not have unknown'
            " fields",
        ),
        ("unversioned", {"kind": "Pod"}, ".apiVersion: Required value"),
        (
            "numbered",
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 1}},
            '.metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go struct'
            " field ObjectMeta.name of type string",
        ),
        (
            "textual",
            {"apiVersion": "v1", "kind": "Pod", "metadata": "a"},
            '.metadata: Invalid value: "a": json: cannot unmarshal string into Go value of type'
            " v1.ObjectMeta",
        ),
    ],
)
async def test_a_default_is_a_valid_embedded_resource(
    kinds: KindServer, group: str, default: Any, problem: str
) -> None:
    defined = definition(f"{group}.io", schema(inside=EMBEDDED | {"default": default}))

    refused = await kinds.driver.post(DEFINITIONS, defined)

    assert refused.code == 422
    assert refused.json["message"] == (
        f'CustomResourceDefinition.apiextensions.k8s.io "foos.{group}.io" is invalid:'
        f" spec.validation.openAPIV3Schema.properties[inside].default{problem}"
    )


async def test_null_metadata_of_an_embedded_resource_is_an_object(kinds: KindServer) -> None:
    await define(kinds, "unnamed.io", schema(inside=EMBEDDED))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": None}

    created = await kinds.driver.post(foos("unnamed.io"), foo("unnamed.io", "a", inside=pod))

    assert created.json["inside"] == pod | {"metadata": {}}


async def test_unchanged_lists_may_break_new_keys(kinds: KindServer) -> None:
    """Ratcheting: an object with old duplicates may be updated, also with its list reordered."""
    item = schema(a=TEXT, b=TEXT) | {"required": ["a", "b"]}
    keyed = {"type": "array", "items": item, "x-kubernetes-list-type": "map"}
    defined = definition(
        "keyed.io",
        schema(spec=schema(l=keyed | {"x-kubernetes-list-map-keys": ["a", "b"]}, other=TEXT)),
    )
    await kinds.create(defined)
    items = [{"a": "1", "b": "1"}, {"a": "1", "b": "2"}, {"a": "2", "b": "1"}]
    await kinds.driver.post(foos("keyed.io"), foo("keyed.io", "old", spec={"l": items}))
    path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/l"
    keys = f"{path}/x-kubernetes-list-map-keys"
    await kinds.driver.patch(
        f"{DEFINITIONS}/foos.keyed.io",
        [{"op": "replace", "path": keys, "value": ["a"]}],
        "json-patch+json",
    )
    await refused_eventually(kinds, foo("keyed.io", "new", spec={"l": items}))

    for spec in ({"other": "x"}, {"l": items[::-1]}, {"l": items[:2]}):
        changed = await kinds.driver.patch(foos("keyed.io", "old"), {"spec": spec})
        assert changed.code == 200


async def refused_eventually(kinds: KindServer, document: dict[str, Any]) -> None:
    """Wait until the definition's new schema refuses an object."""
    path = f"{foos('keyed.io')}?dryRun=All"
    async with asyncio.timeout(10):
        while (await kinds.driver.post(path, document)).code != 422:
            await asyncio.sleep(0)


async def test_nobody_owns_replicas_in_a_list(kinds: KindServer) -> None:
    """Kubernetes accepts a path with an index; scaling by it changes no field."""
    paths = {"specReplicasPath": ".spec.replicas[0]", "statusReplicasPath": ".status.replicas"}
    own = schema(spec=schema(replicas={"type": "array", "items": INTEGER}))
    await define(kinds, "indexed.io", own, subresources={"scale": paths})
    created = await kinds.driver.post(
        foos("indexed.io"), foo("indexed.io", "a", spec={"replicas": [1, 2]})
    )

    scale = f"{foos('indexed.io', 'a')}/scale?fieldManager=scaler"
    scaled = await kinds.driver.patch(scale, {"spec": {"replicas": 7}})

    after = (await kinds.driver.get(foos("indexed.io", "a"))).json
    assert scaled.code == 200
    assert after["spec"] == {"replicas": [1, 2]}
    assert after["metadata"]["managedFields"] == created.json["metadata"]["managedFields"]


async def test_a_label_that_is_a_number_is_refused_by_apply(kinds: KindServer) -> None:
    await define(kinds, "numbered.io", schema())
    name = foos("numbered.io", "a")
    document = foo("numbered.io", "a")
    document["metadata"]["labels"] = {"a": 9.2e18}

    created = await kinds.driver.post(foos("numbered.io"), foo("numbered.io", "a"))
    applied = await apply(kinds, name, document)
    forced = await kinds.driver.send(
        "PATCH",
        f"{name}?fieldManager=m&force=true",
        body=orjson.dumps(document),
        headers=APPLY,
    )

    assert (created.code, applied.code, forced.code) == (201, 400, 400)
    assert "labels of type string" in forced.json["message"]
