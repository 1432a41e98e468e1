"""WriteRules: everything about a resource that creation, update and deletion depend on.

Each of them is a function of these rules, a request and an object, and independent of storage.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from random import Random
from typing import Any, Generic, Protocol, TypeVar, cast

from apimachinery.errors import MAX_CAUSES, Invalid
from apimachinery.fieldpath import FieldError, FieldErrors
from apimachinery.meta.metadata_validation import path_segment_name
from apimachinery.meta.types import Object, TypeMeta
from apimachinery.scalars.time import now
from apimachinery.schema import GroupKind, GroupResource
from apimachinery.scheme import Scheme
from apiserver.admission.chain import NO_ADMISSION, Attributes, Chain, Operation
from apiserver.context import RequestContext
from apiserver.managed_fields.admitted_owners import restore_damaged_owners
from apiserver.managed_fields.ownership import Ownership, Untracked
from apiserver.registry.allocation import Allocation, PendingReservations
from apiserver.registry.declared_fields import declared_errors
from apiserver.registry.identifiers import PooledRandom
from apiserver.registry.strategy import Strategy

T = TypeVar("T", bound=Object)
R = TypeVar("R")


class Replay(Protocol):
    """Runs pure steps of a write that need objects in other versions, where a webhook converts.

    A step cannot wait. One that lacks a conversion is run again once that has been made.
    """

    async def run(self, context: RequestContext, step: Callable[..., R], /, *args: Any) -> R:
        """Return the result of *step*, which may be called more than once with the same objects."""


@dataclass(frozen=True)
class WriteRules(Generic[T]):
    """The rules for every write of one resource."""

    resource: GroupResource
    kind: GroupKind
    strategy: Strategy[T]
    namespaced: bool = True
    has_status: bool = False
    ttl: Callable[[T], int | None] | None = None
    admission: Chain = NO_ADMISSION
    ownership: Ownership = field(default_factory=Untracked)
    now: Callable[[], datetime] = now
    random: Random = field(default_factory=PooledRandom)
    allocation: Allocation[T] | None = None
    """Reserves values outside of an object while it is written."""
    scheme: Scheme | None = None
    """Names the fields of errors in the version of the request; None leaves them as they are."""
    replay: "Replay | None" = None
    """Repeats steps that need conversions for which the server has to wait."""

    def namespace_of(self, context: RequestContext) -> str:
        return context.namespace if self.namespaced else ""

    def name_errors(self, name: str, prefix: bool) -> list[str]:
        """Return the errors of the strategy, else those of the rule for names in URLs."""
        return self.strategy.name_errors(name, prefix=prefix) or path_segment_name(name, prefix)

    def seconds_to_live(self, obj: T) -> int | None:
        return self.ttl(obj) if self.ttl else None

    def check(
        self,
        context: RequestContext,
        name: str,
        errors: Iterable[FieldError],
        declared: Iterable[FieldError] = (),
    ) -> None:
        """Raise Invalid if there are any errors, with paths of the internal object.

        The client reads the paths of the version of its request, which those of *declared* are
        already. Of these, only the first for each path is reported, and none for a path that has
        an error: validation by the strategy has the exact message.
        """
        limit = MAX_CAUSES + 1
        found = [self._in_version(context, error) for error in islice(errors, limit)]
        reported = {error.field for error in found}
        for error in declared if len(found) < limit else ():
            if error.field not in reported:
                reported.add(error.field)
                found.append(error)
        if found:
            raise Invalid.of(self.kind, name, found)

    def declared_errors(self, context: RequestContext, new: T, old: T | None) -> FieldErrors:
        """Yield the errors of rules that fields declare; for the status, those in it only."""
        if self.scheme is None:
            return
        kind = context.resource.group_version.with_kind(self.kind.kind)
        only = "status" if context.subresource == "status" else ""
        yield from declared_errors(self.scheme, kind, new, old, only=only)

    async def reserve(
        self, pending: PendingReservations, new: T, old: T | None, *, dry_run: bool
    ) -> None:
        """Reserve what an object needs outside of itself, and have *pending* hold it."""
        if self.allocation is not None:
            reservation = await self.allocation.reserve(new, old, dry_run=dry_run)
            if reservation is not None:
                pending.hold(reservation)

    async def release(self, removed: T) -> None:
        """Release what a removed object had reserved."""
        if self.allocation is not None:
            await self.allocation.release(removed)

    def warn(self, context: RequestContext, obj: T, old: T | None) -> None:
        for text in self.strategy.warnings(obj, old):
            context.warn(text)

    async def mutate(
        self,
        operation: Operation,
        context: RequestContext,
        obj: Any,
        *,
        old: Any = None,
        options: TypeMeta | None = None,
    ) -> T:
        """Run mutating admission and return the resulting object."""
        if not self.admission.mutating:
            return cast(T, obj)
        attributes = Attributes(context, operation, self.kind, obj, old, options)
        owners = obj.metadata.managed_fields if isinstance(obj, Object) else []
        await self.admission.mutate(attributes)
        if attributes.object is not obj:
            restore_damaged_owners(context, attributes.object, owners)
        return cast(T, attributes.object)

    async def admit(
        self,
        operation: Operation,
        context: RequestContext,
        obj: T | None,
        *,
        old: T | None = None,
        options: TypeMeta | None = None,
        pending: PendingReservations | None = None,
    ) -> None:
        """Run validating admission; *pending* holds what its functions reserve."""
        if self.admission.validating:
            await self.admission.validate(
                Attributes(context, operation, self.kind, obj, old, options, pending)
            )

    def _in_version(self, context: RequestContext, error: FieldError) -> FieldError:
        version = context.resource.group_version
        kind = version.with_kind(self.kind.kind)
        # A group over the objects of another has a strategy of its own, which names the fields.
        if self.scheme is None or version.group != self.kind.group:
            return error
        if not self.scheme.recognizes(kind):
            return error
        return replace(error, field=self.scheme.field_path(self.scheme.class_of(kind), error.field))
