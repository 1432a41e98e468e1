"""Admitted owners: managedFields as mutating admission leaves them.

Webhooks and policies may return them damaged. They could not be read when the object is applied
later, so the write continues with those that it had before.
"""

from typing import Any, Final

from apimachinery.apply import managed_fields
from apimachinery.apply.apply_errors import InvalidManagedFields
from apimachinery.meta.types import ManagedFieldsEntry, Object
from apiserver.context import RequestContext
from apiserver.managed_fields.field_tracking import owner_entries

_WARNING: Final = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an"
    " outdated mutating admission controller; please fix your requests: "
)


def restore_damaged_owners(
    context: RequestContext, new: Any, before: list[ManagedFieldsEntry]
) -> None:
    """Set the managedFields of *new* to those *before* admission, with a warning, if damaged."""
    if not isinstance(new, Object) or new.metadata.managed_fields == before:
        return
    try:
        managed_fields.decode(owner_entries(new))
    except InvalidManagedFields as error:
        new.metadata.managed_fields = before
        context.warn(f"{_WARNING}{error}")
