"""Conflicts: fields that an apply would change although others own them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from apimachinery.apply import path_elements as paths
from apimachinery.apply.apply_errors import ApplyError
from apimachinery.apply.fieldset import FieldSet
from apimachinery.apply.path_elements import Path
from apimachinery.fieldpath import quote

Operation = Literal["Apply", "Update"]


@dataclass(frozen=True, slots=True)
class ManagerIdentifier:
    """Who owns fields. Appliers are one manager in whatever version they apply (`version` "")."""

    name: str
    operation: Operation
    version: str = ""
    subresource: str = ""

    @property
    def identifier(self) -> str:
        """A text by which managers are put in order."""
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
    """When the manager last changed what it owns."""

    @property
    def field(self) -> str:
        return paths.path_text(self.path)

    @property
    def message(self) -> str:
        """The message of the cause of a Status; its field is `field`."""
        return f"conflict with {manager_text(self.manager)}"


class ApplyConflict(ApplyError):
    """Others own, with other values, what this apply would change."""

    def __init__(self, conflicts: Iterable[FieldConflict]) -> None:
        self.conflicts = tuple(conflicts)
        super().__init__(conflict_message(self.conflicts))

    def fields(self) -> FieldSet:
        """All fields in conflict, whoever owns them."""
        return FieldSet.of(*(conflict.path for conflict in self.conflicts))


def conflict_message(conflicts: Iterable[FieldConflict]) -> str:
    """What the Status of a failed apply says."""
    found = tuple(conflicts)
    if len(found) == 1:
        return f"Apply failed with 1 conflict: {found[0].message}: {found[0].field}"
    fields: dict[ManagerIdentifier, list[str]] = {}
    for conflict in found:
        fields.setdefault(conflict.manager, []).append(conflict.field)
    lines = []
    for manager in sorted(fields, key=lambda manager: manager.identifier):
        lines.append(f"conflicts with {manager_text(manager)}:")
        lines.extend(f"- {field}" for field in fields[manager])
    return f"Apply failed with {len(found)} conflicts: " + "\n".join(lines)


def manager_text(manager: ManagerIdentifier, time: str | None = None) -> str:
    """The manager as messages show it; *time* is shown only for an Update."""
    text = quote(manager.name)
    if manager.subresource:
        text = f"{text} with subresource {quote(manager.subresource)}"
    if manager.operation == "Apply":
        return text
    return f"{text} using {manager.version}" + (f" at {time}" if time else "")
