"""Index lists of indexed jobs: numbers and ranges in ascending order, such as `1,3-5,7`."""

from collections.abc import Iterator

from apimachinery.fieldpath import quote
from apimachinery.scalars.intstr import parse_integer


class InvalidIndexes(ValueError):
    """A list of indexes that is malformed, unordered or beyond the completions of its job."""


def count_indexes(text: str, completions: int) -> int:
    """Return the number of indexes in a list; raises InvalidIndexes."""
    total, last = 0, None
    for interval in text.split(",") if text else ():
        first, end = _parse_interval(interval, completions)
        if last is not None and last >= first:
            raise InvalidIndexes(f"non-increasing order, previous: {last}, current: {first}")
        total, last = total + end - first + 1, end
    return total


def common_index(completed: str, failed: str, completions: int) -> int | None:
    """Return an index that is in both lists, or None; intervals that are malformed are ignored."""
    left, right = _intervals(completed, completions), _intervals(failed, completions)
    first, second = next(left, None), next(right, None)
    while first is not None and second is not None:
        if first[0] <= second[1] and second[0] <= first[1]:
            return max(first[0], second[0])
        if first[0] <= second[0]:
            first = next(left, None)
        else:
            second = next(right, None)
    return None


def _intervals(text: str, completions: int) -> Iterator[tuple[int, int]]:
    for interval in text.split(",") if text else ():
        try:
            yield _parse_interval(interval, completions)
        except InvalidIndexes:
            continue


def _parse_interval(text: str, completions: int) -> tuple[int, int]:
    limits = text.split("-")
    if len(limits) > 2:
        raise InvalidIndexes(
            f"the fragment {quote(text[:100])} violates the requirement that an index interval can"
            " have at most two parts separated by '-'"
        )
    first = _parse_index(limits[0], completions)
    if len(limits) == 1:
        return first, first
    last = _parse_index(limits[1], completions)
    if first >= last:
        raise InvalidIndexes(f"non-increasing order, previous: {first}, current: {last}")
    return first, last


def _parse_index(text: str, completions: int) -> int:
    number = parse_integer(text)
    if number is None:
        raise InvalidIndexes(f"cannot convert string to integer for index: {quote(text[:100])}")
    if number >= completions:
        raise InvalidIndexes(f"too large index: {quote(text)}")
    return number
