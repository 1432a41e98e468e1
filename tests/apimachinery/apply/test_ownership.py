"""Field ownership after a series of applies and updates: the documented behaviour of server-side
apply, as scenarios."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from apimachinery.apply.apply_errors import MissingVersion
from apimachinery.apply.conflicts import ApplyConflict, ManagerIdentifier
from apimachinery.apply.field_ownership import FieldOwnership, OwnedFields, Versioned
from apimachinery.apply.fieldset import FieldSet
from apimachinery.model.type_shape import MapShape, Shape
from tests.apimachinery.apply.apply_shapes import (
    ATOMIC_LIST,
    ATOMIC_MAP,
    MAP,
    SCALAR,
    SET,
    UNTYPED,
    fields,
    keyed,
    path,
    shown,
    struct,
)


def rename(value: Any, version: str) -> Any:
    """Convert as if each version appended its own name to field names, after an underscore."""
    if isinstance(value, dict):
        return {re.sub(r"_v\d$", f"_{version}", k): rename(v, version) for k, v in value.items()}
    return [rename(item, version) for item in value] if isinstance(value, list) else value


@dataclass
class State:
    """A live object and its managers, as operations change them."""

    shapes: Mapping[str, Shape]
    convert: Callable[[Any, str], Any] = rename
    ignored: Mapping[str, FieldSet] = field(default_factory=dict)
    live: Versioned = field(default_factory=lambda: Versioned({}, "v1"))
    managers: dict[ManagerIdentifier, OwnedFields] = field(default_factory=dict)

    @property
    def rules(self) -> FieldOwnership:
        return FieldOwnership(self.shapes, self.convert, self.ignored)

    def apply(self, name: str, value: Any, version: str = "v1", force: bool = False) -> None:
        live = self.rules.in_version(self.live, version)
        applied, who = Versioned(value, version), ManagerIdentifier(name, "Apply")
        new, self.managers = self.rules.apply(live, applied, self.managers, who, force=force)
        self.live = Versioned(new, version)

    def force(self, name: str, value: Any, version: str = "v1") -> None:
        self.apply(name, value, version, force=True)

    def update(self, name: str, value: Any, version: str = "v1") -> None:
        live = self.rules.in_version(self.live, version)
        who = ManagerIdentifier(name, "Update", version)
        self.managers = self.rules.update(live, Versioned(value, version), self.managers, who)
        self.live = Versioned(value, version)

    def owners(self) -> dict[str, set[str]]:
        return {manager.name: shown(owned.fields) for manager, owned in self.managers.items()}

    def conflicts(self, name: str, value: Any, version: str = "v1") -> set[tuple[str, str]]:
        before = (self.live, dict(self.managers))
        with pytest.raises(ApplyConflict) as caught:
            self.apply(name, value, version)
        assert (self.live, self.managers) == before
        return {(found.manager.name, found.field) for found in caught.value.conflicts}


ITEM: dict[str, Shape] = {"name": SCALAR, "value": SCALAR, "value2": SCALAR, "set": SET, "map": MAP}
ROOT = struct(
    {
        "numeric": SCALAR,
        "string": SCALAR,
        "bool": SCALAR,
        "set": SET,
        "list": keyed("name", fields=ITEM),
        "ports": keyed(
            "port",
            "protocol",
            fields={"port": SCALAR, "protocol": SCALAR, "name": SCALAR},
            defaults={"protocol": "TCP"},
        ),
        "atomicList": ATOMIC_LIST,
        "atomicMap": ATOMIC_MAP,
        "map": MAP,
        "mapOfMaps": MapShape(MAP),
        "mapOfSets": MapShape(SET),
        "struct": struct({"name": SCALAR, "value": SCALAR}),
        "any": UNTYPED,
        "open": struct({"known": SCALAR}, keeps=True),
    }
)


@pytest.fixture
def state() -> State:
    return State(dict.fromkeys(("v1", "v2", "v3"), ROOT))


def named(*names: str, **values: Any) -> list[dict[str, Any]]:
    return [
        {"name": name, "value": values[name]} if name in values else {"name": name}
        for name in names
    ]


# Leaves


def test_an_applier_owns_what_it_applies(state: State) -> None:
    state.apply("one", {"numeric": 1, "string": "s"})

    assert state.owners() == {"one": {".numeric", ".string"}}
    assert state.live.value == {"numeric": 1, "string": "s"}


def test_equal_values_are_owned_together(state: State) -> None:
    state.apply("one", {"numeric": 1})
    state.apply("two", {"numeric": 1, "string": "s"})

    assert state.owners() == {"one": {".numeric"}, "two": {".numeric", ".string"}}


def test_another_value_is_a_conflict(state: State) -> None:
    state.apply("one", {"numeric": 1, "string": "s"})

    assert state.conflicts("two", {"numeric": 2, "string": "s"}) == {("one", ".numeric")}


def test_force_takes_what_differs_and_shares_the_rest(state: State) -> None:
    state.apply("one", {"numeric": 1, "string": "s"})
    state.force("two", {"numeric": 2, "string": "s"})

    assert state.owners() == {"one": {".string"}, "two": {".numeric", ".string"}}
    assert state.live.value == {"numeric": 2, "string": "s"}


def test_force_takes_from_all_owners(state: State) -> None:
    state.apply("one", {"numeric": 1})
    state.apply("two", {"numeric": 1})
    state.force("three", {"numeric": 2})

    assert state.owners() == {"three": {".numeric"}}


def test_an_update_takes_what_it_changes_silently(state: State) -> None:
    state.apply("one", {"numeric": 1, "string": "s", "bool": True})
    state.update("two", {"numeric": 1, "string": "t", "bool": True})

    assert state.owners() == {"one": {".numeric", ".bool"}, "two": {".string"}}


def test_applying_over_an_update_is_a_conflict(state: State) -> None:
    state.apply("one", {"string": "s"})
    state.update("two", {"string": "t"})

    assert state.conflicts("one", {"string": "s"}) == {("two", ".string")}


def test_an_applier_can_give_a_conflicting_field_up(state: State) -> None:
    state.apply("one", {"numeric": 1, "string": "s"})
    state.update("two", {"numeric": 1, "string": "t"})
    state.apply("one", {"numeric": 1})

    assert state.live.value == {"numeric": 1, "string": "t"}
    assert state.owners() == {"one": {".numeric"}, "two": {".string"}}


def test_an_update_that_changes_nothing_owns_nothing(state: State) -> None:
    state.apply("one", {"numeric": 1})
    state.update("two", {"numeric": 1.0})

    assert state.owners() == {"one": {".numeric"}}


def test_what_an_update_removes_nobody_owns(state: State) -> None:
    state.apply("one", {"numeric": 1, "string": "s"})
    state.apply("two", {"string": "s"})
    state.update("three", {"numeric": 1})

    assert state.owners() == {"one": {".numeric"}}


def test_fields_no_longer_applied_are_removed(state: State) -> None:
    state.apply("one", {"numeric": 1, "string": "s"})
    state.apply("one", {"numeric": 1})

    assert state.live.value == {"numeric": 1}
    assert state.owners() == {"one": {".numeric"}}


def test_fields_no_longer_applied_stay_if_another_applier_owns_them(state: State) -> None:
    state.apply("one", {"numeric": 1, "string": "s"})
    state.apply("two", {"string": "s"})
    state.apply("one", {"numeric": 1})

    assert state.live.value == {"numeric": 1, "string": "s"}
    assert state.owners() == {"one": {".numeric"}, "two": {".string"}}


def test_fields_no_longer_applied_stay_if_an_updater_owns_them(state: State) -> None:
    state.update("two", {"numeric": 1, "string": "s"})
    state.apply("one", {"numeric": 1, "string": "s"})
    state.apply("one", {"numeric": 1})

    assert state.live.value == {"numeric": 1, "string": "s"}


def test_applying_nothing_removes_everything_owned(state: State) -> None:
    state.apply("one", {"struct": {"name": "a", "value": 1}, "numeric": 1})
    state.apply("two", {"numeric": 1})
    state.apply("one", {})

    assert state.live.value == {"numeric": 1}
    assert state.owners() == {"two": {".numeric"}}


def test_a_null_is_applied_as_a_value(state: State) -> None:
    state.apply("one", {"string": None})

    assert state.live.value == {"string": None}
    assert state.conflicts("two", {"string": "s"}) == {("one", ".string")}


def test_applying_the_same_again_changes_nothing(state: State) -> None:
    value = {"numeric": 1, "list": named("a", "b", a=1), "set": ["x"], "map": {}, "any": {"a": [1]}}
    state.apply("one", value)
    before = (state.live, state.managers)
    state.apply("one", value)

    assert (state.live, state.managers) == before


# Structs and maps


def test_an_update_owns_the_containers_it_creates(state: State) -> None:
    state.update("one", {"struct": {"name": "a"}, "map": {"x": "y"}})

    assert state.owners() == {"one": {".struct", ".struct.name", ".map", ".map.x"}}


def test_a_struct_goes_with_its_last_field(state: State) -> None:
    state.apply("one", {"struct": {"name": "a"}, "numeric": 1})
    state.apply("one", {"numeric": 1})

    assert state.live.value == {"numeric": 1}


def test_an_emptied_struct_can_be_kept(state: State) -> None:
    state.apply("one", {"struct": {"name": "a"}})
    state.apply("one", {"struct": None})

    assert state.live.value == {"struct": None}
    assert state.owners() == {"one": {".struct"}}


@pytest.mark.parametrize("last", [{}, {"struct": {}}, {"struct": None}])
def test_a_struct_stays_for_what_others_have_in_it(state: State, last: Any) -> None:
    state.apply("one", {"struct": {"name": "a"}})
    state.update("two", {"struct": {"name": "a", "value": 1}})
    state.apply("one", last)

    assert state.live.value == {"struct": {"value": 1}}


def test_a_field_taken_over_by_an_update_stays(state: State) -> None:
    state.apply("one", {"struct": {"name": "a"}})
    state.update("two", {"struct": {"name": "b", "value": 1}})
    state.apply("one", {"struct": None})

    assert state.live.value == {"struct": {"name": "b", "value": 1}}


def test_map_entries_are_owned_one_by_one(state: State) -> None:
    state.apply("one", {"map": {"a": "1"}})
    state.apply("two", {"map": {"b": "2"}})
    state.apply("one", {"map": {"c": "3"}})

    assert state.live.value == {"map": {"b": "2", "c": "3"}}
    assert state.owners() == {"one": {".map.c"}, "two": {".map.b"}}


def test_maps_of_maps_are_pruned_at_every_level(state: State) -> None:
    state.apply("one", {"mapOfMaps": {"a": {"x": "1", "y": "1"}, "b": {"x": "1"}}})
    state.apply("one", {"mapOfMaps": {"a": {"y": "1"}}})

    assert state.live.value == {"mapOfMaps": {"a": {"y": "1"}}}
    assert state.owners() == {"one": {".mapOfMaps.a", ".mapOfMaps.a.y"}}


def test_maps_of_sets_are_pruned_at_every_level(state: State) -> None:
    state.apply("one", {"mapOfSets": {"a": ["b", "c"]}})
    state.apply("one", {"mapOfSets": {"a": ["a", "c"], "d": ["x"]}})

    assert state.live.value == {"mapOfSets": {"a": ["a", "c"], "d": ["x"]}}


def test_an_atomic_map_has_one_owner(state: State) -> None:
    state.apply("one", {"atomicMap": {"a": 1}})

    assert state.conflicts("two", {"atomicMap": {"b": 1}}) == {("one", ".atomicMap")}
    state.force("two", {"atomicMap": {"b": 1}})
    assert state.live.value == {"atomicMap": {"b": 1}}
    assert state.owners() == {"two": {".atomicMap"}}


def test_an_atomic_list_has_one_owner(state: State) -> None:
    state.apply("one", {"atomicList": ["a"]})

    assert state.conflicts("two", {"atomicList": ["a", "b"]}) == {("one", ".atomicList")}


def test_an_atomic_value_is_removed_whole(state: State) -> None:
    state.apply("one", {"atomicList": ["a"], "atomicMap": {"a": 1}, "numeric": 1})
    state.apply("one", {"numeric": 1})

    assert state.live.value == {"numeric": 1}


# Sets and keyed lists


def test_sets_are_merged(state: State) -> None:
    state.apply("one", {"set": ["a", "c"]})
    state.apply("two", {"set": ["b"]})
    state.apply("one", {"set": ["a", "d"]})

    assert state.live.value == {"set": ["a", "b", "d"]}
    assert state.owners() == {"one": {'.set[="a"]', '.set[="d"]'}, "two": {'.set[="b"]'}}


def test_a_shared_set_item_stays(state: State) -> None:
    state.apply("one", {"set": ["a", "b"]})
    state.apply("two", {"set": ["b", "c"]})
    state.apply("one", {"set": ["a"]})

    assert state.live.value == {"set": ["a", "b", "c"]}


def test_an_update_takes_new_set_items_only(state: State) -> None:
    state.apply("one", {"set": ["a", "b"]})
    state.update("two", {"set": ["b", "c"]})

    assert state.owners() == {"one": {'.set[="b"]'}, "two": {'.set[="c"]'}}


def test_items_are_owned_one_by_one(state: State) -> None:
    state.apply("one", {"list": named("a", "b")})
    state.apply("two", {"list": named("c")}, "v2")
    state.apply("one", {"list": named("a")}, "v3")

    assert state.live.value == {"list": named("a", "c")}
    assert state.owners() == {
        "one": {'.list[name="a"]', '.list[name="a"].name'},
        "two": {'.list[name="c"]', '.list[name="c"].name'},
    }
    assert {owned.version for owned in state.managers.values()} == {"v3", "v2"}


def test_items_can_be_owned_together(state: State) -> None:
    state.apply("one", {"list": named("a", "b", "c")})
    state.apply("two", {"list": named("c", "d")})
    state.apply("one", {"list": named("a")})

    assert state.live.value == {"list": named("a", "c", "d")}


def test_a_field_of_an_item_can_be_in_conflict(state: State) -> None:
    state.apply("one", {"list": named("a", a=0)})

    assert state.conflicts("two", {"list": named("a", a=1)}) == {("one", '.list[name="a"].value')}


def test_an_item_stays_for_what_another_applier_has_in_it(state: State) -> None:
    state.apply("one", {"list": [{"name": "a"}, {"name": "b", "set": ["c"]}]})
    state.apply("two", {"list": [{"name": "b", "set": ["d"]}]}, "v2")
    state.update(
        "controller", {"list": [{"name": "a"}, {"name": "b", "set": ["c", "d", "e"]}]}, "v2"
    )
    state.apply("one", {"list": named("a")}, "v3")

    assert state.live.value == {"list": [{"name": "a"}, {"name": "b", "set": ["d", "e"]}]}
    assert state.owners()["controller"] == {'.list[name="b"].set[="e"]'}


def test_an_item_goes_although_an_updater_has_something_in_it(state: State) -> None:
    """An updater that owns only a part of an item does not keep the item."""
    state.apply("one", {"list": [{"name": "a"}, {"name": "b", "set": ["c"]}]})
    state.update("controller", {"list": [{"name": "a"}, {"name": "b", "set": ["c", "d"]}]}, "v2")
    state.apply("one", {"list": named("a")}, "v3")

    assert state.live.value == {"list": named("a")}
    assert "controller" not in state.owners()


def test_changing_the_key_makes_another_item(state: State) -> None:
    state.apply("one", {"list": [{"name": "a", "map": {"b": "x", "c": "y"}}]})
    state.apply("one", {"list": [{"name": "b", "map": {"a": "x", "c": "z"}}]})

    assert state.live.value == {"list": [{"name": "b", "map": {"a": "x", "c": "z"}}]}
    assert state.owners() == {
        "one": {
            '.list[name="b"]',
            '.list[name="b"].name',
            '.list[name="b"].map.a',
            '.list[name="b"].map.c',
        }
    }


def test_applied_order_wins_where_it_says_something(state: State) -> None:
    state.update("two", {"list": named("c", "a", "x", "b")})
    state.apply("one", {"list": named("a", "b", "c")})

    assert [item["name"] for item in state.live.value["list"]] == ["a", "x", "b", "c"]


def test_a_key_with_a_default_can_be_left_out(state: State) -> None:
    state.apply("one", {"ports": [{"port": 80, "protocol": "TCP"}]})
    state.apply("two", {"ports": [{"port": 80, "name": "http"}]})

    key = '.ports[port=80,protocol="TCP"]'
    assert state.live.value == {"ports": [{"port": 80, "protocol": "TCP", "name": "http"}]}
    assert state.owners() == {
        "one": {key, f"{key}.port", f"{key}.protocol"},
        "two": {key, f"{key}.port", f"{key}.name"},
    }


def test_items_that_differ_in_a_defaulted_key_are_two(state: State) -> None:
    state.apply("one", {"ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}]})

    assert len(state.live.value["ports"]) == 2


# Repeated items in what is stored


def test_a_repeated_item_is_owned_once(state: State) -> None:
    state.update("one", {"set": [1, 1, 3]})

    assert state.owners() == {"one": {".set", ".set[=1]", ".set[=3]"}}


def test_repeating_an_item_takes_it(state: State) -> None:
    state.update("one", {"set": [1, 3]})
    state.update("two", {"set": [1, 1, 3]})

    assert state.owners() == {"one": {".set", ".set[=3]"}, "two": {".set[=1]"}}


def test_no_longer_repeating_an_item_takes_it(state: State) -> None:
    state.update("one", {"set": [1, 1, 3]})
    state.update("two", {"set": [1, 3]})

    assert state.owners() == {"one": {".set", ".set[=3]"}, "two": {".set[=1]"}}


def test_applying_an_item_replaces_its_repetitions(state: State) -> None:
    state.update("updater", {"set": [1, 1, 3, 4]})

    assert state.conflicts("applier", {"set": [1]}) == {("updater", ".set[=1]")}
    state.force("applier", {"set": [1]})
    assert state.live.value == {"set": [1, 3, 4]}
    assert state.owners() == {
        "updater": {".set", ".set[=3]", ".set[=4]"},
        "applier": {".set[=1]"},
    }


def test_applying_another_item_leaves_repetitions(state: State) -> None:
    state.update("updater", {"set": [1, 1, 3]})
    state.apply("applier", {"set": [5]})

    assert state.live.value == {"set": [1, 1, 3, 5]}


def test_changing_one_of_repeated_items_takes_them(state: State) -> None:
    state.update("one", {"list": named("a", a=1) + named("a", "b", a=2)})
    state.update("two", {"list": named("a", a=1) + named("a", "b", a=3)})

    assert state.owners() == {
        "one": {".list", '.list[name="b"]', '.list[name="b"].name'},
        "two": {'.list[name="a"]'},
    }


def test_repeated_items_survive_an_applier_that_owned_one(state: State) -> None:
    repeated = {"list": named("a", a=1) + named("a", "b", a=2, b=3)}
    state.apply("applier", {"list": named("a", "b", a=1, b=3)})
    state.update("updater", repeated)
    state.apply("applier", {"list": named("b", b=3)})

    assert state.live.value == repeated
    assert state.owners()["updater"] == {'.list[name="a"]'}


# Values without a type


def test_untyped_maps_are_granular_and_lists_atomic(state: State) -> None:
    state.apply("one", {"any": {"a": 1, "l": [1]}})
    state.apply("two", {"any": {"b": 2}})

    assert state.live.value == {"any": {"a": 1, "l": [1], "b": 2}}
    assert state.owners() == {"one": {".any.a", ".any.l"}, "two": {".any.b"}}
    assert state.conflicts("two", {"any": {"l": [1, 2]}}) == {("one", ".any.l")}


def test_an_untyped_value_can_change_its_kind(state: State) -> None:
    state.apply("one", {"any": {"a": {"b": 1}}})
    state.apply("one", {"any": {"a": [1]}})

    assert state.live.value == {"any": {"a": [1]}}
    assert state.owners() == {"one": {".any.a"}}


def test_undeclared_fields_of_an_open_struct_are_tracked(state: State) -> None:
    state.apply("one", {"open": {"known": 1, "extra": {"a": 1}}})
    state.apply("one", {"open": {"known": 1}})

    assert state.live.value == {"open": {"known": 1}}


def test_objects_without_any_schema(state: State) -> None:
    state = State({"v1": UNTYPED})
    state.apply("one", {"a": {"b": 1, "c": 2}, "l": [{"x": 1}]})
    state.update("two", {"a": {"b": 1, "c": 3}, "l": [{"x": 1}]})

    assert state.owners() == {"one": {".a", ".a.b", ".l"}, "two": {".a.c"}}


# Fields an endpoint does not change


def test_ignored_fields_are_not_owned(state: State) -> None:
    state.ignored = {"v1": fields(path("struct"))}
    state.apply("one", {"struct": {"name": "a"}, "numeric": 1})
    state.update("two", {"struct": {"name": "b"}, "numeric": 2})

    assert state.owners() == {"two": {".numeric"}}


def test_ignored_fields_are_never_in_conflict(state: State) -> None:
    state.apply("one", {"struct": {"name": "a"}})
    state.ignored = {"v1": fields(path("struct"))}
    state.apply("two", {"struct": {"name": "b"}})

    assert state.owners() == {"one": {".struct.name"}}


# Versions


def versioned(version: str) -> Shape:
    complex_field = struct({"name": SCALAR})
    below: dict[str, Shape] = {"name": SCALAR, f"scalar_{version}": SCALAR}
    below[f"complex_{version}"] = complex_field
    return struct({"struct": struct(below)})


VERSIONS = ("v1", "v2", "v3")
TRIPLES = [(a, b, c) for a in VERSIONS for b in VERSIONS for c in VERSIONS]


@pytest.fixture
def renamed() -> State:
    return State({version: versioned(version) for version in VERSIONS})


@pytest.mark.parametrize(("v1", "v2", "v3"), TRIPLES)
def test_ownership_is_followed_through_versions(renamed: State, v1: str, v2: str, v3: str) -> None:
    renamed.apply("one", {"struct": {"name": "a", f"scalar_{v1}": "a"}}, v1)
    renamed.apply("two", {"struct": {f"scalar_{v2}": "a", f"complex_{v2}": {"name": "b"}}}, v2)
    renamed.apply("one", {"struct": {"name": "a"}}, v3)

    assert renamed.live.value == {
        "struct": {"name": "a", f"scalar_{v3}": "a", f"complex_{v3}": {"name": "b"}}
    }
    assert renamed.owners() == {
        "one": {".struct.name"},
        "two": {f".struct.scalar_{v2}", f".struct.complex_{v2}.name"},
    }


@pytest.mark.parametrize(("v1", "v2", "v3"), TRIPLES)
def test_fields_are_removed_through_versions(renamed: State, v1: str, v2: str, v3: str) -> None:
    first = {"name": "a", f"scalar_{v1}": "a", f"complex_{v1}": {"name": "b"}}
    renamed.apply("one", {"struct": first}, v1)
    renamed.apply("one", {"struct": {"name": "a"}}, v2)

    assert renamed.rules.in_version(renamed.live, v3).value == {"struct": {"name": "a"}}


def test_an_update_in_one_version_takes_fields_owned_in_another(renamed: State) -> None:
    renamed.apply("one", {"struct": {"name": "a", "scalar_v1": "a"}}, "v1")
    renamed.update("two", {"struct": {"name": "a", "scalar_v2": "b"}}, "v2")

    assert renamed.owners() == {"one": {".struct.name"}, "two": {".struct.scalar_v2"}}


def test_a_conflict_names_the_field_in_the_version_of_its_owner(renamed: State) -> None:
    renamed.apply("one", {"struct": {"scalar_v1": "a"}}, "v1")

    found = renamed.conflicts("two", {"struct": {"scalar_v2": "b"}}, "v2")

    assert found == {("one", ".struct.scalar_v1")}


def test_managers_of_versions_that_are_gone_are_forgotten(renamed: State) -> None:
    renamed.apply("one", {"struct": {"name": "a", "scalar_v1": "a"}}, "v1")
    renamed.live = Versioned(rename(renamed.live.value, "v2"), "v2")
    renamed.shapes = {"v2": versioned("v2"), "v3": versioned("v3")}
    renamed.apply("two", {"struct": {"name": "b"}}, "v2")

    assert renamed.owners() == {"two": {".struct.name"}}
    assert renamed.live.value == {"struct": {"name": "b", "scalar_v2": "a"}}


def test_an_applier_of_a_version_that_is_gone_removes_nothing(renamed: State) -> None:
    renamed.apply("one", {"struct": {"name": "a", "scalar_v1": "a"}}, "v1")
    renamed.live = Versioned(rename(renamed.live.value, "v2"), "v2")
    renamed.shapes = {"v2": versioned("v2")}
    renamed.apply("one", {"struct": {"name": "a"}}, "v2")

    assert renamed.live.value == {"struct": {"name": "a", "scalar_v2": "a"}}


def test_what_convert_calls_missing_is_forgotten(renamed: State) -> None:
    renamed.apply("one", {"struct": {"name": "a"}}, "v1")
    renamed.live = Versioned(renamed.live.value, "v2")

    def convert(value: Any, version: str) -> Any:
        raise MissingVersion(version)

    renamed.convert = convert
    renamed.update("two", {"struct": {"name": "b"}}, "v2")

    assert renamed.owners() == {"two": {".struct.name"}}


# Types that change


GRANULAR = struct({"struct": struct({"numeric": SCALAR, "string": SCALAR})})
ATOMIC = struct({"struct": struct({"numeric": SCALAR, "string": SCALAR}, atomic=True)})


def test_owners_of_parts_own_what_has_become_atomic() -> None:
    state = State({"v1": GRANULAR})
    state.apply("one", {"struct": {"numeric": 1}})
    state.shapes = {"v1": ATOMIC}

    assert state.conflicts("two", {"struct": {"string": "s"}}) == {("one", ".struct")}
    state.force("two", {"struct": {"string": "s"}})
    assert state.live.value == {"struct": {"string": "s"}}
    assert state.owners() == {"two": {".struct"}}


def test_a_set_that_has_fitted_a_shape_is_fitted_to_the_next() -> None:
    shapes: dict[str, Shape] = {"v1": GRANULAR}
    rules = FieldOwnership(shapes, rename)
    one, two = ManagerIdentifier("one", "Update", "v1"), ManagerIdentifier("two", "Update", "v1")
    live = Versioned({"struct": {"numeric": 1}}, "v1")
    managers = rules.update(Versioned({}, "v1"), live, {}, one)
    assert rules.update(live, live, managers, two) == managers

    shapes["v1"] = ATOMIC
    found = rules.update(live, live, managers, two)

    assert shown(found[one].fields) == {".struct"}


def test_owners_of_what_has_become_granular_own_its_parts_when_they_apply_again() -> None:
    state = State({"v1": ATOMIC})
    state.apply("one", {"struct": {"numeric": 1, "string": "a"}})
    state.shapes = {"v1": GRANULAR}
    state.force("two", {"struct": {"string": "b"}})

    assert state.live.value == {"struct": {"numeric": 1, "string": "b"}}
    assert state.owners()["two"] == {".struct.string"}
