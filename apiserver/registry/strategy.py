"""Strategy: the rules of one kind, in the order in which a write applies them.

The defaults suit a kind with a spec and a status, so the strategy of a simple kind is only its
`validate`. Strategies see internal objects, have no state and do not wait.
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Generic, TypeVar

from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import Object

T = TypeVar("T", bound=Object)


class Strategy(Generic[T]):
    """How objects of a kind are named, prepared, validated and deleted."""

    accepts_status_on_create = False
    """Whether a new object may have a status; otherwise it is reset."""
    allow_create_on_update = False
    """Whether a PUT creates a missing object."""
    allow_unconditional_update = True
    """Whether a PUT without a resourceVersion replaces the current object."""
    collects_garbage = True
    """Whether orphan and foreground deletion add their finalizers to the object."""
    ratchets = True
    """Whether the errors that an object has already do not refuse an update of it."""
    validates_conditions = False
    """Whether the rules of a status cover its conditions: what their fields refuse is left to them,
    so that all errors are reported."""
    orphans_by_default = False
    """Whether a deletion without a propagation policy orphans the dependents."""
    reset_fields: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Subresource, or "" for the object itself -> dotted wire paths of the fields that writes to it
    do not change, so that no field manager owns them. By default the usual ones of kinds with a
    status."""
    qualified_finalizers = False
    """Whether a finalizer without a domain must be one of Kubernetes' own."""
    deletion_warning = ""
    """A warning for deletions that do not say what becomes of the dependents."""
    returns_deleted_object = False
    """Whether DELETE responds with the object instead of a Status."""
    documents_deleted_object = True
    """Whether OpenAPI says so, if DELETE responds with the object. Kubernetes documents a Status
    for namespaces and definitions."""
    keeps_status = True
    """Whether an update of the object keeps the status of the stored one."""
    status_updates_metadata = False
    """Whether an update of the status may change metadata, too, such as annotations."""

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Return the errors of a name, or of the prefix of a generated name."""
        return dns_subdomain_name(name, prefix)

    def prepare_for_create(self, obj: T, /) -> None:
        """Reset the fields that clients may not set; the status is reset before this."""

    def prepare_for_update(self, new: T, old: T, /) -> None:
        """Restore the fields that clients may not change; the status is restored before this."""

    def prepare_for_status_update(self, new: T, old: T, /) -> None:
        """Restore the fields of the status that clients may not change."""

    def prepare_for_deletion(self, obj: T, /) -> None:
        """Set fields that show termination beside the metadata, such as a namespace's phase."""

    def validate(self, obj: T, /) -> FieldErrors:
        """Yield the errors of an object; the registry validates the metadata."""
        yield from ()

    def validate_update(self, new: T, old: T, /) -> FieldErrors:
        """Yield the errors of a change; by default those of the new object."""
        yield from self.validate(new)

    def validate_status_update(self, new: T, old: T, /) -> FieldErrors:
        """Yield the errors of a change of the status."""
        yield from ()

    def effort(self, obj: T, /) -> int:
        """Return how many values a write of *obj* processes that its documents do not have.

        A write with many values is completed in another thread (`apiserver.workload`).
        """
        return 0

    def warnings(self, obj: T, old: T | None = None, /) -> Iterable[str]:
        """Return warnings for the client about an object that is accepted."""
        return ()

    def desired_state(self, obj: T, /) -> object:
        """Return the part whose change increments the generation; None for kinds without one."""
        return getattr(obj, "spec", None)

    def grace_period(self, obj: T, options: DeleteOptions, /) -> int | None:
        """Return the grace period of a deletion in seconds; None for kinds without one."""
        return None

    def may_be_removed(self, obj: T, /) -> bool:
        """Return whether a terminating object without finalizers may be removed from storage."""
        return True
