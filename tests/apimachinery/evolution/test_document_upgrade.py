"""Documents of one shape become documents of another."""

from copy import deepcopy
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apimachinery.codec import dump_json
from apimachinery.evolution.document_upgrade import DocumentUpgrade
from apimachinery.evolution.field_tree import FieldTree, TreeField, TreeType, field_tree
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import RawExtension
from apimachinery.testing import objects
from tests.apimachinery.evolution.lamps import lamp, list_of, map_of, model, planned, upgraded

PART = model(size=(int, 0))


class Node(Model):
    name: str = ""
    old: str = ""
    children: "list[Node]" = field(default_factory=list)


class ShortNode(Model):
    name: str = ""
    children: "list[ShortNode]" = field(default_factory=list)


class Leaf(Model):
    name: str = ""
    old: str = ""


class Root(Model):
    name: str = ""
    old: str = ""
    children: list[Leaf] = field(default_factory=list)


def test_omitted_values_keep_their_old_meaning() -> None:
    old = lamp(watts=(int, 0), on=(bool, False), names=(list[str], []), part=(PART | None, None))
    new = lamp(watts=(int, 5), on=(bool, True), names=(list[str], ["a"]), part=(PART, PART()))

    assert upgraded(old, new, {}) == ({"watts": 0, "on": False, "names": []}, ())


def test_defaults_are_filled_in_elements_at_any_depth() -> None:
    old, new = model(size=(int, 3)), model(size=(int, 4))

    spec, _ = upgraded(
        lamp(parts=(map_of(list_of(old)), {})),
        lamp(parts=(map_of(list_of(new)), {})),
        {"parts": {"a": [{}, {"size": 1}], "b": [None]}},
    )

    assert spec == {"parts": {"a": [{"size": 3}, {"size": 1}], "b": [None]}}


def test_defaults_are_filled_at_any_depth_of_a_recursive_type() -> None:
    old, new = lamp(node=(Node, ...)), lamp(node=(Node, ...), x=(int, 1))

    spec, _ = upgraded(old, new, {"node": {"children": [{"name": "b"}]}})

    inner = {"name": "b", "old": "", "children": []}
    assert spec == {"node": {"name": "", "old": "", "children": [inner]}}


def test_an_old_default_that_is_not_empty_follows_a_rename() -> None:
    old, new = lamp(watts=(int, 7)), lamp(power=(int, 60))

    assert upgraded(old, new, {}, renames={"spec.watts": "spec.power"}) == ({"power": 7}, ())


def test_an_omitted_default_of_another_type_is_no_value_that_cannot_be_read() -> None:
    old, new = lamp(watts=(str, ""), size=(str, "7")), lamp(watts=(int, 60), size=(int, 0))

    assert upgraded(old, new, {}) == ({}, ())


def test_a_filled_default_is_not_shared() -> None:
    plan = planned(lamp(names=(list[str], [])), lamp(names=(list[str], []), x=(int, 1)))
    first: dict[str, Any] = {"spec": {}}
    second: dict[str, Any] = {"spec": {}}
    plan.apply(first)
    plan.apply(second)

    first["spec"]["names"].append("a")

    assert second["spec"]["names"] == []


