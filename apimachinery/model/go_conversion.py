"""The error of Kubernetes' conversion of a document to a struct, after patches and applies.

A strategic merge patch and a server-side apply result in a document that is converted without JSON.
The conversion ends at its first error, in the order of the fields of the struct, and does not name
the field.
"""

import json
from typing import Any

from pydantic import BaseModel

from apimachinery.model.class_fields import TypeInfo, fields_of
from apimachinery.model.go_decoding import type_error
from apimachinery.model.go_names import field_type, item_type, scalar_kind, type_name
from apimachinery.scalars.go_errors import base64_error
from apimachinery.scalars.wire_types import FIELDS_V1, RAW


class _Ended(Exception):
    """The error of the conversion."""


def conversion_error(cls: type[BaseModel], document: Any) -> str:
    """Return the error of converting *document* to *cls*; empty if there is none."""
    info = TypeInfo("model", cls)
    try:
        _convert(document, info, type_name(info))
    except _Ended as ended:
        return str(ended)
    return ""


def _convert(value: Any, info: TypeInfo, go_type: str) -> None:
    if value is None or info.marked(RAW) or info.marked(FIELDS_V1):
        return
    if info.category == "model":
        _convert_struct(value, info.python)
    elif info.item is not None:
        _convert_items(value, info, info.item, item_type(go_type, info))
    elif info.category == "scalar":
        _convert_scalar(value, info, go_type)


def _convert_struct(value: Any, cls: type[BaseModel]) -> None:
    if not isinstance(value, dict):
        raise _Ended(f"cannot restore struct from: {_kind(value)}")
    for field in fields_of(cls):
        _convert(value.get(field.wire), field.type, field_type(cls, field))


def _convert_items(value: Any, info: TypeInfo, item: TypeInfo, go_type: str) -> None:
    if not isinstance(value, dict if info.category == "map" else list):
        target = "map" if info.category == "map" else "slice"
        raise _Ended(f"cannot restore {target} from {_kind(value)}")
    for element in [value[name] for name in sorted(value)] if info.category == "map" else value:
        _convert(element, item, go_type)


def _convert_scalar(value: Any, info: TypeInfo, go_type: str) -> None:
    target = scalar_kind(info)
    if not target:
        problem = type_error(info, go_type, json.dumps(value))
        if problem:
            raise _Ended(problem)
        return
    if target == "[]uint8":
        _convert_bytes(value)
        return
    source = _kind(value)
    if source in ("slice", "map"):
        raise _Ended(f"unrecognized type: {target}")
    if source == "float64" and "int" in target and value == int(value):
        return
    if {source, target} <= {"int32", "int64"} or (source, target) == ("int64", "float64"):
        return
    if source != target:
        raise _Ended(_refusal(source, target, go_type))


def _refusal(source: str, target: str, go_type: str) -> str:
    """Go can convert numbers to each other and to strings, which the conversion then refuses."""
    is_number = source in ("int64", "float64")
    convertible = is_number and target != "bool" and (source, target) != ("float64", "string")
    return (
        f"cannot convert {source} to {go_type}" if convertible else f"unrecognized type: {target}"
    )


def _convert_bytes(value: Any) -> None:
    if isinstance(value, str):
        if problem := base64_error(value):
            raise _Ended(f"error decoding from json: {problem}")
    elif not isinstance(value, list):
        raise _Ended(f"cannot restore slice from {_kind(value)}")


def _kind(value: Any) -> str:
    """Return Go's kind of a value in a document."""
    match value:
        case bool():
            return "bool"
        case int():
            return "int64"
        case float():
            return "float64"
        case str():
            return "string"
    return "map" if isinstance(value, dict) else "slice"
