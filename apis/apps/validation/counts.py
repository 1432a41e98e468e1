"""Validation of counts that may be percentages: surges, unavailable pods, disruption budgets."""

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.meta.metadata_validation import validate_nonnegative
from apimachinery.names import is_percent
from apimachinery.scalars.intstr import parse_integer
from apimachinery.scalars.wire_types import INT64_MAX


def validate_count_or_percentage(value: int | str, path: Path) -> FieldErrors:
    """Validate a number that is not negative, or a percentage such as `25%`."""
    if isinstance(value, int):
        yield from validate_nonnegative(value, path)
        return
    for error in is_percent(value):
        yield invalid(path, value, error)


def validate_at_most_all(value: int | str, path: Path) -> FieldErrors:
    """Refuse a percentage above 100."""
    percentage = _percentage(value)
    if percentage is not None and percentage > 100:
        yield invalid(path, value, "must not be greater than 100%")


def is_zero(value: int | str) -> bool:
    """Return whether a count, or a percentage, is zero; so is a string that is neither."""
    if isinstance(value, int):
        return value == 0
    percentage = _percentage(value)
    # As in Kubernetes, a string without a percent sign counts as the number in it.
    return not (parse_integer(value) if percentage is None else percentage)


def _percentage(value: int | str) -> int | None:
    if isinstance(value, int) or is_percent(value):
        return None
    number = parse_integer(value[:-1])
    return INT64_MAX if number is None else number