@pytest.mark.parametrize(
    ("old", "new", "spec", "lost"),
    [
        pytest.param({"a": (str, "")}, {}, {"a": "x"}, ("spec.a",), id="a value"),
        pytest.param({"a": (str, "")}, {}, {}, (), id="a default that was omitted"),
        pytest.param({"a": (int, 7)}, {}, {}, (), id="a default that was not stored"),
        pytest.param({"a": (int | None, 7)}, {}, {"a": None}, (), id="null"),
        pytest.param({"a": (PART, PART())}, {}, {"a": {}}, (), id="an object with nothing in it"),
        pytest.param(
            {"a": (model(b=(PART, PART())), ...)}, {}, {"a": {"b": {}}}, (), id="nested objects"
        ),
        pytest.param(
            {"a": (map_of(PART), {})}, {}, {"a": {"k": {}}}, ("spec.a",), id="a key of a map"
        ),
        pytest.param({"a": (PART, ...)}, {}, {"a": {"size": 1}}, ("spec.a",), id="an object"),
        pytest.param(
            {"a": (list_of(PART), [])},
            {"a": (list_of(model()), [])},
            {"a": [{"size": 1}, {"size": 2}, {}]},
            ("spec.a.size",),
            id="in a list",
        ),
        pytest.param(
            {"a": (map_of(PART), {})},
            {"a": (map_of(model()), {})},
            {"a": {"left": {"size": 1}, "right.up": {"size": 2}}},
            ("spec.a.size",),
            id="in a map",
        ),
        pytest.param(
            {"a": (dict[str, str], {})},
            {"a": (model(x=(str, "")), ...)},
            {"a": {"x": "1", "y": "2"}},
            ("spec.a.y",),
            id="a key of a map that became an object",
        ),
        pytest.param(
            {"a": (RawExtension, {})},
            {"a": (model(x=(str, "")), ...)},
            {"a": {"y": "2"}},
            ("spec.a.y",),
            id="in a document that became an object",
        ),
        pytest.param(
            {"a": (PART, ...)},
            {"a": (RawExtension | None, None)},
            {"a": {"size": 1}},
            (),
            id="in an object that became a document",
        ),
        pytest.param(
            {"a": (PART | bool, True)},
            {"a": (model() | bool, True)},
            {"a": {"size": 1}},
            ("spec.a.size",),
            id="in a union",
        ),
        pytest.param(
            {"a": (model(extra="allow"), ...)},
            {"a": (model(), ...)},
            {"a": {"undeclared": 1}},
            ("spec.a.undeclared",),
            id="undeclared fields that were kept",
        ),
        pytest.param(
            {"a": (model(size=(int, 0)), ...)},
            {"a": (model(extra="allow"), ...)},
            {"a": {"size": 1}},
            (),
            id="in an object that keeps undeclared fields",
        ),
        pytest.param(
            {"a": (Node, ...)},
            {"a": (ShortNode, ...)},
            {"a": {"children": [{"children": [{"old": "x"}]}]}},
            ("spec.a.children.children.old",),
            id="deep in a recursive type",
        ),
        pytest.param(
            {"a": (Node, ...)},
            {"a": (Root, ...)},
            {"a": {"children": [{"children": [{"name": "x"}]}]}},
            ("spec.a.children.children",),
            id="in a type that is not recursive any more",
        ),
    ],
)
def test_values_without_a_field_are_lost(
    old: Any, new: Any, spec: Any, lost: tuple[str, ...]
) -> None:
    plan = planned(lamp(**old), lamp(**new))

    assert plan.apply({"spec": spec}) == lost
    assert not (lost and plan.is_needless)


def test_a_default_that_was_renamed_before_it_was_removed_is_not_lost() -> None:
    old, new = lamp(a=(str, ""), c=(int, 7)), lamp()
    renames = {"spec.a": "spec.b", "spec.c": "spec.d"}

    assert upgraded(old, new, {}, renames=renames)[1] == ()
    assert upgraded(old, new, {"a": "x"}, renames=renames)[1] == ("spec.b",)


def test_unknown_metadata_is_lost() -> None:
    plan = planned(lamp(a=(str, "")), lamp())

    assert plan.apply({"metadata": {"new": 1}, "spec": {}}) == ("metadata.new",)


@pytest.mark.parametrize(
    ("old", "new", "is_needless"),
    [
        ({}, {"a": (str, "")}, True),
        ({}, {"a": (str, "x")}, False),
        ({}, {"a": (str, field("", omit_empty=False))}, False),
        ({"a": (str, "")}, {}, False),
        (
            {"a": (model(extra="allow"), ...)},
            {"a": (model(extra="allow", b=(str, "")), ...)},
            False,
        ),
        ({"a": (model(), ...)}, {"a": (model(extra="allow"), ...)}, True),
        ({"a": (Node, ...)}, {"a": (Node, ...), "b": (str, "")}, True),
    ],
)
def test_an_upgrade_is_needless_if_documents_mean_the_same(
    old: Any, new: Any, is_needless: bool
) -> None:
    assert planned(lamp(**old), lamp(**new)).is_needless is is_needless


