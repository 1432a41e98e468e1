"""Apply conflicts: fields that an apply would change although other managers own them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from apimachinery.apply import path_elements as paths
from apimachinery.apply.apply_errors import ApplyError
from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.path_elements import Path
from apimachinery.fieldpath import quote

Operation = Literal["Apply", "Update"]

MAX_SHOWN_CONFLICTS: Final = 100
"""The maximum number of conflicts that a message lists."""


@dataclass(frozen=True, slots=True)
class ManagerIdentifier:
    """The identity of a field manager.

    An applier is the same manager in every version it applies, so its `version` is empty.
    """

    name: str
    operation: Operation
    version: str = ""
    subresource: str = ""

    @property
    def identifier(self) -> str:
        """Return the JSON text by which managers are sorted."""
        entry: dict[str, Any] = {"manager": self.name, "operation": self.operation}
        if self.version:
            entry["apiVersion"] = self.version
        if self.subresource:
            entry["subresource"] = self.subresource
        return orjson.dumps({k: v for k, v in entry.items() if v}).decode()


@dataclass(frozen=True, slots=True)
class FieldConflict:
    manager: ManagerIdentifier
    path: Path
    time: str | None = None
    """When the manager last changed its fields."""

    @property
    def field(self) -> str:
        return paths.path_text(self.path)

    @property
    def message(self) -> str:
        """Return the message of the Status cause; `field` is the cause's field."""
        return f"conflict with {manager_text(self.manager)}"


class ApplyConflict(ApplyError):
    """Other managers own fields that this apply would change."""

    def __init__(self, conflicts: Iterable[FieldConflict]) -> None:
        self.conflicts = tuple(conflicts)
        super().__init__(conflict_message(self.conflicts))

    def fields(self) -> FieldSet:
        """Return all conflicting fields, of every manager."""
        return FieldSet.of(*(conflict.path for conflict in self.conflicts))


def conflict_message(conflicts: Iterable[FieldConflict]) -> str:
    """Return the Status message of a failed apply."""
    conflicts = tuple(conflicts)
    if len(conflicts) == 1:
        return f"Apply failed with 1 conflict: {conflicts[0].message}: {conflicts[0].field}"
    fields: dict[ManagerIdentifier, list[str]] = {}
    for conflict in conflicts[:MAX_SHOWN_CONFLICTS]:
        fields.setdefault(conflict.manager, []).append(conflict.field)
    lines = []
    for manager in sorted(fields, key=lambda manager: manager.identifier):
        lines.append(f"conflicts with {manager_text(manager)}:")
        lines.extend(f"- {field}" for field in fields[manager])
    if len(conflicts) > MAX_SHOWN_CONFLICTS:
        lines.append("...")
    return f"Apply failed with {len(conflicts)} conflicts: " + "\n".join(lines)


def manager_text(manager: ManagerIdentifier, time: str | None = None) -> str:
    """Return the manager as messages show it; *time* is included only for an Update."""
    text = quote(manager.name)
    if manager.subresource:
        text = f"{text} with subresource {quote(manager.subresource)}"
    if manager.operation == "Apply":
        return text
    return f"{text} using {manager.version}" + (f" at {time}" if time else "")
