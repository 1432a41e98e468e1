"""ValidatingAdmissionPolicies over HTTP; all answers are those of Kubernetes."""

import asyncio
from typing import Any

import pytest

from tests.apis.admissionregistration.policies.policy_server import (
    CONFIG_MAPS,
    GADGET_PATH,
    GROUP,
    PolicyServer,
    config_map,
    rule,
    said,
    warnings,
)
from tests.apiserver.http.driver import Driver

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
BY = "ValidatingAdmissionPolicy 'p' with binding 'p-binding' denied request: "


async def test_a_denied_write_is_answered_with_the_failed_expression(
    server: PolicyServer,
) -> None:
    async with server.policy("object.data.k == 'w'"):
        denied = await server.create(config_map())
        allowed = await server.create(config_map(data={"k": "w"}))

    assert allowed.code == 201
    assert denied.code == 422
    message = f"{BY}failed expression: object.data.k == 'w'"
    assert denied.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'configmaps "x" is forbidden: {message}',
        "reason": "Invalid",
        "details": {"name": "x", "kind": "configmaps", "causes": [{"message": message}]},
        "code": 422,
    }


@pytest.mark.parametrize(
    ("reason", "code"), [("Forbidden", 403), ("RequestEntityTooLarge", 413), ("Invalid", 422)]
)
async def test_the_reason_of_a_validation_is_that_of_the_answer(
    server: PolicyServer, reason: str, code: int
) -> None:
    async with server.policy({"expression": "false", "message": "no", "reason": reason}):
        answer = await server.create(config_map())

    assert (answer.code, answer.json["reason"], said(answer)) == (code, reason, "no")


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        ({"message": " fixed "}, "fixed"),
        ({"messageExpression": "'k is ' + object.data.k", "message": "fixed"}, "k is v"),
        ({"messageExpression": "string(object.data.zz)", "message": "fixed"}, "fixed"),
        ({"messageExpression": "string(object.data.zz)"}, "failed expression: false"),
        ({"messageExpression": "'a\\nb'", "message": "fixed"}, "fixed"),
        ({"messageExpression": "'  '", "message": "fixed"}, "fixed"),
        ({"messageExpression": "'" + "x" * 6_000 + "'", "message": "fixed"}, "fixed"),
    ],
)
async def test_the_message_is_that_of_its_expression_if_it_can_be_used(
    server: PolicyServer, validation: dict[str, str], message: str
) -> None:
    async with server.policy({"expression": "false", **validation}):
        assert await server.denial(config_map()) == message


async def test_an_expression_that_fails_denies_or_is_ignored(server: PolicyServer) -> None:
    error = "expression 'object.data.zz == ''' resulted in error: no such key: zz"

    async with server.policy("object.data.zz == ''"):
        assert await server.denial(config_map()) == error
    async with server.policy("object.data.zz == ''", failurePolicy="Ignore"):
        assert (await server.create(config_map())).code == 201
    async with server.policy("object.data.zz == ''", "false", failurePolicy="Ignore"):
        assert await server.denial(config_map()) == "failed expression: false"


async def test_warnings_let_a_write_pass(server: PolicyServer) -> None:
    validations = {"expression": "false", "message": "one"}, "object.data.zz == ''", "true"

    async with server.policy(*validations, actions=("Warn", "Audit")):
        answer = await server.create(config_map())

    assert answer.code == 201
    assert answer.all("warning")[0] == (
        "299 - \"Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-binding':"
        ' one"'
    )
    assert warnings(answer) == [
        "one",
        "expression 'object.data.zz == ''' resulted in error: no such key: zz",
    ]


async def test_expressions_see_the_request(server: PolicyServer) -> None:
    shown = (
        "[request.kind.kind, request.resource.resource, request.?subResource.orValue('-'),"
        " request.requestKind.version, request.name, request.namespace, request.operation,"
        " request.userInfo.username, request.userInfo.groups.join(','), string(request.dryRun),"
        " string(request.options.?kind.orValue(''))].join('|')"
    )

    async with server.policy({"expression": "false", "messageExpression": shown}):
        message = await server.denial(config_map())

    groups = "system:masters,system:authenticated"
    assert message == (
        f"ConfigMap|configmaps|-|v1|x|default|CREATE|admin|{groups}|true|CreateOptions"
    )


