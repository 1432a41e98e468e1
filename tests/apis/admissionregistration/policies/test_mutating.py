"""MutatingAdmissionPolicies over HTTP; all answers are those of Kubernetes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.apis.admissionregistration.policies.policy_server import (
    CONFIG_MAPS,
    GADGET_PATH,
    GROUP,
    PolicyServer,
    config_map,
    rule,
)
from tests.apiserver.http.driver import Answer

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
BY = "policy 'm' with binding 'm-binding' denied request: "


def deployment(**labels: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "d", "labels": labels},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    }


def applying(expression: str) -> dict[str, Any]:
    return {
        "patchType": "ApplyConfiguration",
        "applyConfiguration": {"expression": expression},
    }


def patching(expression: str) -> dict[str, Any]:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def setting(replicas: str) -> dict[str, Any]:
    return applying(f"Object{{spec: Object.spec{{replicas: {replicas}}}}}")


@asynccontextmanager
async def policy(
    server: PolicyServer,
    *mutations: dict[str, Any],
    name: str = "m",
    binding: dict[str, Any] | None = None,
    **spec: Any,
) -> AsyncIterator[None]:
    """Have a MutatingAdmissionPolicy and its binding while the block runs."""
    full = {
        "matchConstraints": {
            "resourceRules": [
                rule("CREATE", "UPDATE", resources="deployments", group="apps"),
                rule(),
            ]
        },
        "mutations": list(mutations),
        "reinvocationPolicy": "Never",
        **spec,
    }
    await server.put("mutatingadmissionpolicies", name, full)
    bound = {"policyName": name, **(binding or {})}
    await server.put("mutatingadmissionpolicybindings", f"{name}-binding", bound)
    await server.settled()
    try:
        yield
    finally:
        await server.admin.delete(f"{GROUP}/mutatingadmissionpolicybindings/{name}-binding")
        await server.admin.delete(f"{GROUP}/mutatingadmissionpolicies/{name}")
        await server.settled()


async def created(server: PolicyServer, **labels: str) -> Any:
    answer = await server.create(deployment(**labels), DEPLOYMENTS)
    assert answer.code == 201, answer.json
    return answer.json


async def refused(server: PolicyServer) -> Answer:
    answer = await server.create(deployment(), DEPLOYMENTS)
    assert answer.code >= 400
    return answer


async def test_a_configuration_is_merged_into_the_object(server: PolicyServer) -> None:
    expression = """Object{
        metadata: Object.metadata{labels: {'x': 'y'}},
        spec: Object.spec{
            replicas: 5,
            template: Object.spec.template{spec: Object.spec.template.spec{
                containers: [Object.spec.template.spec.containers{name: 'side', image: 'car'}],
                initContainers: [Object.spec.template.spec.initContainers{
                    name: 'first', image: object.spec.template.spec.containers[0].image}]
            }}
        }
    }"""

    async with policy(server, applying(expression)):
        obj = await created(server, own="label")

    pod = obj["spec"]["template"]["spec"]
    assert obj["metadata"]["labels"] == {"own": "label", "x": "y"}
    assert obj["spec"]["replicas"] == 5
    assert [(each["name"], each["image"]) for each in pod["containers"]] == [
        ("c", "i"),
        ("side", "car"),
    ]
    # The defaults of what a policy adds are set, too.
    assert pod["initContainers"][0]["imagePullPolicy"] == "Always"


async def test_a_json_patch_changes_the_object(server: PolicyServer) -> None:
    expression = """[
        JSONPatch{op: 'test', path: '/spec/replicas', value: 3},
        JSONPatch{op: 'add', path: '/metadata/labels', value: {'k': 'v'}},
        JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1},
        JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a.b/c'), value: 'x'},
        JSONPatch{op: 'copy', from: '/metadata/labels/k', path: '/metadata/labels/k2'},
        JSONPatch{op: 'add', path: '/spec/template/spec/volumes', value: [
            Object.spec.template.spec.volumes{
                name: 'v', emptyDir: Object.spec.template.spec.volumes.emptyDir{}}
        ]}
    ]"""

    async with policy(server, patching(expression)):
        obj = await created(server)

    assert obj["metadata"]["labels"] == {"k": "v", "k2": "v", "a.b/c": "x"}
    assert obj["spec"]["replicas"] == 4
    assert obj["spec"]["template"]["spec"]["volumes"] == [{"name": "v", "emptyDir": {}}]


async def test_a_patch_whose_test_fails_changes_nothing(server: PolicyServer) -> None:
    expression = (
        "[JSONPatch{op: 'test', path: '/spec/replicas', value: 4},"
        " JSONPatch{op: 'replace', path: '/spec/replicas', value: 9}]"
    )

    async with policy(server, patching(expression)):
        assert (await created(server))["spec"]["replicas"] == 3


async def test_each_mutation_sees_what_the_previous_one_left(server: PolicyServer) -> None:
    variables = [{"name": "n", "expression": "object.spec.replicas + 1"}]
    label = applying("Object{metadata: Object.metadata{labels: {'n': string(variables.n)}}}")

    async with policy(server, setting("variables.n"), label, variables=variables):
        obj = await created(server)

    assert (obj["spec"]["replicas"], obj["metadata"]["labels"]) == (4, {"n": "5"})


@pytest.mark.parametrize(
    ("mutation", "message"),
    [
        (
            setting("object.spec.nope"),
            "expression 'Object{spec: Object.spec{replicas: object.spec.nope}}' resulted in"
            " error: no such key: nope",
        ),
        (
            setting("'x'"),
            "error applying patch: failed to convert patch object to typed object:"
            " .spec.replicas: expected numeric (int or float), got string",
        ),
        (
            applying("Object{spec: Object.spec{nope: 5}}"),
            "error applying patch: failed to convert patch object to typed object: .spec.nope:"
            " field not declared in schema",
        ),
        (
            applying(
                "Object{spec: Object.spec{template: Object.spec.template{spec:"
                " Object.spec.template.spec{containers: [Object.spec.template.spec.containers{"
                "name: 'c', command: ['a']}]}}}}"
            ),
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps"
            " or structs: .spec.template.spec.containers[0].command",
        ),
        (
            applying("Object{spec: Object.status{replicas: 5}}"),
            'type mismatch: unexpected type name "Object.status", expected "Object.spec", which'
            " matches field name path from root Object type",
        ),
        (
            patching("[JSONPatch{op: 'remove', path: '/spec/nope'}]"),
            "JSON Patch: error in remove for path: '/spec/nope': Unable to remove nonexistent key:"
            " nope: missing value",
        ),
        (
            patching("[JSONPatch{op: 'add', path: '/spec/nope/x', value: 1}]"),
            'JSON Patch: add operation does not apply: doc is missing path: "/spec/nope/x":'
            " missing value",
        ),
        (
            patching("[JSONPatch{op: 'foo', path: '/spec/nope'}]"),
            "JSON Patch: Unexpected kind: foo",
        ),
        (
            patching("[JSONPatch{op: 'add', path: '/spec/x', value: quantity('1')}]"),
            "JSONPath valueExpression evaluated to a type that could not marshal to JSON: type"
            " conversion error from 'Quantity' to '*structpb.Value'",
        ),
    ],
)
async def test_a_mutation_that_fails_denies(
    server: PolicyServer, mutation: dict[str, Any], message: str
) -> None:
    async with policy(server, mutation):
        answer = await refused(server)

    assert answer.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"{BY}{message}",
        "reason": "Invalid",
        "details": {
            "name": "d",
            "group": "apps",
            "kind": "deployments",
            "causes": [{"message": f"{BY}{message}"}],
        },
        "code": 403,
    }


async def test_failures_are_ignored_if_the_policy_says_so(server: PolicyServer) -> None:
    mutations = setting("object.spec.nope"), setting("7")

    async with policy(server, *mutations, failurePolicy="Ignore"):
        assert (await created(server))["spec"]["replicas"] == 7


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (
            "path: '/spec/replicas', value: 'x'",
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of"
            " type int32",
        ),
        ("path: '/spec/nope', value: 'x'", 'strict decoding error: unknown field "spec.nope"'),
    ],
)
async def test_a_patch_that_leaves_no_object_is_an_error_of_the_server(
    server: PolicyServer, value: str, problem: str
) -> None:
    async with policy(server, patching(f"[JSONPatch{{op: 'add', {value}}}]")):
        answer = await refused(server)

    assert answer.code == 500
    assert answer.json["message"] == f"Internal error occurred: {problem}"


async def test_a_policy_is_skipped_unless_its_conditions_are_true(server: PolicyServer) -> None:
    many = [{"name": "many", "expression": "object.spec.replicas > 5"}]
    broken = [{"name": "broken", "expression": "object.spec.nope > 5"}]

    async with policy(server, setting("9"), matchConditions=many):
        assert (await created(server))["spec"]["replicas"] == 3
    async with policy(server, setting("9"), matchConditions=broken):
        assert (await refused(server)).json["message"] == (
            f"{BY}expression 'object.spec.nope > 5' resulted in error: no such key: nope"
        )


APPENDING = patching(
    "has(object.metadata.labels) && has(object.metadata.labels.a)"
    " ? [JSONPatch{op: 'add', path: '/metadata/labels/a',"
    " value: string(object.spec.replicas) + object.metadata.labels.a}]"
    " : [JSONPatch{op: 'add', path: '/metadata/labels',"
    " value: {'a': string(object.spec.replicas)}}]"
)
COUNTING = patching(
    "[JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1}]"
)


@pytest.mark.parametrize(("reinvoked", "label"), [("IfNeeded", "43"), ("Never", "3")])
async def test_policies_run_again_after_later_changes_if_they_ask_for_it(
    server: PolicyServer, reinvoked: str, label: str
) -> None:
    async with (
        policy(server, APPENDING, name="a", reinvocationPolicy=reinvoked),
        policy(server, COUNTING, name="b"),
    ):
        obj = await created(server)

    assert obj["metadata"]["labels"] == {"a": label}
    assert obj["spec"]["replicas"] == 4


async def test_parameters_and_their_absence(server: PolicyServer) -> None:
    label = applying("Object{metadata: Object.metadata{labels: {'p': string(params.data.k)}}}")
    await server.admin.post(CONFIG_MAPS, config_map("present"))
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}

    def binding(name: str) -> dict[str, Any]:
        return {"paramRef": {"name": name, "parameterNotFoundAction": "Deny"}}

    async with policy(server, label, paramKind=kind, binding=binding("present")):
        assert (await created(server))["metadata"]["labels"] == {"p": "v"}
    async with policy(server, label, paramKind=kind, binding=binding("absent")):
        answer = await refused(server)
    assert (answer.code, answer.json["reason"], answer.json["message"]) == (
        403,
        "Forbidden",
        f"{BY}failed to configure binding: no params found for policy binding with `Deny`"
        " parameterNotFoundAction",
    )


async def test_an_unknown_kind_of_parameters_denies_by_the_policy(server: PolicyServer) -> None:
    kind = {"apiVersion": "v9", "kind": "ConfigMap"}
    binding = {"paramRef": {"name": "a", "parameterNotFoundAction": "Deny"}}

    async with policy(server, setting("1"), paramKind=kind, binding=binding):
        assert (await refused(server)).json["message"] == (
            'policy "m" denied request: failed to configure policy: failed to find resource'
            " referenced by paramKind: '/v9, Kind=ConfigMap'"
        )


async def test_validations_see_what_a_policy_has_changed(server: PolicyServer) -> None:
    rules = [rule(resources="deployments", group="apps")]

    async with (
        policy(server, setting("9")),
        server.policy("object.spec.replicas < 5", matchConstraints={"resourceRules": rules}),
    ):
        answer = await refused(server)

    assert answer.code == 422


async def test_the_writer_owns_nothing_that_a_policy_adds(server: PolicyServer) -> None:
    label = applying("Object{metadata: Object.metadata{labels: {'added': 'yes'}}}")

    async with policy(server, label):
        obj = await created(server, own="label")

    (entry,) = obj["metadata"]["managedFields"]
    assert obj["metadata"]["labels"] == {"added": "yes", "own": "label"}
    assert "f:own" in entry["fieldsV1"]["f:metadata"]["f:labels"]
    assert "f:added" not in entry["fieldsV1"]["f:metadata"]["f:labels"]


async def test_objects_of_users_groups_are_changed_too(server: PolicyServer) -> None:
    rules = [rule(resources="gadgets", group="gadgets.example.io", version="v1")]
    gadget = {"metadata": {"name": "lamp"}, "spec": {"model": "a1"}}

    async with policy(server, setting("2"), matchConstraints={"resourceRules": rules}):
        answer = await server.create(gadget, GADGET_PATH)

    assert answer.json["spec"]["replicas"] == 2


async def test_mutations_are_counted(server: PolicyServer) -> None:
    async with policy(server, setting("2"), setting("object.nope"), name="counted"):
        await server.create(deployment(), DEPLOYMENTS)

    metrics = (await server.admin.get("/metrics")).body.decode()

    name = "apiserver_mutating_admission_policy_check_total"
    labels = 'policy="counted",policy_binding="counted-binding"'
    for error in ("no_error", "invalid_error"):
        assert f'{name}{{error_type="{error}",{labels}}} 1.0' in metrics


async def test_a_policy_cannot_make_an_object_of_another_version(server: PolicyServer) -> None:
    mutation = "[JSONPatch{op: 'replace', path: '/apiVersion', value: 'v2'}]"

    async with policy(server, patching(mutation)):
        refused = await server.create(config_map())

    assert refused.code == 500
    assert refused.json["message"] == (
        'Internal error occurred: no kind "ConfigMap" is registered for version "v2" in scheme'
        ' "apimachinery"'
    )