def test_code_of_the_old_shape_would_misread_renames_and_other_types() -> None:
    old = lamp(a=(str, ""), b=(int, 0))

    assert planned(old, lamp(c=(str, ""), b=(int, 0)), renames={"spec.a": "spec.c"}).is_incompatible
    assert planned(old, lamp(a=(int, 0), b=(int, 0))).is_incompatible
    assert not planned(old, lamp(b=(int, 0)), dropped=["spec.a"]).is_incompatible
    assert not planned(old, lamp(a=(str, ""), b=(int, 0), c=(int, 1))).is_incompatible


# Any tree: an upgrade to the same fields changes nothing but omitted defaults.

_names = st.sampled_from(["alpha", "beta", "gamma"])
_scalars: dict[Any, Any] = {
    str: st.sampled_from(["", "x"]),
    int: st.integers(0, 2),
    bool: st.booleans(),
}


@st.composite
def _models(draw: st.DrawFn, depth: int = 0) -> Any:
    fields: dict[str, Any] = {}
    for name in draw(st.sets(_names, max_size=3)):
        if depth < 2 and draw(st.booleans()):
            inner = draw(_models(depth + 1))
            kinds: list[Any] = [(inner | None, None), (list_of(inner), []), (map_of(inner), {})]
            fields[name] = draw(st.sampled_from(kinds))
        else:
            kind = draw(st.sampled_from(list(_scalars)))
            fields[name] = (kind, draw(_scalars[kind]))
    return model("Any", **fields)


def _class_and_object() -> st.SearchStrategy[tuple[type[Object], Object]]:
    classes = _models().map(lambda spec: lamp(part=(spec, ...)))
    return classes.flatmap(lambda cls: objects(cls).map(lambda obj: (cls, obj)))


def check_upgrades(cls: type[Object], obj: Object) -> None:
    before = orjson.loads(dump_json(obj))
    same, gone = deepcopy(before), deepcopy(before)

    assert DocumentUpgrade(cls, field_tree(cls)).apply(same) == ()
    assert decode_leniently(cls, orjson.dumps(same)) == obj
    assert _covers(same, before)

    has_values = _has_values(before["spec"]["part"], field_tree(cls), "spec.part")
    assert planned(cls, lamp()).apply(gone) == (("spec.part",) if has_values else ())


@given(_class_and_object())
@settings(max_examples=20, deadline=None)
def test_nothing_is_lost_but_values_of_removed_fields(sample: tuple[type[Object], Object]) -> None:
    check_upgrades(*sample)


@pytest.mark.torture
@given(_class_and_object())
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
def test_nothing_is_lost_of_many_types(sample: tuple[type[Object], Object]) -> None:
    check_upgrades(*sample)


def _covers(document: Any, before: Any) -> bool:
    if isinstance(before, dict):
        return all(name in document and _covers(document[name], before[name]) for name in before)
    if isinstance(before, list):
        return all(map(_covers, document, before)) and len(document) == len(before)
    return bool(document == before)


def _has_values(value: Any, tree: FieldTree, path: str) -> bool:
    found = tree.find(path)
    if isinstance(value, dict) and found is not None and "ref" in found.type:
        return any(_has_values(item, tree, f"{path}.{name}") for name, item in value.items())
    return value not in (None, {}, [])


def test_a_tree_without_fields_upgrades_anything() -> None:
    empty = FieldTree([TreeType({"spec": TreeField({"ref": 1})}), TreeType({})])
    document: dict[str, Any] = {"spec": {"color": "red"}}

    lost = DocumentUpgrade(lamp(color=(str, "")), empty).apply(document)

    assert document == {"spec": {"color": "red"}}
    assert lost == ()