async def test_expressions_see_the_namespace(server: PolicyServer) -> None:
    shown = (
        "[namespaceObject.metadata.name, namespaceObject.status.phase,"
        " namespaceObject.metadata.labels['kubernetes.io/metadata.name']].join('|')"
    )

    async with server.policy({"expression": "false", "messageExpression": shown}):
        assert await server.denial(config_map()) == "default|Active|default"


async def test_variables_are_evaluated_when_they_are_read(server: PolicyServer) -> None:
    variables = [
        {"name": "a", "expression": "object.data.k"},
        {"name": "b", "expression": "variables.a + '!'"},
        {"name": "bad", "expression": "object.data.zz"},
    ]
    validations = (
        {"expression": "variables.b == 'x'", "messageExpression": "'b is ' + variables.b"},
        "true || variables.bad == ''",
        "variables.bad == ''",
    )

    async with server.policy(*validations, variables=variables, actions=("Warn",)):
        answer = await server.create(config_map())

    assert warnings(answer) == [
        "b is v!",
        "expression 'variables.bad == ''' resulted in error: composited variable \"bad\" fails to"
        " evaluate: no such key: zz",
    ]


async def test_a_policy_is_skipped_unless_its_conditions_are_true(server: PolicyServer) -> None:
    conditions = [
        {"name": "c", "expression": "object.data.k != 'skip'"},
        {"name": "d", "expression": "!request.userInfo.username.startsWith('alice')"},
    ]
    error = "expression 'object.data.k != 'skip'' resulted in error: no such key: k"
    without = config_map(data={"z": ""})

    async with server.policy("false", matchConditions=conditions):
        assert await server.denial(config_map()) == "failed expression: false"
        assert (await server.create(config_map(data={"k": "skip"}))).code == 201
        assert await server.denial(without) == error
    async with server.policy("false", matchConditions=conditions, failurePolicy="Ignore"):
        assert (await server.create(without)).code == 201


async def test_an_audit_annotation_without_a_value_denies(server: PolicyServer) -> None:
    annotations = [
        {"key": "a", "valueExpression": "string(object.data.zz)"},
        {"key": "b", "valueExpression": "'fine'"},
        {"key": "c", "valueExpression": "null"},
    ]
    error = "expression 'string(object.data.zz)' resulted in error: no such key: zz"

    async with server.policy(auditAnnotations=annotations):
        assert await server.denial(config_map()) == error
    async with server.policy(auditAnnotations=annotations, failurePolicy="Ignore"):
        assert (await server.create(config_map())).code == 201


async def test_expressions_ask_the_authorizer(server: PolicyServer) -> None:
    checks = {
        "authorizer.group('').resource('secrets').namespace('a').check('get').allowed()": "",
        "authorizer.requestResource.check('delete').allowed()": "",
        "authorizer.serviceAccount('a', 'x').path('/metrics').check('get').allowed()": "failed",
        "authorizer.path('').check('get').allowed()": "path must not be empty",
        "authorizer.serviceAccount('a b', 'x').path('/a').check('get').allowed()": (
            "Invalid service account namespace"
        ),
        " && ".join(f"authorizer.path('/{n}').check('get').allowed()" for n in "abc"): (
            "operation cancelled: actual cost limit exceeded"
        ),
    }
    expected = [
        f"failed expression: {text}"
        if problem == "failed"
        else f"expression '{text}' resulted in error: {problem}"
        for text, problem in checks.items()
        if problem
    ]

    async with server.policy(*checks, actions=("Warn",)):
        answer = await server.create(config_map())

    assert warnings(answer) == [text[:256] for text in expected]


