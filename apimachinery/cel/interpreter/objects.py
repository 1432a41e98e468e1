"""Objects: values that expressions construct, `Object{...}` and `JSONPatch{...}`.

Their types have no schema: any field of an object may be set. Whether the names of nested types
match the fields that they are set in is checked when a patch is made of them.
"""

from collections.abc import Iterator
from typing import Any, Final

from apimachinery.cel.interpreter.values import (
    EMPTY,
    CELError,
    Duration,
    FieldValue,
    Optional,
    Timestamp,
    type_name,
)

_OBJECT: Final = "Object"
_JSON_PATCH: Final = "JSONPatch"
_TEXTS: Final = ("op", "path", "from")


class ObjectValue(FieldValue):
    """A value of type Object, or of a type below it such as Object.spec."""

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self.type_name = name  # type: ignore[misc]
        self.fields = fields

    def find(self, name: str) -> Optional:
        return Optional(self.fields[name], True) if name in self.fields else EMPTY

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ObjectValue)
            and other.type_name == self.type_name
            and other.fields == self.fields
        )

    def __hash__(self) -> int:
        return hash(self.type_name)

    def mismatched_types(self) -> list[str]:
        """Return the nested types that are not named like the fields that they are in."""
        return list(_mismatches(self, self.type_name))


class JSONPatchValue(FieldValue):
    """One operation of a JSON patch."""

    type_name = _JSON_PATCH

    def __init__(self, fields: dict[str, Any]) -> None:
        for name in _TEXTS:
            value = fields.get(name, "")
            if not isinstance(value, str):
                raise CELError(
                    f"unexpected type {type_name(value)} for JSONPatchType '{name}' field"
                )
        self.fields = fields

    def find(self, name: str) -> Optional:
        if name in self.fields:
            return Optional(self.fields[name], True)
        return Optional("", True) if name in _TEXTS else EMPTY

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JSONPatchValue) and other.fields == self.fields

    def __hash__(self) -> int:
        return hash(self.fields.get("path"))


def new_message(name: str, fields: dict[str, Any]) -> FieldValue:
    """Return the value of `Name{field: value}`; raise CELError for any other type."""
    if name == _JSON_PATCH:
        return JSONPatchValue(fields)
    if name == _OBJECT or name.startswith(f"{_OBJECT}."):
        return ObjectValue(name, fields)
    raise CELError(f"unknown type '{name}'")


def to_json(value: Any) -> Any:
    """Return a value as a part of a document; raise CELError if there is no such part."""
    if isinstance(value, ObjectValue):
        return {name: to_json(field) for name, field in value.fields.items()}
    if isinstance(value, dict):
        return {_key(name): to_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, Timestamp | Duration):
        from apimachinery.cel.interpreter.conversions import text_of

        return text_of(value)
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        return int(value)
    kind = type_name(value).rpartition(".")[2]
    raise CELError(f"type conversion error from '{kind}' to '*structpb.Value'")


def _key(name: Any) -> str:
    if isinstance(name, str):
        return name
    raise CELError(f'map key "{name}" is of type {type_name(name)}, not string')


def _mismatches(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, ObjectValue):
        if value.type_name != path:
            yield (
                f'unexpected type name "{value.type_name}", expected "{path}", which matches field'
                " name path from root Object type"
            )
        for name, field in value.fields.items():
            yield from _mismatches(field, f"{path}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from _mismatches(item, path)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _mismatches(item, path)
