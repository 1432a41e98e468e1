"""Validation of LimitRanges: names of resources, and bounds and defaults that fit together."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, duplicate, forbidden, invalid, required
from apimachinery.names import is_qualified_name
from apimachinery.scalars.quantity import Quantity
from apis.core.v1.limit_range import (
    CLAIM_LIMIT,
    CONTAINER_LIMIT,
    POD_LIMIT,
    LimitRange,
    LimitRangeItem,
)
from apis.core.validation.resource_names import (
    STORAGE,
    is_overcommit_allowed,
    validate_container_resource_name,
    validate_resource_name,
)

_TYPES: Final = (POD_LIMIT, CONTAINER_LIMIT, CLAIM_LIMIT)
_ONE: Final = Quantity("1")
_MAX_MILLI: Final = ((1 << 63) - 1) // 1000


def validate_limit_range(limits: LimitRange) -> FieldErrors:
    path = Path("spec", "limits")
    seen: set[str] = set()
    for position, item in enumerate(limits.spec.limits):
        here = path.index(position)
        yield from _validate_type(item.type, here.child("type"))
        if item.type in seen:
            yield duplicate(here.child("type"), item.type)
        seen.add(item.type)
        yield from _validate_item(item, here)


def _validate_type(name: str, path: Path) -> FieldErrors:
    errors = is_qualified_name(name)
    for error in errors:
        yield invalid(path, name, error)
    if not errors and "/" not in name and name not in _TYPES:
        yield invalid(path, name, "must be a standard limit type or fully qualified")


def _validate_item(item: LimitRangeItem, path: Path) -> FieldErrors:
    yield from _validate_names(item, item.max, path.child("max"))
    yield from _validate_names(item, item.min, path.child("min"))
    if item.type == POD_LIMIT:
        for name, given in (("default", item.default), ("defaultRequest", item.default_request)):
            if given:
                yield forbidden(path.child(name), "may not be specified when `type` is 'Pod'")
    else:
        yield from _validate_names(item, item.default, path.child("default"))
        yield from _validate_names(item, item.default_request, path.child("defaultRequest"))
    if item.type == CLAIM_LIMIT and STORAGE not in item.min and STORAGE not in item.max:
        rule = "either minimum or maximum storage value is required, but neither was provided"
        yield required(path.child("limits"), rule)
    yield from _validate_names(
        item, item.max_limit_request_ratio, path.child("maxLimitRequestRatio")
    )
    yield from _validate_amounts(item, path)


def _validate_names(item: LimitRangeItem, given: dict[str, Quantity], path: Path) -> FieldErrors:
    validate = (
        validate_container_resource_name
        if item.type in (POD_LIMIT, CONTAINER_LIMIT)
        else validate_resource_name
    )
    for name in sorted(given):
        yield from validate(name, path.key(name))


def _validate_amounts(item: LimitRangeItem, path: Path) -> FieldErrors:
    without_defaults = item.type == POD_LIMIT
    default = {} if without_defaults else item.default
    request = {} if without_defaults else item.default_request
    ratios = item.max_limit_request_ratio
    for name in sorted({*item.max, *item.min, *default, *request, *ratios}):
        least, most = item.min.get(name), item.max.get(name)
        yield from _validate_order(
            name, path, least=least, most=most, limit=default.get(name), request=request.get(name)
        )
        if name in ratios:
            here = path.child("maxLimitRequestRatio").key(name)
            yield from _validate_ratio(ratios[name], here, least=least, most=most)
        if not is_overcommit_allowed(name) and name in default and name in request:
            yield from _validate_equality(name, default[name], request[name], path)


def _validate_order(
    name: str,
    path: Path,
    *,
    least: Quantity | None,
    most: Quantity | None,
    limit: Quantity | None,
    request: Quantity | None,
) -> FieldErrors:
    """Validate that min, default request, default and max do not exceed the next, if given."""
    requests, limits = path.child("defaultRequest").key(name), path.child("default").key(name)
    # As in Kubernetes, errors of `default` show the bound.
    for small, large, words, place, shown in (
        (least, most, ("min", "max"), path.child("min").key(name), least),
        (least, request, ("min", "default request"), requests, request),
        (request, most, ("default request", "max"), requests, request),
        (request, limit, ("default request", "default limit"), requests, request),
        (least, limit, ("min", "default"), limits, least),
        (limit, most, ("default", "max"), limits, most),
    ):
        if small is not None and large is not None and small > large:
            rule = f"{words[0]} value {small} is greater than {words[1]} value {large}"
            yield invalid(place, str(shown), rule)


def _validate_ratio(
    ratio: Quantity, path: Path, *, least: Quantity | None, most: Quantity | None
) -> FieldErrors:
    if ratio < _ONE:
        yield invalid(path, str(ratio), f"ratio {ratio} is less than 1")
    if least is None or most is None:
        return
    value, low, high = float(ratio.value()), least.value(), most.value()
    if max(ratio.value(), low, high) < _MAX_MILLI:
        value, low, high = ratio.milli_value() / 1000, least.milli_value(), most.milli_value()
    # As a division of floating point numbers: by zero it is infinite, or for 0/0 no number.
    limit = high / low if low else float("inf")
    if value > limit:
        rule = f"ratio {ratio} is greater than max/min = {limit:f}"
        yield invalid(path, str(ratio), rule)


def _validate_equality(name: str, default: Quantity, request: Quantity, path: Path) -> FieldErrors:
    """Validate that a resource that cannot be overcommitted has equal defaults."""
    if default != request:
        rule = f"default value {default} must equal to defaultRequest value {request} in {name}"
        yield invalid(path.child("defaultRequest").key(name), str(request), rule)