async def test_the_authorizer_is_asked_about_the_user_of_the_request(
    server: PolicyServer,
) -> None:
    role = {
        "metadata": {"name": "creates-maps"},
        "rules": [{"verbs": ["create"], "apiGroups": [""], "resources": ["configmaps"]}],
    }
    bound = {
        "metadata": {"name": "alice-creates-maps"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "creates-maps",
        },
        "subjects": [{"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    await server.admin.post(f"{rbac}/clusterroles", role)
    await server.admin.post(f"{rbac}/clusterrolebindings", bound)
    alice = Driver(server.admin.app, **server.admin.headers, **{"impersonate-user": "alice"})
    check = "authorizer.requestResource.check('delete').allowed()"

    async with server.policy({"expression": check, "message": "no delete"}):
        assert said(await alice.post(f"{CONFIG_MAPS}?dryRun=All", config_map())) == "no delete"
        assert (await server.create(config_map())).code == 201


NESTED = "true"
for letter in "fedcba":
    NESTED = f"[0,1,2,3,4,5,6,7,8,9].all({letter}, {NESTED})"
LARGE = NESTED.replace("[0,1,2,3,4,5,6,7,8,9].all(a, ", "", 1)[:-1]


async def test_an_expression_may_not_cost_more_than_its_limit(server: PolicyServer) -> None:
    async with server.policy(NESTED):
        assert await server.denial(config_map()) == (
            f"expression '{NESTED}' resulted in error: operation cancelled: actual cost limit"
            " exceeded"
        )


async def test_all_expressions_together_may_not_cost_more_than_the_budget(
    server: PolicyServer,
) -> None:
    # Three quarters of the limit each, most of it in time that is not measured: by checks.
    checks = [
        f"authorizer.path('/a').check('get').allowed() && authorizer.path('/a').check('get')"
        f".allowed() || {number} == 0"
        for number in range(15)
    ]

    async with server.policy(*checks):
        assert await server.denial(config_map()) == (
            "validation failed due to running out of cost budget, no further validation rules"
            " will be run"
        )


async def test_updates_see_the_old_object(server: PolicyServer) -> None:
    await server.admin.post(CONFIG_MAPS, config_map("updated"))
    validation = {
        "expression": "object.data.k == oldObject.data.k",
        "messageExpression": "string(oldObject.data.k) + ' to ' + string(object.data.k)",
    }

    async with server.policy(validation, matchConstraints={"resourceRules": [rule("UPDATE")]}):
        answer = await server.admin.put(
            f"{CONFIG_MAPS}/updated", config_map("updated", data={"k": "n"})
        )

    assert said(answer) == "v to n"


async def test_deletions_have_no_object(server: PolicyServer) -> None:
    await server.admin.post(CONFIG_MAPS, config_map("deleted"))
    validation = {
        "expression": "object != null",
        "messageExpression": "'deleting ' + string(oldObject.metadata.name) + ' '"
        " + string(request.options.kind) + ' ' + string(request.options.apiVersion)",
    }

    async with server.policy(validation, matchConstraints={"resourceRules": [rule("DELETE")]}):
        answer = await server.admin.delete(f"{CONFIG_MAPS}/deleted")

    assert said(answer) == "deleting deleted DeleteOptions meta.k8s.io/v1"


async def test_objects_are_shown_in_the_version_that_a_rule_names(server: PolicyServer) -> None:
    autoscaler = {
        "metadata": {"name": "h"},
        "spec": {
            "maxReplicas": 5,
            "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {
                        "name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": 50},
                    },
                }
            ],
        },
    }
    path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    shown = (
        "string(object.apiVersion) + ' ' + string(object.spec.targetCPUUtilizationPercentage)"
        " + ' ' + request.kind.version + request.resource.version + request.requestKind.version"
        " + request.requestResource.version"
    )
    rules = [rule(resources="horizontalpodautoscalers", group="autoscaling", version="v1")]
    # As in Kubernetes, conditions see the resource of the request.
    condition = {"name": "own", "expression": "request.resource.version == 'v2'"}

    async with server.policy(
        {"expression": "false", "messageExpression": shown},
        matchConstraints={"resourceRules": rules},
        matchConditions=[condition],
    ):
        assert await server.denial(autoscaler, path) == "autoscaling/v1 50 v1v1v2v2"
    async with server.policy(
        "false", matchConstraints={"resourceRules": rules, "matchPolicy": "Exact"}
    ):
        assert (await server.create(autoscaler, path)).code == 201


async def test_policies_apply_to_the_groups_of_users(server: PolicyServer) -> None:
    gadget = {"metadata": {"name": "lamp"}, "spec": {"model": "a1", "replicas": 3}}
    rules = [rule(resources="gadgets", group="gadgets.example.io", version="v1")]

    async with server.policy(
        "object.spec.replicas <= 2", matchConstraints={"resourceRules": rules}
    ):
        assert await server.denial(gadget, GADGET_PATH) == (
            "failed expression: object.spec.replicas <= 2"
        )
        assert (await server.create({**gadget, "spec": {"model": "a1"}}, GADGET_PATH)).code == 201


