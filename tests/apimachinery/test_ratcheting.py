"""Errors of an update without those that the object had before."""

import pytest

from apimachinery.fieldpath import FieldError, Path, duplicate, invalid, required
from apimachinery.ratcheting import new_errors

ITEMS = Path("spec", "items")


def bound(index: int, value: int) -> FieldError:
    path = ITEMS.index(index).child("size")
    return invalid(path, value, f"{path} in body should be less than or equal to 5")


def test_the_same_error_is_dropped() -> None:
    errors = [required(Path("a")), invalid(Path("b"), 1, "no"), bound(0, 9)]

    assert new_errors(errors, errors) == []


@pytest.mark.parametrize(
    "old",
    [
        duplicate(Path("a"), 1),
        invalid(Path("b"), 1, "no"),
        invalid(Path("a"), 2, "no"),
        invalid(Path("a"), "1", "no"),
        invalid(Path("a"), True, "no"),
        invalid(Path("a"), 1, "never"),
        invalid(Path("a").key("b"), 1, "no"),
    ],
)
def test_an_error_that_differs_is_kept(old: FieldError) -> None:
    error = invalid(Path("a"), 1, "no")

    assert new_errors([error], [old]) == [error]


def test_elements_may_move() -> None:
    assert new_errors([bound(1, 8), bound(0, 9)], [bound(0, 8), bound(2, 9)]) == []


def test_each_old_error_cancels_one_error() -> None:
    assert new_errors([bound(0, 9), bound(1, 9)], [bound(1, 9)]) == [bound(0, 9)]
    assert new_errors([bound(0, 9), bound(1, 9)], [bound(7, 9)]) == [bound(1, 9)]


def test_keys_of_maps_are_no_indices() -> None:
    one, two = (invalid(Path("m").key(key), 1, "no") for key in "xy")

    assert new_errors([one], [two]) == [one]


def test_maps_are_equal_in_any_order() -> None:
    old, new = ({"a": 1, "b": 2}, {"b": 2, "a": 1})

    assert new_errors([invalid(Path("m"), new, "no")], [invalid(Path("m"), old, "no")]) == []
