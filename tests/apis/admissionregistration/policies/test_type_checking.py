"""Type checking: what is wrong with expressions is found with the types of the server's objects."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from apis.admissionregistration.controllers.policy_type_checking import (
    PolicyTypeCheckingController,
)
from apis.admissionregistration.install import ADMISSIONREGISTRATION
from apis.admissionregistration.v1 import ValidatingAdmissionPolicy
from apis.apps.install import APPS
from apis.core.install import CORE
from apis.gadgets.install import GADGETS
from apiserver.controlplane.served_schemas import ServedSchemas
from client.testing import environment
from tests.apis.admissionregistration.policies.policy_server import rule
from tests.apis.controlled import ControlledServer, controlled_server

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEPLOYMENTS = rule(resources="deployments", group="apps")
GADGET = rule(resources="gadgets", group="gadgets.example.io")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[ControlledServer]:
    async with controlled_server(CORE, APPS, GADGETS, ADMISSIONREGISTRATION) as running:
        yield running


def policy(
    name: str,
    *validations: str | dict[str, str],
    rules: tuple[Any, ...] = (DEPLOYMENTS,),
    **spec: Any,
) -> Any:
    return {
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": list(rules)},
            "validations": [
                {"expression": each} if isinstance(each, str) else each for each in validations
            ],
            **spec,
        },
    }


async def warnings(server: ControlledServer, document: Any) -> dict[str, str]:
    """Return what is found, by fields."""
    policies = server.client.of(ValidatingAdmissionPolicy)
    made = await policies.create(document)
    schemas = ServedSchemas(server.app.groups)
    controller = PolicyTypeCheckingController(server.controllers_client, schemas)

    assert await controller.sync(made.metadata.name)

    status = (await policies.get(made.metadata.name)).status
    assert status.observed_generation == made.metadata.generation
    assert status.type_checking is not None
    return {each.field_ref: each.warning for each in status.type_checking.expression_warnings}


async def test_correct_expressions_have_no_warnings(server: ControlledServer) -> None:
    expressions = (
        "object.spec.replicas > 1 && object.spec.template.spec.containers.all(c, c.image != '')",
        "object.metadata.labels['a'] == 'b' && object.metadata.name == oldObject.metadata.name",
        "object.spec.template.spec.containers[0].resources.limits['cpu'] == '1'",
        "object.metadata.creationTimestamp < timestamp('2030-01-01T00:00:00Z')",
        "type(object.spec.strategy.rollingUpdate.maxSurge) == int",
        "authorizer.requestResource.check('get').allowed()",
    )

    assert await warnings(server, policy("correct", *expressions)) == {}


async def test_unknown_fields_and_wrong_types_are_found(server: ControlledServer) -> None:
    found = await warnings(
        server,
        policy(
            "wrong",
            "object.spec.replicas == 'many'",
            {
                "expression": "object.spec.nope > 1",
                "messageExpression": "'of ' + string(object.nope)",
            },
        ),
    )

    assert found == {
        "spec.validations[0].expression": (
            "apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for '_==_'"
            " applied to '(int, string)'\n | object.spec.replicas == 'many'\n"
            " | .....................^\n"
        ),
        "spec.validations[1].expression": (
            "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'nope'\n"
            " | object.spec.nope > 1\n | ...........^\n"
        ),
        "spec.validations[1].messageExpression": (
            "apps/v1, Kind=Deployment: ERROR: <input>:1:22: undefined field 'nope'\n"
            " | 'of ' + string(object.nope)\n | .....................^\n"
        ),
    }


async def test_each_kind_is_checked(server: ControlledServer) -> None:
    found = await warnings(
        server, policy("kinds", "object.spec.model == 'a1'", rules=(DEPLOYMENTS, GADGET))
    )

    text = found["spec.validations[0].expression"]
    assert text.startswith("apps/v1, Kind=Deployment: ERROR")
    assert "Gadget" not in text


async def test_variables_and_parameters_have_types_as_well(server: ControlledServer) -> None:
    spec: Any = {
        "variables": [
            {"name": "replicas", "expression": "object.spec.replicas"},
            {"name": "template", "expression": "object.spec.template"},
        ],
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
    }

    found = await warnings(
        server,
        policy(
            "variables",
            "variables.replicas == 'a'",
            "variables.template.spec.nope == 1",
            "params.data.max == 1",
            "params.data.max == string(variables.replicas)",
            **spec,
        ),
    )

    assert list(found) == [f"spec.validations[{position}].expression" for position in range(3)]


async def test_wildcards_and_unknown_resources_are_not_checked(
    server: ControlledServer,
) -> None:
    rules = (
        {**DEPLOYMENTS, "resources": ["*"]},
        {**DEPLOYMENTS, "apiGroups": ["*"]},
        rule(resources="nothings", group="example.com"),
        rule(resources="deployments/scale", group="apps"),
    )

    assert await warnings(server, policy("wild", "object.nope == 1", rules=rules)) == {}


async def test_a_server_checks_policies_by_itself() -> None:
    async with environment([ADMISSIONREGISTRATION, GADGETS]) as env:
        policies = env.client.of(ValidatingAdmissionPolicy)
        await policies.create(policy("own", "object.spec.nope == 1", rules=(GADGET,)))
        async with asyncio.timeout(20):
            checked = await policies.wait(
                "own", lambda one: one is not None and one.status.observed_generation == 1
            )

    assert checked is not None and checked.status.type_checking is not None
    (found,) = checked.status.type_checking.expression_warnings
    assert found.warning.startswith("gadgets.example.io/v1, Kind=Gadget: ERROR")