async def test_selectors_and_exclusions_narrow_a_policy(server: PolicyServer) -> None:
    constraints = {
        "resourceRules": [rule()],
        "objectSelector": {"matchLabels": {"a": "b"}},
    }
    resources = {
        "namespaceSelector": {
            "matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["default"]}
            ]
        },
        "excludeResourceRules": [rule(resourceNames=["fine"])],
    }

    async with server.policy(
        "false", matchConstraints=constraints, binding={"matchResources": resources}
    ):
        assert (await server.create(config_map())).code == 201
        assert (await server.create(config_map(a="b"))).code == 422
        assert (await server.create(config_map("fine", a="b"))).code == 201


async def test_policies_do_not_concern_policies(server: PolicyServer) -> None:
    everything = {**rule("*", resources="*", version="*"), "apiGroups": ["*"]}
    binding = {
        "metadata": {"name": "other"},
        "spec": {"policyName": "a", "validationActions": ["Deny"]},
    }

    async with server.policy("false", matchConstraints={"resourceRules": [everything]}):
        path = f"{GROUP}/validatingadmissionpolicybindings"
        assert (await server.create(binding, path)).code == 201
        assert (await server.create(config_map())).code == 422


async def test_all_policies_are_evaluated_and_the_first_denial_counts(
    server: PolicyServer,
) -> None:
    one, two = {"expression": "false", "message": "one"}, {"expression": "false", "message": "two"}

    async with (
        server.policy(one, name="p", actions=("Warn",)),
        server.policy(two, one, name="q"),
    ):
        answer = await server.create(config_map())

    assert answer.json["details"]["causes"] == [
        {"message": "ValidatingAdmissionPolicy 'q' with binding 'q-binding' denied request: two"}
    ]
    assert warnings(answer) == ["one"]


async def test_large_writes_and_expensive_policies_are_evaluated_in_a_thread(
    server: PolicyServer,
) -> None:
    large = config_map(data={f"k{number}": "v" for number in range(5_000)})

    async with server.policy(
        "object.data.all(k, object.data[k] == 'v') && " + LARGE,
        "object.data.exists(k, object.data[k] == 'w')",
    ):
        assert (await server.denial(large)).startswith("failed expression: object.data.exists")


PARAMETER: dict[str, Any] = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
WITH_MAXIMUM: dict[str, Any] = {
    "expression": "params != null && object.data.k == params.data.max",
    "messageExpression": "'max is ' + string(params.data.max)",
}


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"name": "param-a"}, "max is 1"),
        ({"name": "param-a", "namespace": "default"}, "max is 1"),
        (
            {"name": "param-a", "namespace": "kube-system"},
            "failed to configure binding: no params found for policy binding with `Deny`"
            " parameterNotFoundAction",
        ),
        ({"selector": {"matchLabels": {"p": "b"}}}, "max is 2"),
        ({"selector": {}}, "max is "),
        (
            {"selector": {"matchLabels": {"p": "c"}}},
            "failed to configure binding: no params found for policy binding with `Deny`"
            " parameterNotFoundAction",
        ),
    ],
)
async def test_parameters_are_found_by_name_or_selector(
    server: PolicyServer, reference: dict[str, Any], message: str
) -> None:
    await server.admin.post(CONFIG_MAPS, config_map("param-a", {"max": "1"}, p="a"))
    await server.admin.post(CONFIG_MAPS, config_map("param-b", {"max": "2"}, p="b"))
    for name in ("updated", "deleted"):
        await server.admin.delete(f"{CONFIG_MAPS}/{name}")
    binding = {"paramRef": {**reference, "parameterNotFoundAction": "Deny"}}

    async with server.policy(WITH_MAXIMUM, binding=binding, **PARAMETER):
        assert (await server.denial(config_map())).startswith(message)


async def test_missing_parameters_are_allowed_or_null(server: PolicyServer) -> None:
    missing = {"paramRef": {"name": "missing", "parameterNotFoundAction": "Allow"}}

    async with server.policy(WITH_MAXIMUM, binding=missing, **PARAMETER):
        assert (await server.create(config_map())).code == 201
    async with server.policy(WITH_MAXIMUM, **PARAMETER):
        assert (await server.denial(config_map())).startswith("failed expression: params != null")


