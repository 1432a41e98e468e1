"""Field paths in a version: errors name a field as the client's version calls it.

Validation runs on internal objects, so a strategy reports `spec.replicas` to a client whose version
has `spec.count`. The declared differences of the conversion give the name in the version.
"""

import re
from collections.abc import Mapping
from typing import Final

from apimachinery.conversion.class_conversion import SAME, Difference
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of
from apimachinery.model.model import Model

Differences = Mapping[tuple[type, type], Difference]
"""Declared differences by (versioned class, internal class)."""

# A name, or a subscript; keys of maps contain dots, and even brackets.
_STEP: Final = re.compile(r"\.?([^.\[]+)|\[(.*?)\](?=$|[.\[])")


def path_in_version(
    path: str, versioned: type[Model], internal: type[Model], differences: Differences
) -> str:
    """Translate a path of wire names of *internal* to those of *versioned*.

    From the first field that the version lacks, the rest of the path stays as it is. So does the
    rest below a type that is the same class in both.
    """
    pair = _Pair(
        TypeInfo("model", versioned),
        TypeInfo("model", internal),
        differences.get((versioned, internal), SAME),
    )
    translated, position = "", 0
    while step := _STEP.match(path, position):
        if step[1] is None:
            text, below = step[0], pair.item()
        else:
            text, below = pair.field(step[1], differences)
            text = f".{text}" if translated else text
        if below is None:
            break
        translated, position, pair = translated + text, step.end(), below
    return translated + path[position:]


class _Pair:
    """The types of one value in both classes, and the differences inside it."""

    def __init__(self, versioned: TypeInfo, internal: TypeInfo, difference: Difference) -> None:
        self.versioned = versioned
        self.internal = internal
        self.difference = difference

    def item(self) -> "_Pair | None":
        """Return the pair of the items of a list or the values of a map."""
        if self.versioned.item is None or self.internal.item is None:
            return None
        return _Pair(self.versioned.item, self.internal.item, self.difference)

    def field(self, wire: str, differences: Differences) -> "tuple[str, _Pair | None]":
        """Return the wire name of an internal field in the version, and its pair if it has it."""
        versioned, internal = self.versioned, self.internal
        if not (versioned.category == internal.category == "model"):
            return wire, None
        if versioned.python is internal.python:
            return wire, None
        difference = self.difference or differences.get((versioned.python, internal.python), SAME)
        inner = next((field for field in fields_of(internal.python) if field.wire == wire), None)
        outer = _counterpart(versioned.python, inner, difference) if inner else None
        if inner is None or outer is None:
            return wire, None
        return outer.wire, _Pair(outer.type, inner.type, difference.within(outer.name))


def _counterpart(
    versioned: type[Model], field: ModelField, difference: Difference
) -> ModelField | None:
    """Return the field of the version that an internal field is converted to."""
    if field.name in difference.dropped or field.name in difference.kept:
        return None
    renamed = {new: old for old, new in difference.renames.items() if "." not in new}
    name = renamed.get(field.name, field.name)
    if field.name not in renamed and name in difference.renames:
        return None  # the version has a field of this name, but it is another one
    return next((field for field in fields_of(versioned) if field.name == name), None)
