"""The types of scalars in server-side apply, and how Go describes values of other types."""

import json

from apimachinery.apply.value_shapes import JSON, go_text
from apimachinery.model.type_shape import ScalarType


def is_of(scalar_type: ScalarType, value: JSON) -> bool:
    """Return whether a scalar is of that type; null is of every type."""
    if value is None or scalar_type == "any scalar":
        return True
    if scalar_type == "string":
        return isinstance(value, str)
    return isinstance(value, bool) == (scalar_type == "boolean") and not isinstance(value, str)


def go_description(value: JSON, expected: ScalarType) -> str:
    """Describe a value as the error of each type does in Go."""
    if expected == "string":
        return f"&value.valueUnstructured{{Value:{_literal(value)}}}"
    if expected == "numeric (int or float)":
        return _type_name(value)
    return f"&{{{go_text(value)}}}"


def _literal(value: JSON) -> str:
    match value:
        case dict():
            members = (f"{json.dumps(name)}:{_literal(value[name])}" for name in sorted(value))
            return f"map[string]interface {{}}{{{', '.join(members)}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(_literal, value))}}}"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case None:
            return "interface {}(nil)"
    return go_text(value)


def _type_name(value: JSON) -> str:
    match value:
        case str():
            return "string"
        case bool():
            return "bool"
        case dict():
            return "map[string]interface {}"
    return "[]interface {}"
