"""Validation of device selectors and opaque configuration."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from apimachinery.extras import MissingExtra, name_missing_extra
from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, required, too_long
from apimachinery.names import byte_length
from apis.resource.v1 import DeviceSelector, OpaqueDeviceConfiguration
from apis.resource.validation.names import json_size, validate_driver_reference, validate_items

if TYPE_CHECKING:
    from apimachinery.cel.typed_expression import TypedEnvironment

MAX_SELECTORS: Final = 32
MAX_CONFIG: Final = 32
MAX_EXPRESSION: Final = 10 * 1024
MAX_COST: Final = 1_000_000
MAX_PARAMETERS: Final = 10 * 1024
EXPRESSION_EFFORT: Final = 500
"""Values whose processing takes about as long as compiling an expression."""

_DEVICE: Final = {
    "driver": "string",
    "allowMultipleAllocations": "bool",
    "attributes": "map(string, map(string, dyn))",
    "capacity": "map(string, map(string, dyn))",
}
# A string counts with four bytes for each character, so that 16 characters are 64 bytes.
_VALUES: Final = {
    "type": "object",
    "maxProperties": 32,
    "additionalProperties": {
        "type": "object",
        "maxProperties": 32,
        "additionalProperties": {"type": "string", "maxLength": 16},
    },
}
_DEVICE_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "driver": {"type": "string", "maxLength": 16},
        "allowMultipleAllocations": {"type": "boolean"},
        "attributes": _VALUES,
        "capacity": _VALUES,
    },
}


def validate_selectors(
    selectors: Sequence[DeviceSelector], path: Path, *, stored: bool = False
) -> FieldErrors:
    """Validate selectors; the expressions of *stored* ones were valid when they were written."""

    def validate_selector(selector: DeviceSelector, here: Path) -> FieldErrors:
        if selector.cel is None:
            yield required(here.child("cel"))
        elif not stored:
            yield from _validate_expression(
                selector.cel.expression, here.child("cel", "expression")
            )

    yield from validate_items(selectors, path, MAX_SELECTORS, validate_selector)


def validate_configuration(
    opaque: OpaqueDeviceConfiguration | None, path: Path, *, stored: bool = False
) -> FieldErrors:
    """Validate the configuration of devices; the size of *stored* ones is not limited."""
    here = path.child("opaque")
    if opaque is None:
        yield required(here)
        return
    yield from validate_driver_reference(opaque.driver, here.child("driver"))
    if opaque.parameters is None:
        yield required(here.child("parameters"))
    elif not stored and json_size(opaque.parameters) > MAX_PARAMETERS:
        yield too_long(here.child("parameters"), MAX_PARAMETERS)


def _validate_expression(text: str, path: Path) -> FieldErrors:
    if byte_length(text) > MAX_EXPRESSION:
        yield too_long(path, MAX_EXPRESSION)
        return
    # Imported on first use: the CEL library is large.
    try:
        with name_missing_extra():
            from apimachinery.cel.device_costs import device_cost
            from apimachinery.cel.program import InvalidExpression
            from apimachinery.cel.value_bounds import DeclaredBound
    except MissingExtra as error:
        yield forbidden(path, f"this server cannot evaluate CEL: {error}")
        return
    try:
        expression = _environment().compile(text, ("any",))
    except InvalidExpression as error:
        yield invalid(path, text, str(error))
        return
    if expression.result not in ("bool", "dyn"):
        detail = f"must evaluate to bool or the unknown type, not {expression.result}"
        yield invalid(path, text, detail)
    elif device_cost(expression.tree, DeclaredBound(_DEVICE_SCHEMA)) > MAX_COST:
        yield forbidden(path, "too complex, exceeds cost limit")


@cache
def _environment() -> "TypedEnvironment":
    from apimachinery.cel.typed_expression import TypedEnvironment

    return TypedEnvironment(
        {"device": "kubernetes.DRADevice"}, {"kubernetes.DRADevice": _DEVICE}, has_bindings=True
    )
