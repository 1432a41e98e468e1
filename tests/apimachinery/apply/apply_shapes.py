"""Short notation for shapes and paths, for the tests of server-side apply."""

from collections.abc import Mapping
from typing import Any

from apimachinery.apply import path_elements as paths
from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.path_elements import Path
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, Shape, StructShape, Untyped

SCALAR = Scalar()
UNTYPED = Untyped()
SET = ListShape(SCALAR, "set")
ATOMIC_LIST = ListShape(SCALAR, "atomic")
MAP = MapShape(SCALAR)
ATOMIC_MAP = MapShape(SCALAR, atomic=True)


def struct(
    fields: Mapping[str, Shape], *, atomic: bool = False, keeps: bool = False
) -> StructShape:
    return StructShape("test", lambda: fields, atomic=atomic, preserves_unknown=keeps)


def keyed(
    *keys: str, fields: Mapping[str, Shape], defaults: Mapping[str, Any] | None = None
) -> ListShape:
    return ListShape(struct(fields), "map", keys, defaults or {})


def path(*steps: Any) -> Path:
    """Build a path: a str is a field, a dict a key, an int an index, a list of one a value."""
    return tuple(map(_element, steps))


def fields(*members: Path) -> FieldSet:
    return FieldSet.of(*members)


def shown(found: FieldSet) -> set[str]:
    """Return the paths of a set as messages show them."""
    return {paths.path_text(member) for member in found}


def _element(step: Any) -> str:
    if isinstance(step, str):
        return paths.field(step)
    if isinstance(step, dict):
        return paths.key(step)
    return paths.value(step[0]) if isinstance(step, list) else paths.index(step)
