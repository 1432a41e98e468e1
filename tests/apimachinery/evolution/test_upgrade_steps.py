"""Each step alone, and chains of them."""

from typing import Any

import pytest

from apimachinery.evolution.upgrade_steps import Drop, Rename, UpgradeError
from apimachinery.model.model import Model, field
from apimachinery.scheme import NotRegistered, Scheme
from tests.apimachinery.evolution.lamps import (
    lamp,
    list_of,
    map_of,
    model,
    planned,
    scheme_of,
    upgraded,
)

OLD = lamp(color=(str, ""), watts=(int, 0))


class OldNode(Model):
    name: str = ""
    children: "list[OldNode]" = field(default_factory=list)
    by_key: "dict[str, OldNode]" = field(default_factory=dict)


class NewNode(Model):
    title: str = ""
    children: "list[NewNode]" = field(default_factory=list)
    by_key: "dict[str, NewNode]" = field(default_factory=dict)


class MovedNode(Model):
    name: str = ""
    nodes: "list[MovedNode]" = field(default_factory=list)
    by_key: "dict[str, MovedNode]" = field(default_factory=dict)


def test_a_field_is_renamed() -> None:
    new = lamp(tint=(str, ""), watts=(int, 0))

    spec, lost = upgraded(
        OLD, new, {"color": "red", "watts": 3}, renames={"spec.color": "spec.tint"}
    )

    assert spec == {"tint": "red", "watts": 3}
    assert lost == ()


def test_python_names_may_be_given() -> None:
    old, new = lamp(max_size=(int, 0)), lamp(upper_limit=(int, 0))

    spec, _ = upgraded(old, new, {"maxSize": 3}, renames={"spec.max_size": "spec.upper_limit"})

    assert spec == {"upperLimit": 3}


@pytest.mark.parametrize(
    ("container", "before", "after"),
    [
        (lambda part: list_of(part), [{"size": 1}, {"size": 2}], [{"length": 1}, {"length": 2}]),
        (lambda part: map_of(part), {"size": {"size": 1}}, {"size": {"length": 1}}),
        (
            lambda part: map_of(list_of(part)),
            {"a": [{"size": 1}], "b": []},
            {"a": [{"length": 1}], "b": []},
        ),
    ],
    ids=["list", "map", "map of lists"],
)
def test_a_field_is_renamed_in_every_element(container: Any, before: Any, after: Any) -> None:
    old = lamp(parts=(container(model(size=(int, 0))), ...))
    new = lamp(parts=(container(model(length=(int, 0))), ...))

    spec, lost = upgraded(
        old, new, {"parts": before}, renames={"spec.parts.size": "spec.parts.length"}
    )

    assert spec == {"parts": after}
    assert lost == ()


@pytest.mark.parametrize(
    ("old", "new", "renames", "before", "after"),
    [
        pytest.param(
            {"tint": (str, "")},
            {"light": (model(tint=(str, ""), tone=(str, "")), ...)},
            {"spec.tint": "spec.light.tint"},
            {"tint": "red"},
            {"light": {"tint": "red"}},
            id="into a new object",
        ),
        pytest.param(
            {"light": (model(tint=(str, "")), ...)},
            {"tint": (str, "")},
            {"spec.light.tint": "spec.tint"},
            {"light": {"tint": "red"}},
            {"tint": "red"},
            id="out of an object that is gone",
        ),
        pytest.param(
            {"a": (model(x=(int, 0), y=(int, 0)), ...), "b": (model(), ...)},
            {"a": (model(y=(int, 0)), ...), "b": (model(x=(int, 0)), ...)},
            {"spec.a.x": "spec.b.x"},
            {"a": {"x": 1, "y": 2}, "b": {}},
            {"a": {"y": 2}, "b": {"x": 1}},
            id="between objects",
        ),
        pytest.param(
            {"part": (model(size=(int, 0)), ...)},
            {"piece": (model(size=(int, 0)), ...)},
            {"spec.part": "spec.piece"},
            {"part": {"size": 3}},
            {"piece": {"size": 3}},
            id="a whole object",
        ),
        pytest.param(
            {"size": (int, 0)},
            {"size": (model(value=(int, 0)), ...)},
            {"spec.size": "spec.size.value"},
            {"size": 3},
            {"size": {"value": 3}},
            id="into itself",
        ),
        pytest.param(
            {"size": (model(value=(int, 0)), ...)},
            {"size": (int, 0)},
            {"spec.size.value": "spec.size"},
            {"size": {"value": 3}},
            {"size": 3},
            id="out of itself",
        ),
        pytest.param(
            {"a": (int, 0), "b": (int, 0)},
            {"b": (int, 0), "c": (int, 0)},
            {"spec.a": "spec.b", "spec.b": "spec.c"},
            {"a": 1, "b": 2},
            {"b": 1, "c": 2},
            id="a name that becomes free",
        ),
    ],
)
def test_a_field_moves(old: Any, new: Any, renames: Any, before: Any, after: Any) -> None:
    spec, lost = upgraded(lamp(**old), lamp(**new), before, renames=renames)

    assert spec == after
    assert lost == ()


