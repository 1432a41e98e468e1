"""Strategy: what is particular to one kind, in the order a write asks for it.

The defaults suit a kind with a spec and a status, so the strategy of a simple kind is only its
`validate`. Strategies see internal objects, own no state, and do not wait.
"""

from collections.abc import Iterable
from typing import Generic, TypeVar

from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import Object

T = TypeVar("T", bound=Object)


class Strategy(Generic[T]):
    """How objects of a kind are named, prepared, validated and deleted."""

    allow_create_on_update = False
    """A PUT to a name that does not exist creates it."""
    allow_unconditional_update = True
    """A PUT without a resourceVersion replaces whatever there is."""
    collects_garbage = True
    """Orphan and foreground deletion leave their finalizers on the object."""
    orphans_by_default = False
    """A deletion that says nothing about dependents leaves them without an owner."""
    returns_deleted_object = False
    """DELETE answers with the object instead of a Status."""

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """What is wrong with a name, or with a prefix that a name will be made from."""
        return dns_subdomain_name(name, prefix)

    def prepare_for_create(self, obj: T, /) -> None:
        """Drop or set what a client may not decide. The status is dropped before this."""

    def prepare_for_update(self, new: T, old: T, /) -> None:
        """Keep or set what a client may not decide. The status is kept before this."""

    def prepare_for_deletion(self, obj: T, /) -> None:
        """Set what shows that the object is going, beside its metadata (a namespace's phase)."""

    def validate(self, obj: T, /) -> FieldErrors:
        """Everything wrong with an object; metadata is validated for every kind."""
        yield from ()

    def validate_update(self, new: T, old: T, /) -> FieldErrors:
        """Everything wrong with a change; by default, with its result."""
        yield from self.validate(new)

    def validate_status_update(self, new: T, old: T, /) -> FieldErrors:
        """Everything wrong with a change of the status."""
        yield from ()

    def warnings(self, obj: T, old: T | None = None, /) -> Iterable[str]:
        """What a client should know about an object that is accepted all the same."""
        return ()

    def desired_state(self, obj: T, /) -> object:
        """The part whose change raises the generation; None for a kind without generations."""
        return getattr(obj, "spec", None)

    def grace_period(self, obj: T, options: DeleteOptions, /) -> int | None:
        """Seconds a deletion waits for; None for a kind that has no graceful deletion."""
        return None

    def may_be_removed(self, obj: T, /) -> bool:
        """Whether a terminating object without finalizers may go (a namespace must be empty)."""
        return True
