"""Properties of comparison, merge and apply that hold for all values of a shape."""

from copy import deepcopy
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apimachinery.apply import (
    ApplyConflict,
    ApplyError,
    Comparison,
    FieldManager,
    compare,
    compare_to_empty,
    extract_items,
    field_set_of,
    merge,
    no_other_version,
    remove_items,
    validate,
)
from apimachinery.apply.fieldset import FieldSet
from apimachinery.model.type_shape import MapShape
from tests.apimachinery.apply.apply_shapes import (
    ATOMIC_LIST,
    ATOMIC_MAP,
    MAP,
    SCALAR,
    SET,
    UNTYPED,
    keyed,
    struct,
)

T1, T2, T3 = (f"2024-01-0{day}T00:00:00Z" for day in (1, 2, 3))
SHAPE = struct(
    {
        "apiVersion": SCALAR,
        "kind": SCALAR,
        "metadata": struct({"name": SCALAR, "labels": MAP, "managedFields": ATOMIC_LIST}),
        "scalar": SCALAR,
        "set": SET,
        "list": keyed(
            "k", "d", fields={"k": SCALAR, "d": SCALAR, "v": SCALAR, "m": MAP}, defaults={"d": "x"}
        ),
        "atomicList": ATOMIC_LIST,
        "atomicMap": ATOMIC_MAP,
        "mapOfMaps": MapShape(MAP),
        "struct": struct({"a": SCALAR, "b": struct({"c": SCALAR})}),
        "any": UNTYPED,
    }
)

quick = settings(deadline=None, max_examples=60)
scalar = st.sampled_from([None, True, False, 0, 1, 1.0, 1.5, "", "a", "b"])
item = st.sampled_from(["a", "b", "c", 1, True])
small_map = st.dictionaries(st.sampled_from("abc"), scalar, max_size=3)
anything = st.recursive(
    scalar,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=5,
)
list_item = st.fixed_dictionaries(
    {"k": st.sampled_from("ab")},
    optional={"d": st.sampled_from("xy"), "v": scalar, "m": st.none() | small_map},
)
objects = st.fixed_dictionaries(
    {"apiVersion": st.just("v1"), "kind": st.just("T")},
    optional={
        "metadata": st.fixed_dictionaries({"name": st.just("x")}, optional={"labels": small_map}),
        "scalar": scalar,
        "set": st.none() | st.lists(item, unique_by=lambda found: (type(found) is bool, found)),
        "list": st.none()
        | st.lists(list_item, unique_by=lambda i: (i["k"], i.get("d", "x")), max_size=3),
        "atomicList": st.none() | st.lists(scalar, max_size=2),
        "atomicMap": st.none() | small_map,
        "mapOfMaps": st.none() | st.dictionaries(st.sampled_from("ab"), small_map, max_size=2),
        "struct": st.none()
        | st.fixed_dictionaries(
            {},
            optional={
                "a": scalar,
                "b": st.none() | st.fixed_dictionaries({}, optional={"c": scalar}),
            },
        ),
        "any": anything,
    },
)


def manager() -> FieldManager:
    return FieldManager({"v1": SHAPE}, no_other_version, "v1")


def everything_in(value: Any) -> FieldSet:
    """Return all fields of a value, and all containers they are in."""
    return compare({}, value or {}, SHAPE).added


@quick
@given(objects)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert compare(value, deepcopy(value), SHAPE) == Comparison()


@quick
@given(objects, objects)
def test_a_comparison_is_the_mirror_of_the_other_way(old: Any, new: Any) -> None:
    there, back = compare(old, new, SHAPE), compare(new, old, SHAPE)

    assert there.added == back.removed
    assert there.modified == back.modified
    assert not there.added & there.removed


@quick
@given(objects)
def test_fields_that_are_added_are_those_of_the_value(value: Any) -> None:
    assert not field_set_of(value, SHAPE) - everything_in(value)


@quick
@given(objects, objects)
def test_a_merge_has_all_that_was_applied(live: Any, applied: Any) -> None:
    before = deepcopy((live, applied))

    merged = merge(live, applied, SHAPE)

    assert (live, applied) == before
    validate(merged, SHAPE)
    assert not field_set_of(applied, SHAPE) - everything_in(merged)


