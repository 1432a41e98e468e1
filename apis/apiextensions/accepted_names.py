"""Accepted names: grant a definition the names that no other definition of its group has."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from apis.apiextensions.conditions import (
    APPROVAL,
    ESTABLISHED,
    NAMES_ACCEPTED,
    find,
    is_true,
    set_condition,
)
from apis.apiextensions.v1 import (
    CustomResourceDefinition,
    CustomResourceDefinitionCondition,
    CustomResourceDefinitionNames,
)
from apis.apiextensions.validation.names import APPROVED, is_protected

_ACCEPTED: Final = "the initial names have been accepted"


def is_settled(definition: CustomResourceDefinition) -> bool:
    """Return whether all names are accepted, so that other definitions need not be compared."""
    return (
        is_true(definition, NAMES_ACCEPTED)
        and is_true(definition, ESTABLISHED)
        and definition.status.accepted_names == definition.spec.names
        and not is_protected(definition.spec.group)
    )


def settle_names(
    definition: CustomResourceDefinition,
    others: Iterable[CustomResourceDefinition],
    now: datetime,
) -> bool:
    """Accept the names that are free; return whether the status has changed."""
    names, conflict = _accept_names(definition, others)
    before = definition.status.deep_copy()
    definition.status.accepted_names = names
    set_condition(definition, conflict or _NO_CONFLICT, now)
    if not is_true(definition, ESTABLISHED):
        accepted = conflict is None
        set_condition(definition, _IS_ESTABLISHED if accepted else _NOT_ESTABLISHED, now)
    _set_approval(definition, now)
    return definition.status != before


_NO_CONFLICT: Final = CustomResourceDefinitionCondition(
    type=NAMES_ACCEPTED, status="True", reason="NoConflicts", message="no conflicts found"
)
_IS_ESTABLISHED: Final = CustomResourceDefinitionCondition(
    type=ESTABLISHED, status="True", reason="InitialNamesAccepted", message=_ACCEPTED
)
_NOT_ESTABLISHED: Final = CustomResourceDefinitionCondition(
    type=ESTABLISHED, status="False", reason="NotAccepted", message="not all names are accepted"
)


def _accept_names(
    definition: CustomResourceDefinition, others: Iterable[CustomResourceDefinition]
) -> tuple[CustomResourceDefinitionNames, CustomResourceDefinitionCondition | None]:
    resources, kinds = _names_in_use(definition, others)
    requested, names = definition.spec.names, definition.status.accepted_names.deep_copy()
    conflict: CustomResourceDefinitionCondition | None = None
    for attribute, reason, in_use in (
        ("plural", "PluralConflict", resources),
        ("singular", "SingularConflict", resources),
        ("short_names", "ShortNamesConflict", resources),
        ("kind", "KindConflict", kinds),
        ("list_kind", "ListKindConflict", kinds),
    ):
        value = getattr(requested, attribute)
        candidates = value if isinstance(value, list) else [value]
        conflicts = [f'"{name}" is already in use' for name in candidates if name in in_use]
        if conflicts:
            conflict = CustomResourceDefinitionCondition(
                type=NAMES_ACCEPTED,
                status="False",
                reason=reason,
                message=conflicts[0] if len(conflicts) == 1 else f"[{', '.join(conflicts)}]",
            )
        else:
            setattr(names, attribute, list(value) if isinstance(value, list) else value)
    names.categories = list(requested.categories)
    return names, conflict


def _names_in_use(
    definition: CustomResourceDefinition, others: Iterable[CustomResourceDefinition]
) -> tuple[set[str], set[str]]:
    """Return the resource names and the kind names of other definitions of the group."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        same = other.metadata.name == definition.metadata.name
        if same or other.spec.group != definition.spec.group:
            continue
        names = other.status.accepted_names
        resources |= {names.plural, names.singular, *names.short_names}
        kinds |= {names.kind, names.list_kind}
    return resources - {""}, kinds - {""}


def _set_approval(definition: CustomResourceDefinition, now: datetime) -> None:
    """Set the approval condition of a definition in one of Kubernetes' own groups."""
    if not is_protected(definition.spec.group):
        return
    approval = definition.metadata.annotations.get(APPROVED, "")
    if not approval and find(definition, APPROVAL) is None:
        return
    approved = approval.startswith(("http://", "https://"))
    message = f"approved in {approval}" if approved else f'not approved: "{approval}"'
    set_condition(
        definition,
        CustomResourceDefinitionCondition(
            type=APPROVAL,
            status="True" if approved else "False",
            reason="ApprovedAnnotation" if approved else "UnapprovedAnnotation",
            message=message,
        ),
        now,
    )
