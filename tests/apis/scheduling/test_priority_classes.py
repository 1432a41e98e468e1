"""PriorityClasses: defaults, columns, and the rules that involve other classes."""

from datetime import UTC, datetime

import pytest

from apimachinery.errors import Forbidden, Invalid
from apimachinery.meta.types import ObjectMeta
from apis.kubernetes import KUBERNETES
from apis.scheduling.printers import PRIORITY_CLASS_COLUMNS
from apis.scheduling.strategy import PriorityClassStrategy
from apis.scheduling.system_classes import system_priority_classes
from apis.scheduling.v1 import PriorityClass
from client.testing import environment
from tests.apis.validating import decoded, messages

STRATEGY = PriorityClassStrategy()
CREATED = datetime(2030, 1, 1, tzinfo=UTC)


def test_a_class_preempts_by_default() -> None:
    assert decoded(PriorityClass, {}).preemption_policy == "PreemptLowerPriority"


def test_columns() -> None:
    meta = ObjectMeta(name="high", creation_timestamp=CREATED)
    made = PriorityClass(metadata=meta, value=7, preemption_policy="Never")

    assert [(column.name, column.cell(made)) for column in PRIORITY_CLASS_COLUMNS] == [
        ("Name", "high"),
        ("Value", 7),
        ("Global-Default", False),
        ("Age", CREATED),
        ("PreemptionPolicy", "Never"),
    ]


def test_system_classes_are_valid() -> None:
    for known in system_priority_classes():
        assert messages(STRATEGY.validate(known)) == []


@pytest.mark.parametrize(
    ("name", "changes", "mistake"),
    [
        ("system-odd", {}, "system-odd is not a known system priority class"),
        (
            "system-node-critical",
            {"value": 1},
            "value of system-node-critical PriorityClass must be 2000001000",
        ),
        (
            "system-node-critical",
            {"value": 2_000_001_000, "globalDefault": True},
            "globalDefault of system-node-critical PriorityClass must be false",
        ),
    ],
)
def test_names_of_system_classes_are_reserved(
    name: str, changes: dict[str, object], mistake: str
) -> None:
    made = decoded(PriorityClass, {"metadata": {"name": name}, **changes})

    assert messages(STRATEGY.validate(made)) == [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for"
        f" system use only. error: {mistake}"
    ]


async def test_a_server_has_the_system_classes_and_keeps_them() -> None:
    async with environment(KUBERNETES) as env:
        classes = env.client.of(PriorityClass)

        values = {found.metadata.name: found.value async for found in classes.list()}
        with pytest.raises(Forbidden) as refused:
            await classes.delete("system-node-critical")

        assert values == {
            "system-cluster-critical": 2_000_000_000,
            "system-node-critical": 2_000_001_000,
        }
        assert refused.value.message == (
            'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a'
            " system priority class and cannot be deleted"
        )


async def test_there_is_one_default() -> None:
    async with environment(KUBERNETES) as env:
        classes = env.client.of(PriorityClass)
        await classes.create({"metadata": {"name": "a"}, "globalDefault": True})
        await classes.create({"metadata": {"name": "b"}})
        # The check looks at the cache, which follows the store.
        await classes.list().all()

        refusal = "PriorityClass a is already marked as default"
        with pytest.raises(Forbidden, match=refusal):
            await classes.create({"metadata": {"name": "c"}, "globalDefault": True})
        with pytest.raises(Forbidden, match=refusal):
            await classes.patch("b", {"globalDefault": True})
        changed = await classes.patch("a", {"description": "The usual one."})

        assert (changed.description, changed.metadata.generation) == ("The usual one.", 1)


async def test_the_value_cannot_change() -> None:
    async with environment(KUBERNETES) as env:
        classes = env.client.of(PriorityClass)
        await classes.create({"metadata": {"name": "a"}, "value": 1})

        with pytest.raises(Invalid, match=r"value: Forbidden: may not be changed in an update\."):
            await classes.patch("a", {"value": 2})
