"""Structural schemas: what a small document or a large schema may cost."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from apimachinery.meta.unstructured import load_content
from apimachinery.model.decoding import DecodeError
from apimachinery.structural import Schema
from apimachinery.structural.defaulting import DefaultsTooLarge
from apimachinery.structural.schema_validation import ABSENT, MAX_ALTERNATIVES, MAX_PROBLEMS
from tests.pauses import measures_time

pytestmark = measures_time

TEXT = {"type": "string"}


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def items(**properties: Any) -> Schema:
    return Schema(schema(x={"type": "array", "items": schema(**properties)}))


def seconds(call: Callable[[], object]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


def test_defaults_do_not_multiply_a_small_document_without_limit() -> None:
    large = items(a={"type": "string", "default": "x" * 300_000})
    many = items(a={"type": "array", "items": TEXT, "default": ["x"] * 1_000})
    value: dict[str, Any] = {"x": [{} for _ in range(1_000)]}

    with pytest.raises(DefaultsTooLarge, match="limit is 3145728"):
        large.default(value)
    with pytest.raises(DefaultsTooLarge, match="limit is 100000 values"):
        many.default({"x": [{} for _ in range(1_000)]})

    assert sum("a" in item for item in value["x"]) == 10


def test_defaults_of_many_items_are_filled_in_up_to_the_limit() -> None:
    value: dict[str, Any] = {"x": [{} for _ in range(10_000)]}

    items(a={"type": "string", "default": "d"}).default(value)

    assert value["x"] == [{"a": "d"}] * 10_000


def test_an_object_that_defaults_enlarge_counts_as_large() -> None:
    value: dict[str, Any] = {"x": [{}] * 3_000}

    assert items(a={"type": "string", "default": "d"}).effort(value) > 3_000
    assert items(a=TEXT).effort(value) == 0


def test_a_large_schema_does_not_cost_its_size_for_each_item() -> None:
    wide = items(**{f"p{number}": schema(a=TEXT) for number in range(20_000)})
    value: dict[str, Any] = {"x": [{"p1": {"a": "b"}} for _ in range(2_000)]}

    def process() -> None:
        wide.prune(value)
        wide.default(value)
        assert list(wide.validate(value)) == []

    assert seconds(process) < 1


def test_validation_stops_after_many_problems() -> None:
    value = {"x": [{"a": 1} for _ in range(50_000)]}

    errors = list(items(a=TEXT).validate(value))

    assert len(errors) <= MAX_PROBLEMS + 1


def test_items_times_alternatives_are_limited() -> None:
    alternatives = [{"properties": {"a": {"maxLength": length}}} for length in range(2_000)]
    place = {"type": "array", "items": {**schema(a=TEXT), "anyOf": alternatives}}
    narrow, wide = ({"x": [{"a": "bb"}] * count} for count in (9, MAX_ALTERNATIVES // 2_000 + 1))

    assert list(Schema(schema(x=place)).validate(narrow)) == []
    (error,) = Schema(schema(x=place)).validate(wide)

    assert error.detail == (
        "x in body should have at most 500 items that are validated by alternatives"
    )


@pytest.mark.parametrize("number", ["1e309", "-1E+400", "9" * 309 + ".5", "1" * 310])
def test_numbers_above_the_range_of_floats_are_refused(number: str) -> None:
    with pytest.raises(DecodeError):
        load_content(b'{"x": [%b]}' % number.encode())


def test_long_numbers_within_the_range_are_read() -> None:
    assert load_content(b'{"a": 1e300, "b": 18446744073709551616, "c": "1e999"}') == {
        "a": 1e300,
        "b": 2**64,
        "c": "1e999",
    }


def test_integers_above_64_bits_are_compared_with_an_enum() -> None:
    of_enum = Schema(schema(x={"enum": [1, 2**64], "x-kubernetes-preserve-unknown-fields": True}))

    assert list(of_enum.validate({"x": 2**64})) == []
    assert [error.type.value for error in of_enum.validate({"x": 2**65})] == [
        "FieldValueNotSupported"
    ]


@pytest.mark.parametrize("kind", ["set", "map"])
def test_duplicates_in_long_lists_are_found_in_linear_time(kind: str) -> None:
    place = {"type": "array", "items": TEXT, "x-kubernetes-list-type": kind}
    if kind == "map":
        place |= {"items": schema(name=TEXT), "x-kubernetes-list-map-keys": ["name"]}
    names = [f"n{number}" for number in range(8_000)]
    value = {"x": names if kind == "set" else [{"name": name} for name in names]}
    unique = Schema(schema(x=place))

    assert seconds(lambda: list(unique.validate(value, ABSENT))) < 1
    assert seconds(lambda: list(unique.validate(value, {"x": value["x"][::-1]}))) < 1


def test_long_texts_are_not_matched_by_large_patterns() -> None:
    pattern = "^(a|b)*a(a|b){19,20}c?$"
    matched = Schema(schema(x={**TEXT, "pattern": pattern}))

    assert list(matched.validate({"x": "ab" * 1_000})) == []
    (error,) = matched.validate({"x": "ab" * 100_000})

    assert error.detail.startswith("x in body should be at most ")
    assert error.detail.endswith(f" chars long to match '{pattern}'")


def test_small_patterns_match_texts_of_any_length() -> None:
    matched = Schema(schema(x={**TEXT, "pattern": "^[A-Za-z0-9+/=]*$"}))

    assert list(matched.validate({"x": "A" * 3_000_000})) == []


def test_a_stored_pattern_that_is_too_large_matches_nothing() -> None:
    (error,) = Schema(schema(x={**TEXT, "pattern": "." * 50_000})).validate({"x": "a"})

    assert "error parsing regexp: expression too large" in error.detail
