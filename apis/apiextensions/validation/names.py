"""Validation of the names of a definition; apart, because the server needs them at its start."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apimachinery.names import is_dns1035_label
from apis.apiextensions.v1 import CustomResourceDefinitionNames

APPROVED: Final = "api-approved.kubernetes.io"
"""The annotation that a definition in a group of Kubernetes must have."""

_MIXED_CASE = "may have mixed case, but should otherwise match: "


def validate_names(names: CustomResourceDefinitionNames, path: Path) -> FieldErrors:
    for wire, name in (("plural", names.plural), ("singular", names.singular)):
        if name and (problems := is_dns1035_label(name)):
            yield invalid(path.child(wire), name, ",".join(problems))
    for wire, name in (("kind", names.kind), ("listKind", names.list_kind)):
        if name and (problems := is_dns1035_label(name.lower())):
            yield invalid(path.child(wire), name, _MIXED_CASE + ",".join(problems))
    yield from _validate_labels(names.short_names, path.child("shortNames"))
    if names.kind and names.kind == names.list_kind:
        rule = "kind and listKind may not be the same"
        yield invalid(path.child("listKind"), names.list_kind, rule)
    yield from _validate_labels(names.categories, path.child("categories"))


def _validate_labels(labels: list[str], path: Path) -> FieldErrors:
    for position, label in enumerate(labels):
        if problems := is_dns1035_label(label):
            yield invalid(path.index(position), label, ",".join(problems))


def is_protected(group: str) -> bool:
    """Return whether a group belongs to Kubernetes (`*.k8s.io`, `*.kubernetes.io`)."""
    return f".{group}".endswith((".k8s.io", ".kubernetes.io"))