@quick
@given(objects, objects)
def test_merging_the_same_again_changes_nothing(live: Any, applied: Any) -> None:
    merged = merge(live, applied, SHAPE)

    assert merge(merged, applied, SHAPE) == merged
    assert merge(merged, merged, SHAPE) == merged


@quick
@given(objects)
def test_merging_into_nothing_gives_the_applied(applied: Any) -> None:
    assert merge({}, applied, SHAPE) == applied


@quick
@given(objects, objects)
def test_what_is_removed_is_gone_and_the_rest_is_not(value: Any, other: Any) -> None:
    unwanted = field_set_of(other, SHAPE) & field_set_of(value, SHAPE)

    left = everything_in(remove_items(value, unwanted, SHAPE))

    assert not left & unwanted
    assert not field_set_of(value, SHAPE).recursive_difference(unwanted) - left


@quick
@given(objects, objects)
def test_what_is_extracted_is_valid_and_a_part(value: Any, other: Any) -> None:
    wanted = field_set_of(other, SHAPE) & field_set_of(value, SHAPE)

    part = extract_items(value, wanted, SHAPE)

    validate(part, SHAPE)
    assert merge(value, part, SHAPE) == value


@quick
@given(objects)
def test_all_fields_extracted_are_the_value(value: Any) -> None:
    wanted = field_set_of(value, SHAPE)

    assert field_set_of(extract_items(value, wanted, SHAPE), SHAPE) == wanted


@quick
@given(objects)
def test_what_appears_is_added_to_nothing(value: Any) -> None:
    assert compare_to_empty(value, SHAPE) == compare({}, value, SHAPE)


@quick
@given(st.none() | objects, objects)
def test_applying_again_changes_nothing(first: Any, applied: Any) -> None:
    fields = manager()
    live = None if first is None else fields.update(None, first, manager="u", time=T1)
    once = fields.apply(live, applied, manager="m", time=T2, force=True)
    # An empty list has no fields to own: an object with nothing else looks untracked.
    assume(once.get("metadata", {}).get("managedFields"))

    assert fields.apply(once, applied, manager="m", time=T3) == once


@quick
@given(objects, st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), objects), max_size=5))
def test_owners_own_only_what_is_there(first: Any, operations: list[tuple[str, bool, Any]]) -> None:
    """The property holds after any history of writes."""
    fields = manager()
    live = fields.update(None, first, manager="first", time=T1)
    for name, is_apply, value in operations:
        if is_apply:
            live = fields.apply(live, value, manager=name, time=T2, force=True)
        else:
            live = fields.update(live, value, manager=name, time=T2)

    for entry in live.get("metadata", {}).get("managedFields", []):
        owned = FieldSet.from_fields_v1(entry["fieldsV1"])
        assert owned
        assert not owned - everything_in(live)


@quick
@given(objects, objects, objects)
def test_a_refused_apply_is_one_that_would_change_what_others_own(
    first: Any, second: Any, third: Any
) -> None:
    fields = manager()
    live = fields.apply(None, first, manager="a", time=T1)
    live = fields.update(live, second, manager="b", time=T1)
    try:
        fields.apply(live, third, manager="c", time=T2)
    except ApplyConflict as error:
        forced = fields.apply(live, third, manager="c", time=T2, force=True)
        changes = compare(live, forced, SHAPE)
        assert not error.fields() - (changes.added | changes.modified)


@quick
@given(
    st.recursive(
        scalar | st.floats() | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["apiVersion", "metadata", "list", "set", "k", "d", "any", "struct", "labels"]
                )
                | st.text(max_size=2),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_bad_values_raise_nothing_but_apply_errors(value: Any) -> None:
    applied = {"kind": "T"} | (value if isinstance(value, dict) else {"list": value})
    applied["apiVersion"] = "v1"
    for work in (
        lambda: field_set_of(value, SHAPE),
        lambda: compare({}, applied, SHAPE),
        lambda: manager().apply(None, applied, manager="m", time=T1),
        lambda: manager().update(None, applied, manager="m", time=T1),
        lambda: manager().update(applied, {"apiVersion": "v1"}, manager="m", time=T1),
    ):
        try:
            work()
        except ApplyError as error:
            assert str(error)