def test_a_field_of_a_recursive_type_is_renamed_at_every_depth() -> None:
    old, new = lamp(node=(OldNode, OldNode())), lamp(node=(NewNode, NewNode()))
    node = {"name": "a", "children": [{"name": "b", "byKey": {"name": {"name": "c"}}}]}

    spec, lost = upgraded(old, new, {"node": node}, renames={"spec.node.name": "spec.node.title"})

    assert NewNode.model_validate(spec["node"]) == NewNode(
        title="a", children=[NewNode(title="b", by_key={"name": NewNode(title="c")})]
    )
    assert lost == ()


def test_the_recursive_field_itself_is_renamed_at_every_depth() -> None:
    old, new = lamp(node=(OldNode, OldNode())), lamp(node=(MovedNode, MovedNode()))
    node = {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}

    spec, lost = upgraded(
        old, new, {"node": node}, renames={"spec.node.children": "spec.node.nodes"}
    )

    assert MovedNode.model_validate(spec["node"]) == MovedNode(
        name="a", nodes=[MovedNode(name="b", nodes=[MovedNode(name="c")])]
    )
    assert lost == ()


def test_a_rename_is_for_older_shapes_only() -> None:
    rename = {"spec.color": "spec.tint"}
    both = lamp(color=(str, ""), tint=(str, ""))

    spec, _ = upgraded(
        both, lamp(color=(str, ""), tint=(str, ""), x=(int, 1)), {"color": "a"}, renames=rename
    )

    assert spec["color"] == "a"


@pytest.mark.parametrize(
    ("old", "new", "renames", "message"),
    [
        pytest.param(
            {"parts": (list_of(model(size=(int, 0))), [])},
            {"parts": (list_of(model()), []), "size": (int, 0)},
            {"spec.parts.size": "spec.size"},
            "it moves from the elements of spec.parts",
            id="out of elements",
        ),
        pytest.param(
            {"parts": (map_of(model()), {}), "size": (int, 0)},
            {"parts": (map_of(model(size=(int, 0))), {})},
            {"spec.size": "spec.parts.size"},
            "it moves to the elements of spec.parts",
            id="into elements",
        ),
        pytest.param(
            {"size": (model(value=(int, 0), unit=(str, "")), ...)},
            {"size": (int, 0)},
            {"spec.size.value": "spec.size"},
            "the value would replace spec.size.unit",
            id="over other fields",
        ),
    ],
)
def test_a_rename_that_would_lose_values_is_refused(
    old: Any, new: Any, renames: Any, message: str
) -> None:
    with pytest.raises(UpgradeError, match=message):
        planned(lamp(**old), lamp(**new), renames=renames)


def test_renames_in_a_circle_are_refused() -> None:
    """Both shapes have the same fields, so nobody could tell which one a document has."""
    with pytest.raises(UpgradeError, match="the renames are a circle"):
        scheme_of(OLD, renames={"spec.color": "spec.tint", "spec.tint": "spec.color"})


def test_a_function_needs_a_condition_and_a_condition_a_function() -> None:
    with pytest.raises(UpgradeError, match="needs reads or writes"):
        scheme_of(OLD, function=lambda document: None)
    with pytest.raises(UpgradeError, match="give one"):
        scheme_of(OLD, reads=["spec.color"])
    with pytest.raises(NotRegistered):
        Scheme().add_upgrade(OLD, dropped=["spec.color"])


def watts_to_text(value: int) -> str:
    return f"{value}W"


def text_to_list(value: str) -> list[str]:
    return [value]


def list_to_map(value: list[str]) -> dict[str, str]:
    return {"first": value[0]}


