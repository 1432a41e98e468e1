"""Semantic equality: an empty list or map equals an absent one.

A controller that compares observed with desired state, and a server that checks whether a write
changes an object, must not see a difference that the wire does not show.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from apimachinery.model.class_fields import fields_of


def equal(left: Any, right: Any) -> bool:
    """Return whether two API values are semantically equal."""
    return next(differences(left, right), None) is None


def differences(left: Any, right: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield (path, left, right) for every difference; paths have wire names."""
    if _is_unset(left) and _is_unset(right):
        return
    if isinstance(left, BaseModel) and type(left) is type(right):
        yield from _model_differences(left, right, path)
    elif isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}, key=str):
            yield from differences(left.get(key), right.get(key), f"{path}[{key}]")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for position, (left_item, right_item) in enumerate(zip(left, right, strict=True)):
            yield from differences(left_item, right_item, f"{path}[{position}]")
    elif type(left) is not type(right) or left != right:
        yield path, left, right


def _model_differences(
    left: BaseModel, right: BaseModel, path: str
) -> Iterator[tuple[str, Any, Any]]:
    for field in fields_of(type(left)):
        field_path = f"{path}.{field.wire}" if path else field.wire
        yield from differences(getattr(left, field.name), getattr(right, field.name), field_path)
    yield from differences(left.__pydantic_extra__, right.__pydantic_extra__, path)


def _is_unset(value: Any) -> bool:
    return value is None or (isinstance(value, list | dict) and not value)
