"""Document upgrade: how documents of one older shape become documents of today.

A field that was omitted because it had its default then must not get today's default: so the
defaults of the old shape are filled in first. Then the declared steps run, and whatever today's
class adds gets its defaults when the document is decoded.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from pydantic import BaseModel

from apimachinery.evolution.document_paths import Document, Fields
from apimachinery.evolution.field_tree import FieldTree, TypeTree, element_type, field_tree
from apimachinery.evolution.lost_values import lost_fields
from apimachinery.evolution.tree_changes import TreeChanges, can_read, compare, reads_the_same
from apimachinery.evolution.upgrade_steps import (
    Drop,
    Rename,
    Retype,
    Rewrite,
    UpgradeStep,
    paths_within,
)


class DocumentUpgrade:
    """Upgrades documents of one shape to the class *cls*; planned once, applied many times.

    Raises UpgradeError if a step cannot be carried out.
    """

    def __init__(
        self, cls: type[BaseModel], stored: FieldTree, steps: Sequence[UpgradeStep] = ()
    ) -> None:
        self._cls = cls
        self._stored = stored
        self.today = today = Fields.renumbered(field_tree(cls))
        """The fields of the class."""
        before = Fields.of(stored)
        fields = Fields(before)
        self._steps: list[tuple[UpgradeStep, Fields]] = []
        for step, expected in zip(steps, _expected_fields(today, steps), strict=True):
            if step.applies(fields, expected):
                self._steps.append((step, Fields(fields)))
                step.change_fields(fields, expected)
        self._fields = Fields(fields)
        self.changes: TreeChanges = compare(self._fields, today)
        rewrites = [step for step, _ in self._steps if isinstance(step, Rewrite)]
        self._is_rewritten = bool(rewrites)
        read = {path for step in rewrites for path in step.reads}
        dropped = {step.path for step in steps if isinstance(step, Drop)}
        # What is dropped need not be a field of the old shape: it may be in a map or undeclared.
        self._consumed = tuple(path for path in read | dropped if path not in today)
        # A default of a field that is gone, or of another type, is no value that could be lost.
        # Functions may read it nevertheless.
        useless = {
            id(field)
            for path, field in fields.items()
            if (path not in today and not rewrites)
            or (path in today and path not in read and not can_read(today[path].type, field.type))
        }
        self._not_filled = {path for path, field in before.items() if id(field) in useless}
        # Fields that no path tells about: undeclared ones, deeper ones of a recursive type, and
        # those that a function has written.
        has_hidden_fields = (
            any(node.open for node in stored.types) or self._fields.loops != today.loops
        )
        self.may_lose = bool(self.changes.endangered) or has_hidden_fields or self._is_rewritten
        """Whether documents may have values for which today's class has no field."""
        written = [path for step, _ in self._steps for path in _written_by_function(step)]
        new = self.changes.added if has_hidden_fields else ()
        self.doubtful = (*self.changes.endangered, *written, *new)
        """Paths at which values may turn out to be unreadable: those of gone and re-typed fields,
        of results of functions, and of fields that undeclared values may have been for."""
        self.is_needless = (
            not self._steps
            and not has_hidden_fields
            and reads_the_same(self._fields, today, self.changes)
        )
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
    def must_be_tried(self) -> bool:
        """Whether only the documents themselves tell if their values can be read and held."""
        return self.may_lose or bool(self.doubtful)

    @property
    def is_incompatible(self) -> bool:
        """Whether code of the old shape would misread the documents of today."""
        is_changed = any(not isinstance(step, Drop) for step, _ in self._steps)
        return is_changed or bool(self.changes.retyped)

    def gives_up(self, path: str) -> bool:
        """Return whether upgraded documents can have a value at a path that today's class cannot.

        The path is one after all declared steps, as messages about lost fields name it.
        """
        return Drop(path).applies(self._fields, self.today)

    def apply(self, document: Document) -> tuple[str, ...]:
        """Upgrade a document in place; return the paths of values that today's class cannot hold.

        A step that raises is the failure of this document: the exception is its own.
        """
        self._fill(document, 0, "", {})
        for step, fields in self._steps:
            step.change(document, fields)
        if not self.may_lose:
            return ()
        lost = lost_fields(document, self._cls, self._fields, ignore_defaults=self._is_rewritten)
        return tuple(path for path in lost if not self._is_consumed(path))

    def _is_consumed(self, path: str) -> bool:
        return any(path == read or path.startswith(f"{read}.") for read in self._consumed)

    def _fill(self, document: Document, number: int, prefix: str, above: Mapping[int, str]) -> None:
        """Set missing fields of an object to their defaults; *above* has the paths of its parents.

        An object of a recursive type has the path of the outermost one.
        """
        prefix = above.get(number, prefix)
        within = {**above, number: prefix}
        for name, field in self._stored.types[number].fields.items():
            path = f"{prefix}{name}"
            if name not in document:
                if field.default is None or path in self._not_filled:
                    continue
                document[name] = deepcopy(field.default)
            if isinstance(field.type, dict):
                self._fill_value(document[name], field.type, f"{path}.", within)

    def _fill_value(
        self, value: Any, tree: TypeTree, prefix: str, above: Mapping[int, str]
    ) -> None:
        match tree, value:
            case {"ref": int(number)}, dict():
                self._fill(value, number, prefix, above)
            case {"union": _}, dict():
                self._fill_value(value, element_type(tree), prefix, above)
            case {"list": item}, list():
                for element in value:
                    self._fill_value(element, item, prefix, above)
            case {"map": item}, dict():
                for element in value.values():
                    self._fill_value(element, item, prefix, above)


def _written_by_function(step: UpgradeStep) -> tuple[str, ...]:
    match step:
        case Retype(path=path):
            return (path,)
        case Rewrite(writes=writes):
            return writes
        case _:
            return ()


def _expected_fields(today: Fields, steps: Sequence[UpgradeStep]) -> list[Fields]:
    """Return today's fields for each step, also by the names that later steps give up."""
    expected = [today]
    for step in reversed(steps[1:]):
        known = expected[-1]
        if isinstance(step, Rename):
            earlier = Fields(known)
            for path in paths_within(known, step.new):
                earlier.setdefault(step.old + path.removeprefix(step.new), known[path])
            known = earlier
        expected.append(known)
    return expected[: len(steps)][::-1]