def test_a_chain_of_types_is_entered_where_the_document_is() -> None:
    last = lamp(watts=(dict[str, str], {}))
    changes = (
        lambda scheme: scheme.add_upgrade(last, retyped={"spec.watts": watts_to_text}),
        lambda scheme: scheme.add_upgrade(last, retyped={"spec.watts": text_to_list}),
        lambda scheme: scheme.add_upgrade(last, retyped={"spec.watts": list_to_map}),
    )
    stored: list[tuple[Any, Any]] = [(int, 5), (str, "5W"), (list[str], ["5W"])]

    for kind, value in stored:
        document = {"spec": {"watts": value}}
        lost = planned(lamp(watts=(kind, ...)), last, *changes).apply(document)

        assert document["spec"] == {"watts": {"first": "5W"}}
        assert lost == ()


def test_a_field_is_retyped_before_it_is_renamed() -> None:
    """A function without annotations: what counts is the type under the new name."""
    last = lamp(power=(str, ""))
    plan = planned(
        lamp(watts=(int, 0)),
        last,
        lambda scheme: scheme.add_upgrade(last, retyped={"spec.watts": str}),
        lambda scheme: scheme.add_upgrade(last, renames={"spec.watts": "spec.power"}),
    )
    document: dict[str, Any] = {"spec": {"watts": 3}}

    assert plan.apply(document) == ()
    assert document == {"spec": {"power": "3"}}
    assert plan.changes.endangered == ()


def number_to_text(value: int | float) -> str:
    return str(value)


@pytest.mark.parametrize("kind", [int, float])
def test_a_function_for_several_types(kind: Any) -> None:
    spec, _ = upgraded(
        lamp(watts=(kind, 0)),
        lamp(watts=(str, "")),
        {"watts": 3},
        retyped={"spec.watts": number_to_text},
    )

    assert spec == {"watts": "3"}


def test_a_function_without_annotations_is_called_if_the_type_differs() -> None:
    new = lamp(watts=(str, ""))

    assert upgraded(lamp(watts=(int, 0)), new, {"watts": 3}, retyped={"spec.watts": str})[0] == {
        "watts": "3"
    }
    wider = lamp(watts=(str, ""), color=(str, "red"))
    assert upgraded(new, wider, {"watts": "3"}, retyped={"spec.watts": repr})[0] == {"watts": "3"}


def test_a_function_without_annotations_never_changes_the_fields_of_an_object() -> None:
    """Whether an object is of the old or the new form cannot be told from its type."""
    old, new = lamp(part=(model(a=(int, 0)), ...)), lamp(part=(model(b=(int, 0)), ...))

    spec, lost = upgraded(old, new, {"part": {"a": 1}}, retyped={"spec.part": lambda part: {}})

    assert spec == {"part": {"a": 1}}
    assert lost == ("spec.part.a",)


def test_null_is_not_retyped() -> None:
    old, new = lamp(watts=(int | None, 7)), lamp(watts=(str | None, None))

    assert upgraded(old, new, {"watts": None}, retyped={"spec.watts": str})[0] == {"watts": None}


def test_elements_are_retyped() -> None:
    old, new = model(size=(int, 0)), model(size=(str, ""))

    spec, _ = upgraded(
        lamp(parts=(map_of(list_of(old)), {})),
        lamp(parts=(map_of(list_of(new)), {})),
        {"parts": {"a": [{"size": 1}, {}]}},
        retyped={"spec.parts.size": watts_to_text},
    )

    assert spec == {"parts": {"a": [{"size": "1W"}, {"size": "0W"}]}}


def test_a_scalar_becomes_an_object() -> None:
    new = lamp(watts=(model(value=(int, 0), unit=(str, "W")), ...), color=(str, ""))

    plan = planned(OLD, new, retyped={"spec.watts": lambda value: {"value": value}})

    assert plan.changes.endangered == ()
    assert plan.changes.added == ()


def test_a_whole_object_is_dropped() -> None:
    old = lamp(part=(model(size=(int, 0), inner=(model(x=(int, 0)), ...)), ...), color=(str, ""))
    new = lamp(color=(str, ""))
    before = {"part": {"size": 1, "inner": {"x": 1}}, "color": "a"}

    spec, lost = upgraded(old, new, before, dropped=["spec.part"])

    assert spec == {"color": "a"}
    assert lost == ()
    assert planned(old, new, dropped=["spec.part"]).changes.endangered == ()


