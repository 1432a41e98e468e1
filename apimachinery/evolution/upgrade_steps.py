"""Upgrade steps: what became of the fields of stored documents.

A step states its own condition, the fields that only an older shape has, and is skipped for
documents of shapes that do not meet it. So a chain of steps, in the order in which the changes were
made, upgrades a document of any older shape. Each step works on plain documents and can be tested
alone: `step.change(document, fields)`.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

from apimachinery.evolution.document_paths import ABSENT, Document, Fields, objects_at, take
from apimachinery.evolution.field_tree import TreeField, TypeTree, scalar_name
from apimachinery.evolution.tree_changes import can_read, is_same_type, parents
from apimachinery.model.class_fields import TypeInfo, type_info
from apimachinery.model.wire_rules import wire_name


class UpgradeError(ValueError):
    """A declared upgrade that cannot be carried out; the message says why."""


class UpgradeStep(ABC):
    """One change of stored documents."""

    @abstractmethod
    def applies(self, fields: Fields, today: Fields) -> bool:
        """Return whether documents with *fields* need this step."""

    @abstractmethod
    def change(self, document: Document, fields: Fields) -> None:
        """Change a document with *fields*, in place."""

    @abstractmethod
    def change_fields(self, fields: Fields, today: Fields) -> None:
        """Change *fields* as the documents are changed, in place."""

    @abstractmethod
    def describe(self) -> str:
        """Return the step in words, for the catalogue of shapes."""


@dataclass(frozen=True)
class Rename(UpgradeStep):
    """A field has another name, or is in another object."""

    old: str
    new: str

    def applies(self, fields: Fields, today: Fields) -> bool:
        is_outer = self.old.startswith(f"{self.new}.")
        return self.old in fields and (is_outer or self.new not in fields)

    def change(self, document: Document, fields: Fields) -> None:
        shared, old, new = self.split()
        for holder in objects_at(document, shared, fields):
            value = take(holder, old)
            if value is not ABSENT:
                _put(holder, new, value)

    def change_fields(self, fields: Fields, today: Fields) -> None:
        self._refuse_elements(fields, today)
        moved = {path: fields.pop(path) for path in paths_within(fields, self.old)}
        outer = parents(self.old)
        overwritten = [path for path in paths_within(fields, self.new) if path not in outer]
        if overwritten:
            raise UpgradeError(
                f"{self.describe()}: the value would replace {overwritten[0]}; rename or drop that"
                " first, in a call of its own"
            )
        for path in parents(self.new):
            if path not in fields and path in today:
                fields[path] = today[path]
        for path, field in moved.items():
            fields[self.new + path.removeprefix(self.old)] = field

    def _refuse_elements(self, fields: Fields, today: Fields) -> None:
        shared, old, new = self.split()
        for part, steps, known in (("from", old, fields), ("to", new, {**today, **fields})):
            for count in range(1, len(steps)):
                path = ".".join([*shared, *steps[:count]])
                if path in known and path != self.old and "ref" not in known[path].type:
                    raise UpgradeError(
                        f"{self.describe()}: it moves {part} the elements of {path}, which is no"
                        " object; write a function for the document instead"
                    )

    def describe(self) -> str:
        return f"rename {self.old} to {self.new}"

    def split(self) -> tuple[list[str], list[str], list[str]]:
        """Return the common steps of both paths, and the rest of each."""
        old, new = self.old.split("."), self.new.split(".")
        shared = 0
        while shared < min(len(old), len(new)) - 1 and old[shared] == new[shared]:
            shared += 1
        return old[:shared], old[shared:], new[shared:]


@dataclass(frozen=True)
class Retype(UpgradeStep):
    """The values of a field are of another type; *function* returns the new value for an old one.

    The annotations of the function, if it has any, name both types: then it is called only for
    documents whose field is of the annotated type. Without, it is called if the field has another
    type today, but never to change the fields of an object: that is for a `Rewrite`.
    """

    path: str
    function: Callable[[Any], Any]

    def applies(self, fields: Fields, today: Fields) -> bool:
        if self.path not in fields:
            return False
        stored, source = fields[self.path].type, self._annotated("")
        if source is None:
            return self.path in today and not is_same_type(stored, today[self.path].type)
        if isinstance(source, str) and isinstance(stored, str):
            return stored in source.split("|")
        return stored == source

    def change(self, document: Document, fields: Fields) -> None:
        *outer, name = self.path.split(".")
        for holder in objects_at(document, outer, fields):
            if holder.get(name) is not None:
                holder[name] = self.function(holder[name])

    def change_fields(self, fields: Fields, today: Fields) -> None:
        for path in paths_within(fields, self.path):
            del fields[path]
        target = self._annotated("return")
        if target is not None:
            fields[self.path] = TreeField(target)
        else:
            fields.update({path: today[path] for path in paths_within(today, self.path)})

    def describe(self) -> str:
        return f"change the type of {self.path}"

    def _annotated(self, which: str) -> TypeTree | None:
        """Return the type of the parameter, or of the result; None for objects and without one."""
        try:
            hints = get_type_hints(self.function, include_extras=True)
        except (NameError, TypeError):
            return None
        result = hints.pop("return", None)
        annotation = result if which else next(iter(hints.values()), None)
        if annotation is None or annotation is Any:
            return None
        return _type_tree(type_info(annotation))


@dataclass(frozen=True)
class Drop(UpgradeStep):
    """A field is gone, or its old values are: this is the consent to lose them."""

    path: str

    def applies(self, fields: Fields, today: Fields) -> bool:
        if self.path not in fields:
            return False
        return self.path not in today or not can_read(today[self.path].type, fields[self.path].type)

    def change(self, document: Document, fields: Fields) -> None:
        *outer, name = self.path.split(".")
        for holder in objects_at(document, outer, fields):
            holder.pop(name, None)

    def change_fields(self, fields: Fields, today: Fields) -> None:
        for path in paths_within(fields, self.path):
            del fields[path]

    def describe(self) -> str:
        return f"drop {self.path}"


@dataclass(frozen=True)
class Rewrite(UpgradeStep):
    """A function changes the whole document.

    It is called for documents whose shape has all fields that it *reads* and none that it *writes*.
    Those it reads are gone afterwards, unless the class still has them.
    """

    function: Callable[[Document], Document | None]
    reads: tuple[str, ...]
    writes: tuple[str, ...]

    def applies(self, fields: Fields, today: Fields) -> bool:
        return all(path in fields for path in self.reads) and not any(
            path in fields for path in self.writes
        )

    def change(self, document: Document, fields: Fields) -> None:
        result = self.function(document)
        if result is not None and result is not document:
            document.clear()
            document.update(result)

    def change_fields(self, fields: Fields, today: Fields) -> None:
        for old in (path for path in self.reads if path not in today):
            for path in paths_within(fields, old):
                del fields[path]
        for new in self.writes:
            fields[new] = TreeField("any")
            for path in (*parents(new), *paths_within(today, new)):
                if path in today and (path not in fields or path == new):
                    fields[path] = today[path]

    def describe(self) -> str:
        name = getattr(self.function, "__qualname__", repr(self.function))
        return f"call {name}"


def pending_steps(steps: Sequence[UpgradeStep], done: Iterable[str]) -> list[UpgradeStep]:
    """Return the steps without the functions among those that were declared already, in words.

    Whether a function must be called does not follow from the fields alone: a type may change back,
    or a field be of the same type before and after. Code that had declared the function has written
    its result.
    """
    counts = Counter(done)
    pending = []
    for step in steps:
        words = step.describe()
        if isinstance(step, Retype | Rewrite) and counts[words]:
            counts[words] -= 1
        else:
            pending.append(step)
    return pending


def upgrade_steps(
    *,
    renames: Mapping[str, str],
    retyped: Mapping[str, Callable[[Any], Any]],
    dropped: tuple[str, ...],
    function: Callable[[Document], Document | None] | None,
    reads: tuple[str, ...],
    writes: tuple[str, ...],
) -> list[UpgradeStep]:
    """Return the declared steps, in this order. Raises UpgradeError."""
    if function is None and (reads or writes):
        raise UpgradeError("reads and writes describe a function: give one")
    if function is not None and not (reads or writes):
        raise UpgradeError(
            "a function needs reads or writes: it is called for documents whose shape has the"
            " fields that it reads and lacks those that it writes"
        )
    steps: list[UpgradeStep] = [*_in_order(renames)]
    steps += [Retype(_wire(path), change) for path, change in retyped.items()]
    if function is not None:
        steps.append(Rewrite(function, tuple(map(_wire, reads)), tuple(map(_wire, writes))))
    return [*steps, *(Drop(_wire(path)) for path in dropped)]


def _in_order(renames: Mapping[str, str]) -> list[Rename]:
    """Return the renames such that a name is free before another field gets it."""
    pending = [Rename(_wire(old), _wire(new)) for old, new in renames.items()]
    ordered: list[Rename] = []
    while pending:
        free = [rename for rename in pending if not _is_taken(rename, pending)]
        if not free:
            raise UpgradeError(
                f"{pending[0].describe()}: the renames are a circle, so documents of both shapes"
                " look the same; give one of the fields a new name"
            )
        ordered += free
        pending = [rename for rename in pending if rename not in free]
    return ordered


def _is_taken(rename: Rename, pending: list[Rename]) -> bool:
    return any(rename.new == other.old for other in pending if other is not rename)


def _type_tree(info: TypeInfo) -> TypeTree | None:
    if info.category == "scalar":
        return scalar_name(info)
    item = _type_tree(info.item) if info.item is not None else None
    return None if item is None else {info.category: item}


def _put(holder: Document, steps: list[str], value: Any) -> None:
    *parents, name = steps
    for step in parents:
        inner = holder.get(step)
        if not isinstance(inner, dict):
            inner = holder[step] = {}
        holder = inner
    holder[name] = value


def paths_within(fields: Mapping[str, TreeField], outer: str) -> list[str]:
    return [path for path in fields if path == outer or path.startswith(f"{outer}.")]


def _wire(path: str) -> str:
    """Return a path in wire names; Python names may be given as well."""
    return ".".join(map(wire_name, path.split(".")))
