"""Owners of a field stay its owners under its new name."""

from typing import Any

import pytest

from apimachinery.evolution.field_tree import field_tree
from apimachinery.evolution.managed_renames import rename_managed_fields
from apimachinery.evolution.upgrade_steps import Rename
from apimachinery.model.model import Model, field
from tests.apimachinery.evolution.lamps import lamp, list_of, map_of, model


class Node(Model):
    title: str = ""
    children: "list[Node]" = field(default_factory=list, list_map_keys=("title",))


PART = model(length=(int, 0))


@pytest.mark.parametrize(
    ("version", "renames", "before", "after"),
    [
        pytest.param(
            {"tint": (str, "")},
            [("spec.color", "spec.tint")],
            {"f:spec": {"f:color": {}, "f:watts": {}}},
            {"f:spec": {"f:tint": {}, "f:watts": {}}},
            id="in an object",
        ),
        pytest.param(
            {"light": (model(tint=(str, "")), ...)},
            [("spec.color", "spec.light.tint")],
            {"f:spec": {"f:color": {}}},
            {"f:spec": {"f:light": {"f:tint": {}}}},
            id="into an object",
        ),
        pytest.param(
            {"tint": (str, "")},
            [("spec.light.tint", "spec.tint")],
            {"f:spec": {"f:light": {"f:tint": {}}}},
            {"f:spec": {"f:tint": {}}},
            id="out of an object",
        ),
        pytest.param(
            {"parts": (list_of(PART), [])},
            [("spec.parts.size", "spec.parts.length")],
            {"f:spec": {"f:parts": {".": {}, 'k:{"name":"a"}': {".": {}, "f:size": {}}}}},
            {"f:spec": {"f:parts": {".": {}, 'k:{"name":"a"}': {".": {}, "f:length": {}}}}},
            id="in the elements of a list",
        ),
        pytest.param(
            {"parts": (map_of(PART), {})},
            [("spec.parts.size", "spec.parts.length")],
            {"f:spec": {"f:parts": {"f:size": {"f:size": {}}}}},
            {"f:spec": {"f:parts": {"f:size": {"f:length": {}}}}},
            id="in the values of a map",
        ),
        pytest.param(
            {"node": (Node, Node())},
            [("spec.node.name", "spec.node.title")],
            {"f:spec": {"f:node": {"f:name": {}, "f:children": {"k:{}": {"f:name": {}}}}}},
            {"f:spec": {"f:node": {"f:title": {}, "f:children": {"k:{}": {"f:title": {}}}}}},
            id="in a recursive type",
        ),
        pytest.param(
            {"shade": (str, "")},
            [("spec.color", "spec.tint"), ("spec.tint", "spec.shade")],
            {"f:spec": {"f:color": {}}},
            {"f:spec": {"f:shade": {}}},
            id="in two releases",
        ),
        pytest.param(
            {"lamp": (model(tint=(str, "")), ...)},
            [("spec.color", "spec.light.tint"), ("spec.light", "spec.lamp")],
            {"f:spec": {"f:color": {}}},
            {"f:spec": {"f:lamp": {"f:tint": {}}}},
            id="with the object around it",
        ),
        pytest.param(
            {"color": (str, "")},
            [("spec.color", "spec.tint")],
            {"f:spec": {"f:color": {}}},
            {"f:spec": {"f:color": {}}},
            id="not in a version that keeps the name",
        ),
        pytest.param(
            {},
            [("spec.color", "spec.tint")],
            {"f:spec": {"f:color": {}}},
            {"f:spec": {"f:color": {}}},
            id="not in a version without the new name",
        ),
        pytest.param(
            {"tint": (str, "")},
            [("spec.color", "spec.tint")],
            {"f:spec": {}, "f:metadata": {"f:labels": {"f:color": {}}}},
            {"f:spec": {}, "f:metadata": {"f:labels": {"f:color": {}}}},
            id="nothing that is not owned",
        ),
    ],
)
def test_owned_fields_follow_renames(
    version: Any, renames: list[tuple[str, str]], before: Any, after: Any
) -> None:
    rename_managed_fields(
        before, field_tree(lamp(**version)), [Rename(old, new) for old, new in renames]
    )

    assert before == after
