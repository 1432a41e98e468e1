"""Danger: what a start would do to stored objects, in words that say what to write instead."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from apiserver.evolution.judgement import StoredKind
from apiserver.storage.interface import Record
from apiserver.storage.keys import object_name

Cause = Literal["gone", "mistyped", "undeclared", "unmarked", "unreadable", "unknown", "scope"]
"""Why values at a path are in danger: see the descriptions below."""


@dataclass(slots=True)
class Danger:
    """Stored values that today's class cannot hold."""

    path: str
    cause: Cause
    objects: int = 0
    example: str = ""
    reason: str = ""

    def describe(self, kind: StoredKind) -> str:
        """Return the danger as a sentence that says what to write."""
        return f"{kind.name}: {_DESCRIPTIONS[self.cause](self, kind)}"

    @property
    def count(self) -> str:
        return "1 stored object" if self.objects == 1 else f"{self.objects} stored objects"

    @property
    def have(self) -> str:
        return f"{self.count} {'has' if self.objects == 1 else 'have'}"


@dataclass(slots=True)
class Dangers:
    """The dangers found so far, by path and cause."""

    found: dict[tuple[str, Cause], Danger] = field(default_factory=dict)

    def add(self, path: str, cause: Cause, record: Record, reason: str = "") -> None:
        """Count one object that is in danger at *path*."""
        danger = self.found.setdefault((path, cause), Danger(path, cause))
        danger.objects += 1
        danger.example = danger.example or object_name(record.key)
        danger.reason = danger.reason or reason

    def describe(self, kind: StoredKind) -> list[str]:
        """Return all dangers as sentences, by path."""
        return [self.found[key].describe(kind) for key in sorted(self.found)]


def _gone(danger: Danger, kind: StoredKind) -> str:
    path = danger.path
    return (
        f"the field {path} is gone, and {danger.have} a value there, such as {danger.example}."
        f" Declare what became of it, scheme.add_upgrade({_class(kind)}, renames={{{path!r}: ...}})"
        f" or dropped=({path!r},), {_accept(danger, kind)}"
    )


def _mistyped(danger: Danger, kind: StoredKind) -> str:
    return (
        f"{danger.have} a value at {danger.path} that cannot be read as the type of today, such as"
        f" {danger.example} ({danger.reason}). Declare how it changes, scheme.add_upgrade("
        f"{_class(kind)}, retyped={{{danger.path!r}: function}}), {_accept(danger, kind)}"
    )


def _undeclared(danger: Danger, kind: StoredKind) -> str:
    return (
        f"{danger.have} a value at {danger.path} that cannot be read as the type of today, such as"
        f" {danger.example} ({danger.reason}). No older type declared that field: change the values"
        f" in a function, scheme.add_upgrade({_class(kind)}, function=..., "
        f"writes=({danger.path!r},))"
    )


def _unmarked(danger: Danger, kind: StoredKind) -> str:
    return (
        f"{danger.have} a value at {danger.path} that cannot be read as the type of today, such as"
        f" {danger.example} ({danger.reason}). The types that they were stored with are not in the"
        " catalogue yet: start once with these, and then change them"
    )


def _unreadable(danger: Danger, kind: StoredKind) -> str:
    return (
        f"nothing but the metadata of {danger.count} can be read, such as {danger.example}:"
        f" {danger.reason}. Correct what is declared with scheme.add_upgrade({_class(kind)}), or"
        " the objects, with the release that can read them"
    )


def _unknown(danger: Danger, kind: StoredKind) -> str:
    return (
        f"nothing but the metadata of {danger.count} can be read, such as {danger.example}:"
        f" {danger.reason}. Keep that version of the kind in the scheme, or run `apiserver storage"
        " migrate` with a release that has both, before this one"
    )


def _scope(danger: Danger, kind: StoredKind) -> str:
    was, today = ("cluster-scoped", "namespaced")
    if not kind.namespaced:
        was, today = today, was
    return (
        f"the resource is {today} now, and {danger.count} would be found no more, such as"
        f" {danger.example}: a stored resource cannot change its scope. Serve it as {was}, or"
        " delete the objects first, with the release that has them"
    )


def _accept(danger: Danger, kind: StoredKind) -> str:
    return f"or accept the loss with --accept-field-loss {kind.name}/{danger.path}"


def _class(kind: StoredKind) -> str:
    return kind.stored_class.__name__


_DESCRIPTIONS: Mapping[Cause, Callable[[Danger, StoredKind], str]] = {
    "gone": _gone,
    "mistyped": _mistyped,
    "undeclared": _undeclared,
    "unmarked": _unmarked,
    "unreadable": _unreadable,
    "unknown": _unknown,
    "scope": _scope,
}
