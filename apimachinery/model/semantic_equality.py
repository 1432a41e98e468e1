"""Equality as the API means it: an empty list or map is the same as none at all.

A controller that compares what is with what should be, and a server that asks whether a write
changes anything, must not see a difference where the wire has none.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from apimachinery.model.class_fields import fields_of


def equal(left: Any, right: Any) -> bool:
    """Whether two API values mean the same."""
    return next(differences(left, right), None) is None


def differences(left: Any, right: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every place where two values differ: (path, left, right), by the names of the wire."""
    if _unset(left) and _unset(right):
        return
    if isinstance(left, BaseModel) and type(left) is type(right):
        yield from _of_models(left, right, path)
    elif isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}, key=str):
            yield from differences(left.get(key), right.get(key), f"{path}[{key}]")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for position, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from differences(one, other, f"{path}[{position}]")
    elif type(left) is not type(right) or left != right:
        yield path, left, right


def _of_models(left: BaseModel, right: BaseModel, path: str) -> Iterator[tuple[str, Any, Any]]:
    for field in fields_of(type(left)):
        here = f"{path}.{field.wire}" if path else field.wire
        yield from differences(getattr(left, field.name), getattr(right, field.name), here)
    yield from differences(left.__pydantic_extra__, right.__pydantic_extra__, path)


def _unset(value: Any) -> bool:
    return value is None or (isinstance(value, list | dict) and not value)
