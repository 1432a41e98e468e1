"""Document upgrade: how documents of one older shape become documents of today.

A field that was omitted because it had its default then must not get today's default: so the
defaults of the old shape are filled in first. Then the declared steps run, and whatever today's
class adds gets its defaults when the document is decoded.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from pydantic import BaseModel

from apimachinery.evolution.field_tree import FieldTree, TypeTree, field_tree
from apimachinery.evolution.tree_changes import TreeChanges, compare, reads_the_same
from apimachinery.evolution.upgrade_steps import (
    Document,
    Drop,
    Fields,
    Rename,
    Rewrite,
    UpgradeStep,
    is_within,
    objects_at,
)
from apimachinery.model.decoding import unknown_fields


class DocumentUpgrade:
    """Upgrades documents of one shape to the class *cls*; planned once, applied many times."""

    def __init__(
        self, cls: type[BaseModel], stored: FieldTree, steps: Sequence[UpgradeStep] = ()
    ) -> None:
        self._cls = cls
        self._stored = stored
        today = dict(field_tree(cls).paths())
        fields = dict(stored.paths())
        self._steps: list[tuple[UpgradeStep, Fields]] = []
        for step, expected in zip(steps, _names_expected(today, steps), strict=True):
            if step.applies(fields, expected):
                self._steps.append((step, dict(fields)))
                step.change_fields(fields, expected)
        self._fields = fields
        self.changes: TreeChanges = compare(fields, today)
        self._without_default = self._fields_without_default(today)
        self.is_needless = not self._steps and reads_the_same(fields, today, self.changes)
        """Whether the documents mean the same today, byte for byte."""

    @property
    def renames(self) -> list[Rename]:
        """The renames that apply, for whoever records field names elsewhere."""
        return [step for step, _ in self._steps if isinstance(step, Rename)]

    @property
    def is_declared(self) -> bool:
        """Whether the code of today declares what becomes of documents of this shape."""
        return bool(self._steps)

    @property
    def is_incompatible(self) -> bool:
        """Whether code of the old shape would misread the documents of today."""
        is_changed = any(not isinstance(step, Drop) for step, _ in self._steps)
        return is_changed or bool(self.changes.retyped)

    def apply(self, document: Document) -> tuple[str, ...]:
        """Upgrade a document in place; return the paths of values that today's class cannot hold.

        A step that raises is the failure of this document: the exception is its own.
        """
        filled: set[str] = set()
        self._fill(document, 0, "", "", filled)
        for step, fields in self._steps:
            step.change(document, fields)
        self._remove_empty_objects(document)
        if not self.changes.removed and not any(node.open for node in self._stored.types):
            return ()
        return tuple(path for path in lost_fields(document, self._cls) if path not in filled)

    def _fields_without_default(self, today: Fields) -> frozenset[str]:
        """Return the stored fields whose old default no value of today could express.

        Those are gone today or of another type, and no function asks for them.
        """
        paths = {path: path for path, _ in self._stored.paths()}
        read: set[str] = set()
        for step, _ in self._steps:
            for stored, path in paths.items():
                if isinstance(step, Rename) and is_within(path, step.old):
                    paths[stored] = step.new + path.removeprefix(step.old)
                if isinstance(step, Rewrite) and any(is_within(path, one) for one in step.reads):
                    read.add(stored)
        inexpressible = {path for path in paths.values() if path not in today}
        inexpressible.update(self.changes.retyped)
        return frozenset(
            stored for stored, path in paths.items() if path in inexpressible and stored not in read
        )

    def _fill(
        self, document: Document, number: int, path: str, place: str, filled: set[str]
    ) -> None:
        """Fill the object at *place*, such as `parts[0].`, which is one of those at *path*."""
        for name, field in self._stored.types[number].fields.items():
            if name not in document:
                if field.default is None or f"{path}{name}" in self._without_default:
                    continue
                document[name] = deepcopy(field.default)
                filled.add(f"{place}{name}")
            self._fill_value(
                document[name], field.type, f"{path}{name}.", f"{place}{name}", filled
            )

    def _fill_value(
        self, value: Any, tree: TypeTree, path: str, place: str, filled: set[str]
    ) -> None:
        match tree, value:
            case {"ref": int(number)}, dict():
                self._fill(value, number, path, f"{place}.", filled)
            case {"list": item}, list():
                for position, element in enumerate(value):
                    self._fill_value(element, item, path, f"{place}[{position}]", filled)
            case {"map": item}, dict():
                for key, element in value.items():
                    self._fill_value(element, item, path, f"{place}.{key}", filled)

    def _remove_empty_objects(self, document: Document) -> None:
        """Remove objects that are gone today and empty: nested objects are always stored."""
        for path in self.changes.removed:
            *parents, name = path.split(".")
            for holder in objects_at(document, parents, self._fields):
                if name in holder and self._is_empty_object(holder[name], path):
                    del holder[name]

    def _is_empty_object(self, value: Any, path: str) -> bool:
        field = self._fields.get(path)
        if field is None or "ref" not in field.type or not isinstance(value, dict):
            return False
        return all(self._is_empty_object(part, f"{path}.{name}") for name, part in value.items())


def _names_expected(today: Fields, steps: Sequence[UpgradeStep]) -> list[Fields]:
    """Return today's fields for each step, also under the names that later steps will change."""
    expected = [today]
    for step in reversed(steps[1:]):
        if isinstance(step, Rename):
            known = expected[-1]
            earlier = {
                step.old + path.removeprefix(step.new): field
                for path, field in known.items()
                if is_within(path, step.new)
            }
            expected.append({**earlier, **known})
        else:
            expected.append(expected[-1])
    return expected[::-1] if steps else []


def lost_fields(document: Document, cls: type[BaseModel]) -> list[str]:
    """Return the paths of a document that *cls* does not declare; `$shape` is not a field."""
    return [path for path in unknown_fields(document, cls) if not path.startswith("$")]
