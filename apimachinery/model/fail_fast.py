"""Fail-fast decoding of large documents: report the first invalid item of each list and map.

pydantic collects every error of a document in one call that lets no other thread run. A document of
a hundred thousand invalid items would take it a second, for a message that nobody reads. So large
documents are decoded by a second validator of the same class.
"""

from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import SchemaValidator

from apimachinery.model.class_fields import TypeInfo, fields_of

LARGE: Final = 2000
"""The number of list items and members from which a document is decoded fail-fast."""

_ZEROS: Final[dict[Any, Any]] = {str: "", int: 0, float: 0, bool: False}
_NESTED: Final = ("schema", "choices", "steps", "definitions")


def is_large(data: bytes) -> bool:
    return len(data) > LARGE and data.count(b",") > LARGE


def fail_fast_validator(cls: type[BaseModel]) -> SchemaValidator:
    """Return the validator of *cls* that stops at the first invalid item of a list or map."""
    cached: SchemaValidator | None = cls.__dict__.get("__fail_fast_validator__")
    if cached is None:
        if not cls.__pydantic_complete__:
            cls.model_rebuild()
        # For a class that is complete, pydantic would reuse the validator without fail_fast.
        cached = SchemaValidator(_failing_fast(cls.__pydantic_core_schema__), _use_prebuilt=False)
        type.__setattr__(cls, "__fail_fast_validator__", cached)
    return cached


def _failing_fast(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(map(_failing_fast, schema))
    if not isinstance(schema, dict):
        return schema
    copied = dict(schema)
    for key, part in schema.items():
        if key == "fields" and isinstance(part, dict):
            copied[key] = {name: _failing_fast(field) for name, field in part.items()}
        elif key in _NESTED or key == "fields" or key.endswith("_schema"):
            copied[key] = _failing_fast(part)
    if copied.get("type") in ("list", "dict"):
        copied["fail_fast"] = True
    return copied


def without_nulls(value: Any, info: TypeInfo) -> Any:
    """Return a parsed document of a type without the nulls that the type does not allow.

    A null field is removed; a null item of a list or value of a map becomes the zero of its type.
    """
    if info.category == "model" and isinstance(value, dict):
        types = {field.wire: field.type for field in fields_of(info.python)}
        return {
            name: without_nulls(item, types[name]) if name in types else item
            for name, item in value.items()
            if item is not None or name not in types
        }
    if info.item is not None and isinstance(value, list):
        return [_item_without_nulls(item, info.item) for item in value]
    if info.item is not None and isinstance(value, dict):
        return {key: _item_without_nulls(item, info.item) for key, item in value.items()}
    return value


def _item_without_nulls(item: Any, info: TypeInfo) -> Any:
    if item is not None:
        return without_nulls(item, info)
    if info.optional:
        return None
    if info.category in ("model", "map"):
        return {}
    return [] if info.category == "list" else _ZEROS.get(info.python)