@pytest.mark.parametrize(
    ("kind", "reference", "message"),
    [
        (
            {"apiVersion": "rules.example.com/v1", "kind": "Limit"},
            {"name": "a"},
            "failed to configure policy: failed to find resource referenced by paramKind:"
            " 'rules.example.com/v1, Kind=Limit'",
        ),
        (
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"},
            {"name": "a"},
            "failed to configure binding: paramKind kind"
            " `&ParamKind{APIVersion:authentication.k8s.io/v1,Kind:TokenReview,}` not yet synced to"
            " use for admission",
        ),
        (
            {"apiVersion": "v1", "kind": "Namespace"},
            {"name": "default", "namespace": "default"},
            "failed to configure binding: paramRef.namespace must not be provided for a"
            " cluster-scoped `paramKind`",
        ),
    ],
)
async def test_parameters_that_cannot_be_found_deny(
    server: PolicyServer, kind: dict[str, str], reference: dict[str, str], message: str
) -> None:
    binding = {"paramRef": {**reference, "parameterNotFoundAction": "Deny"}}

    async with server.policy("false", binding=binding, paramKind=kind):
        assert await server.denial(config_map()) == message
    async with server.policy("false", binding=binding, paramKind=kind, failurePolicy="Ignore"):
        assert (await server.create(config_map())).code == 201


async def test_cluster_scoped_objects_have_no_namespace_for_parameters(
    server: PolicyServer,
) -> None:
    rules = [rule(resources="clusterroles", group="rbac.authorization.k8s.io")]
    binding = {"paramRef": {"name": "param-a", "parameterNotFoundAction": "Deny"}}
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"

    async with server.policy(
        WITH_MAXIMUM, binding=binding, matchConstraints={"resourceRules": rules}, **PARAMETER
    ):
        assert await server.denial({"metadata": {"name": "r"}}, path) == (
            "failed to configure binding: cannot use namespaced paramRef in policy binding that"
            " matches cluster-scoped resources"
        )


async def test_a_parameter_is_read_again_when_it_changes(server: PolicyServer) -> None:
    binding = {"paramRef": {"name": "changing", "parameterNotFoundAction": "Deny"}}
    await server.admin.post(CONFIG_MAPS, config_map("changing", {"max": "1"}))

    async with server.policy(WITH_MAXIMUM, binding=binding, **PARAMETER):
        first = await server.denial(config_map())
        await server.admin.put(f"{CONFIG_MAPS}/changing", config_map("changing", {"max": "2"}))
        await server.admin.get(f"{CONFIG_MAPS}/changing")
        second = await server.denial(config_map())

    assert (first, second) == ("max is 1", "max is 2")


async def test_a_policy_takes_effect_with_each_change(server: PolicyServer) -> None:
    async with server.policy({"expression": "false", "message": "one"}):
        first = await server.denial(config_map())
        # Not replaced: the controller that checks types may change the status meanwhile.
        changed = await server.admin.send(
            "PATCH",
            f"{GROUP}/validatingadmissionpolicies/p",
            json={"spec": {"validations": [{"expression": "false", "message": "two"}]}},
            headers={"content-type": "application/merge-patch+json"},
        )
        assert changed.code == 200
        await server.settled()
        second = await server.denial(config_map())

    assert (first, second) == ("one", "two")
    assert (await server.create(config_map())).code == 201


async def test_what_policies_decide_is_counted(server: PolicyServer) -> None:
    async with server.policy("false", "object.data.zz == ''", name="counted"):
        await server.create(config_map())
    async with server.policy(
        "object.data.zz == ''", name="counted", failurePolicy="Ignore", actions=("Warn",)
    ):
        await server.create(config_map())

    metrics = (await server.admin.get("/metrics")).body.decode()

    name = "apiserver_validating_admission_policy_check_total"
    labels = 'policy="counted",policy_binding="counted-binding"'
    counts = {
        line.partition("} ")[0].partition("{")[2]: float(line.rpartition(" ")[2])
        for line in metrics.split("\n")
        if line.startswith(name) and 'policy="counted"' in line
    }
    assert counts == {
        f'enforcement_action="deny",error_type="invalid_error",{labels}': 2.0,
        f'enforcement_action="allow",error_type="invalid_error",{labels}': 1.0,
    }
    assert "apiserver_validating_admission_policy_check_duration_seconds_bucket" in metrics


async def test_writes_wait_for_policies_that_are_being_compiled(server: PolicyServer) -> None:
    slow = [f"object.data.k == 'v' && [{', '.join('1' * 100)}].all(x, x == {n})" for n in range(50)]

    async with server.policy(*slow):
        writes = [asyncio.create_task(server.create(config_map()))]
        while not writes[0].done() and len(writes) < 200:
            await asyncio.sleep(0)
            writes.append(asyncio.create_task(server.create(config_map())))
        answers = await asyncio.gather(*writes)

    assert len(answers) > 1
    assert {answer.code for answer in answers} == {422}