def test_a_field_of_elements_is_dropped() -> None:
    old, new = model(size=(int, 0), name=(str, "")), model(name=(str, ""))
    before = {"parts": {"size": {"size": 1, "name": "a"}}}

    spec, lost = upgraded(
        lamp(parts=(map_of(old), {})),
        lamp(parts=(map_of(new), {})),
        before,
        dropped=["spec.parts.size"],
    )

    assert spec == {"parts": {"size": {"name": "a"}}}
    assert lost == ()


def test_a_field_that_is_still_there_is_not_dropped() -> None:
    new = lamp(color=(str, ""), watts=(int, 0), x=(int, 1))

    assert upgraded(OLD, new, {"color": "a", "watts": 1}, dropped=["spec.color"])[0]["color"] == "a"


def test_old_values_of_another_type_can_be_dropped() -> None:
    new = lamp(color=(list[str], []), watts=(int, 0))

    assert upgraded(OLD, new, {"color": "a"}, dropped=["spec.color"])[0] == {"watts": 0}


def split(document: dict[str, Any]) -> None:
    hue, _, tone = document["spec"].pop("color").partition(" ")
    document["spec"]["light"] = {"hue": hue, "tone": tone}


LIGHT = lamp(light=(model(hue=(str, ""), tone=(str, "")), ...), watts=(int, 0))


def test_a_function_changes_documents_of_its_condition() -> None:
    declared: dict[str, Any] = {
        "function": split,
        "reads": ["spec.color"],
        "writes": ["spec.light"],
    }

    spec, lost = upgraded(OLD, LIGHT, {"color": "red dark"}, **declared)

    assert spec == {"light": {"hue": "red", "tone": "dark"}, "watts": 0}
    assert lost == ()
    newer = lamp(light=(model(hue=(str, ""), tone=(str, "")), ...), watts=(int, 3))
    assert upgraded(LIGHT, newer, {"light": {"hue": "red"}}, **declared)[0]["light"] == {
        "hue": "red",
        "tone": "",
    }


def test_a_function_sees_the_defaults_of_the_old_shape() -> None:
    declared: dict[str, Any] = {
        "function": split,
        "reads": ["spec.color"],
        "writes": ["spec.light"],
    }

    spec, lost = upgraded(OLD, LIGHT, {}, **declared)

    assert spec["light"] == {"hue": "", "tone": ""}
    assert lost == ()


def test_a_function_may_return_another_document() -> None:
    def rebuild(document: dict[str, Any]) -> dict[str, Any]:
        return {"spec": {"light": {"hue": document["spec"]["color"]}}}

    spec, _ = upgraded(
        OLD, LIGHT, {"color": "red"}, function=rebuild, reads=["spec.color"], writes=["spec.light"]
    )

    assert spec == {"light": {"hue": "red"}}


def test_what_a_function_writes_without_a_field_is_lost() -> None:
    def misspell(document: dict[str, Any]) -> None:
        document["spec"]["lihgt"] = {"hue": document["spec"]["color"]}

    _, lost = upgraded(
        OLD, LIGHT, {"color": "red"}, function=misspell, reads=["spec.color"], writes=["spec.light"]
    )

    assert lost == ("spec.lihgt",)


def test_fields_beside_a_function_can_still_be_lost() -> None:
    old = lamp(color=(str, ""), watts=(int, 0), owner=(str, ""), size=(int, 1))
    declared: dict[str, Any] = {
        "function": split,
        "reads": ["spec.color"],
        "writes": ["spec.light"],
    }

    assert upgraded(old, LIGHT, {"owner": "me", "size": 1}, **declared)[1] == ("spec.owner",)
    assert upgraded(old, LIGHT, {}, **declared)[1] == ()


def test_steps_work_on_documents_alone() -> None:
    document: dict[str, Any] = {"a": {"b": 1}, "c": 2}

    Rename("a.b", "d").change(document, {})  # type: ignore[arg-type]
    Drop("c").change(document, {})  # type: ignore[arg-type]

    assert document == {"d": 1}


def test_steps_are_described_for_the_catalogue() -> None:
    scheme = scheme_of(
        OLD,
        renames={"spec.a": "spec.color"},
        retyped={"spec.watts": watts_to_text},
        function=split,
        reads=["spec.x"],
        dropped=["spec.y"],
    )

    assert [step.describe() for step in scheme.upgrades(OLD)] == [
        "rename spec.a to spec.color",
        "change the type of spec.watts",
        "call split",
        "drop spec.y",
    ]
