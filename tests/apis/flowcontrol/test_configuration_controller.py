"""Bootstrap schemas and levels are created, restored, updated and removed, on a real server."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from apimachinery.meta.types import ObjectMeta
from apis.flowcontrol.bootstrap import (
    AUTOUPDATE,
    mandatory_levels,
    mandatory_schemas,
    suggested_levels,
    suggested_schemas,
)
from apis.flowcontrol.controllers.flow_configuration import FlowConfigurationController
from apis.flowcontrol.install import FLOWCONTROL
from apis.flowcontrol.reconciliation import (
    ensure_configuration,
    levels_of,
    revised,
    schemas_of,
    set_dangling,
)
from apis.flowcontrol.v1 import (
    FlowSchema,
    FlowSchemaSpec,
    PriorityLevelConfigurationReference,
)
from tests.apis.controlled import ControlledServer, controlled_server

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def server() -> AsyncIterator[ControlledServer]:
    async with controlled_server(FLOWCONTROL) as server:
        await ensure_configuration(server.client)
        yield server


async def test_every_bootstrap_object_is_created_once(server: ControlledServer) -> None:
    schemas = (await schemas_of(server.client).list().all()).items
    levels = (await levels_of(server.client).list().all()).items

    assert await ensure_configuration(server.client)
    assert {schema.metadata.name: schema.spec for schema in schemas} == {
        schema.metadata.name: schema.spec for schema in (*mandatory_schemas(), *suggested_schemas())
    }
    assert {level.metadata.name: level.spec for level in levels} == {
        level.metadata.name: level.spec for level in (*mandatory_levels(), *suggested_levels())
    }
    assert (await schemas_of(server.client).list().all()).items == schemas


async def test_deleted_objects_return_and_conditions_follow(server: ControlledServer) -> None:
    schemas, levels = schemas_of(server.client), levels_of(server.client)
    async with server.running(FlowConfigurationController(server.controllers_client)):
        await schemas.wait("catch-all", lambda found: bool(found.status.conditions), timeout=10)
        before = await levels.get("catch-all")
        await levels.delete("catch-all")

        def is_new(level: object) -> bool:
            return level.metadata.uid != before.metadata.uid  # type: ignore[attr-defined,no-any-return]

        await levels.wait("catch-all", is_new, timeout=10)
        await schemas.create(_schema("orphan", level="missing"))
        orphan = await schemas.wait("orphan", lambda s: bool(s.status.conditions), timeout=10)

    (condition,) = orphan.status.conditions
    assert (condition.type, condition.status, condition.reason) == ("Dangling", "True", "NotFound")
    assert condition.message == (
        "This FlowSchema references the PriorityLevelConfiguration object named"
        ' "missing" but there is no such object'
    )


async def test_edited_suggestions_stay_and_removed_ones_go(server: ControlledServer) -> None:
    levels, schemas = levels_of(server.client), schemas_of(server.client)
    system = await levels.get("system")
    assert system.spec.limited is not None
    system.spec.limited.nominal_concurrency_shares = 31
    system.metadata.annotations[AUTOUPDATE] = "false"
    await levels.update(system)
    for name, annotation in (("old", "true"), ("own", "false"), ("mine", "")):
        schema = _schema(name, level="system")
        if annotation:
            schema.metadata.annotations[AUTOUPDATE] = annotation
        await schemas.create(schema)

    await ensure_configuration(server.client)

    found = await levels.get("system")
    assert found.spec == system.spec
    names = {schema.metadata.name for schema in (await schemas.list().all()).items}
    assert names & {"old", "own", "mine"} == {"own", "mine"}


@pytest.mark.parametrize(
    ("annotation", "generation", "updates", "written"),
    [
        ("true", 7, True, None),
        ("T", 7, True, None),
        ("false", 1, False, None),
        (None, 1, True, "true"),
        (None, 2, False, "false"),
        ("odd", 2, False, "false"),
    ],
)
def test_suggested_specs_follow_the_annotation(
    annotation: str | None, generation: int, updates: bool, written: str | None
) -> None:
    expected = suggested_schemas()[0]
    current = expected.deep_copy()
    current.metadata.generation = generation
    current.metadata.annotations = {} if annotation is None else {AUTOUPDATE: annotation}
    current.spec.matching_precedence = 77

    new = revised(current, expected, mandatory=False)

    if new is None:
        assert not updates
        assert written is None
    else:
        assert (new.spec == expected.spec) is updates
        assert new.metadata.annotations[AUTOUPDATE] == (written or annotation)


def test_mandatory_specs_are_restored_whatever_the_annotation_says() -> None:
    expected = mandatory_schemas()[0]
    current = expected.deep_copy()
    current.metadata.annotations = {AUTOUPDATE: "false"}
    current.spec.rules = []

    new = revised(current, expected, mandatory=True)

    assert new == expected


def test_seats_of_the_exempt_level_are_not_restored() -> None:
    expected = mandatory_levels()[1]
    current = expected.deep_copy()
    assert current.spec.exempt is not None
    current.spec.exempt.nominal_concurrency_shares = 9

    assert revised(current, expected, mandatory=True) is None


def test_conditions_change_only_with_their_content() -> None:
    schema = _schema("team", level="team")

    assert set_dangling(schema, {"team"}, NOW)
    assert not set_dangling(schema, {"team"}, datetime.now(UTC))
    assert set_dangling(schema, {}, NOW)
    assert [condition.status for condition in schema.status.conditions] == ["True"]


def _schema(name: str, *, level: str) -> FlowSchema:
    reference = PriorityLevelConfigurationReference(name=level)
    return FlowSchema(
        metadata=ObjectMeta(name=name), spec=FlowSchemaSpec(priority_level_configuration=reference)
    )
