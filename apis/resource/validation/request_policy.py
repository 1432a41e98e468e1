"""Validation of policies for consumable capacity."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, required
from apimachinery.scalars.quantity import Quantity
from apis.resource.v1 import CapacityRequestPolicy, CapacityRequestPolicyRange
from apis.resource.validation.names import validate_items, validate_unique

MAX_VALUES: Final = 10


def validate_request_policy(
    policy: CapacityRequestPolicy, capacity: Quantity, path: Path
) -> FieldErrors:
    """Validate the policy of a capacity, whose amounts cannot exceed it."""
    if policy.valid_values and policy.valid_range is not None:
        rule = (
            'exactly one policy can be specified, cannot specify "validValues" and "validRange"'
            " at the same time"
        )
        yield forbidden(path, rule)
        return
    defined = "validValues" if policy.valid_values else "validRange"
    if not policy.valid_values and policy.valid_range is None:
        return
    if policy.default is None:
        yield required(path.child("default"), f"required when {defined} is defined")
    elif policy.valid_range is None:
        yield from _validate_values(
            policy.valid_values, policy.default, capacity, path.child("validValues")
        )
    else:
        yield from _validate_range(
            policy.valid_range, policy.default, capacity, path.child("validRange")
        )


def _validate_values(
    values: Sequence[Quantity], default: Quantity, capacity: Quantity, path: Path
) -> FieldErrors:
    for position in range(1, len(values)):
        if values[position - 1] > values[position]:
            rule = "values must be sorted in ascending order"
            yield invalid(path.index(position), str(values[position]), rule)

    def validate_value(value: Quantity, here: Path) -> FieldErrors:
        if value > capacity:
            yield invalid(here, str(value), f"option is larger than capacity value: {capacity}")

    yield from validate_items(values, path, MAX_VALUES, validate_value)
    yield from validate_unique(values, path, lambda value: str(value.value()), MAX_VALUES)
    if len(values) > MAX_VALUES or default not in values:
        rule = "default value is not valid according to the requestPolicy"
        yield invalid(path, str(default), rule)


def _validate_range(
    bounds: CapacityRequestPolicyRange, default: Quantity, capacity: Quantity, path: Path
) -> FieldErrors:
    if bounds.min is None:
        yield required(path.child("min"), "required when validRange is defined")
        return
    if bounds.min > capacity:
        rule = f"min is larger than capacity value: {capacity}"
        yield invalid(path.child("min"), str(bounds.min), rule)
    if default < bounds.min:
        rule = f"default is less than min: {bounds.min}"
        yield invalid(path.child("default"), str(default), rule)
    if bounds.max is not None:
        yield from _validate_maximum(bounds.min, bounds.max, default, capacity, path)
    if bounds.step is not None:
        yield from _validate_step(bounds, bounds.min, default, capacity, path)


def _validate_maximum(
    minimum: Quantity, maximum: Quantity, default: Quantity, capacity: Quantity, path: Path
) -> FieldErrors:
    if minimum > maximum:
        yield invalid(path.child("max"), str(minimum), f"min is larger than max: {maximum}")
    if maximum > capacity:
        rule = f"max is larger than capacity value: {capacity}"
        yield invalid(path.child("max"), str(maximum), rule)
    if default > maximum:
        rule = f"default is more than max: {maximum}"
        yield invalid(path.child("default"), str(default), rule)


def _validate_step(
    bounds: CapacityRequestPolicyRange,
    minimum: Quantity,
    default: Quantity,
    capacity: Quantity,
    path: Path,
) -> FieldErrors:
    here, step = path.child("step"), bounds.step
    assert step is not None
    if step.sign <= 0:
        yield invalid(here, str(step), "must be greater than zero")
        return
    first = minimum + step
    if first > capacity:
        yield invalid(
            here, str(step), f"one step {first} is larger than capacity value: {capacity}"
        )
    for amount in (default, bounds.max):
        if amount is not None and (amount.value() - minimum.value()) % step.value():
            rule = f"value is not a multiple of a given step ({step}) from ({minimum})"
            yield invalid(here, str(amount), rule)
