"""Match conditions: expressions that must be true for a webhook to be called."""

import pytest

from tests.apis.admissionregistration.webhooks.world import CONFIG_MAPS, World

pytestmark = pytest.mark.asyncio(loop_scope="package")

MISSING = "object.data.nope == 'x'"


@pytest.mark.parametrize(
    ("expressions", "called"),
    [
        (["object.metadata.name == 'a'"], True),
        (["object.metadata.name != 'a'"], False),
        (["true", "false"], False),
        (
            [
                "request.userInfo.username == 'admin' && request.operation == 'CREATE'"
                " && request.resource.resource == 'configmaps' && !request.dryRun"
                " && oldObject == null"
            ],
            True,
        ),
        (
            [
                "authorizer.group('').resource('pods').namespace('hooked').check('list').allowed()"
                " && authorizer.requestResource.check('create').allowed()"
            ],
            True,
        ),
        # What is false counts, although another condition cannot be evaluated.
        ([MISSING, "false"], False),
    ],
)
@pytest.mark.parametrize("mutating", [True, False])
async def test_conditions(
    world: World, expressions: list[str], called: bool, mutating: bool
) -> None:
    webhooks = [world.webhook("x", matchConditions=conditions(*expressions))]
    await world.configure(webhooks if mutating else (), () if mutating else webhooks)

    created = await world.create("a", data={"k": "v"})

    assert created.code == 201
    assert world.called == (["x"] if called else [])


@pytest.mark.parametrize("mutating", [True, False])
@pytest.mark.parametrize(
    ("expressions", "message"),
    [
        ([MISSING], f"expression '{MISSING}' resulted in error: no such key: nope"),
        (
            [MISSING, "object.nope == 'x'"],
            f"[expression '{MISSING}' resulted in error: no such key: nope,"
            " expression 'object.nope == 'x'' resulted in error: no such key: nope]",
        ),
        (["1/0 == 1"], "expression '1/0 == 1' resulted in error: division by zero"),
    ],
)
async def test_errors_forbid_the_write(
    world: World, mutating: bool, expressions: list[str], message: str
) -> None:
    webhooks = [world.webhook("x", matchConditions=conditions(*expressions))]
    await world.configure(webhooks if mutating else (), () if mutating else webhooks)

    refused = await world.create("a", data={"k": "v"})

    assert (refused.code, refused.body["reason"]) == (403, "Forbidden")
    assert refused.message == f'configmaps "a" is forbidden: {message}'
    assert refused.body["details"] == {"name": "a", "kind": "configmaps"}
    assert world.called == []


async def test_ignored_errors_exclude_the_webhook(world: World) -> None:
    webhook = world.webhook("x", matchConditions=conditions(MISSING), failurePolicy="Ignore")
    await world.configure([webhook])

    created = await world.create("a", data={"k": "v"})

    assert created.code == 201
    assert world.called == []


async def test_conditions_are_evaluated_for_matching_rules_only(world: World) -> None:
    secrets = {
        "operations": ["*"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["secrets"],
    }
    webhook = world.webhook("x", rules=[secrets], matchConditions=conditions(MISSING))
    await world.configure([webhook])

    assert (await world.create("a")).code == 201


async def test_deletions_have_an_old_object_only(world: World) -> None:
    await world.create("a", data={"k": "v"})
    expression = "object == null && oldObject.data.k == 'v'"
    await world.configure(validating=[world.webhook("x", matchConditions=conditions(expression))])

    await world.request("DELETE", f"{CONFIG_MAPS}/a")

    assert world.called == ["x"]


def conditions(*expressions: str) -> list[dict[str, str]]:
    return [
        {"name": f"condition-{position}", "expression": expression}
        for position, expression in enumerate(expressions)
    ]
