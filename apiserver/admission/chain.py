"""Admission: functions that may modify or reject a write that is otherwise allowed.

First the mutating functions run, each on the object that the previous one left; then, when the
object is as it will be stored, the validating functions, which may only reject it. They are
functions of `Attributes`, async or not. They reject by raising an APIError, usually
`attributes.forbidden("reason")`. A group can have functions for its own resources, and named
plugins for those of every group (`plugins.py`).

A mutating function may ask for the mutating functions to run once more, because it has changed what
earlier ones have looked at (`Attributes.reinvocation`). All of them run again then, and decide what
is still to be done.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from inspect import isawaitable
from typing import Any, Final, TypeAlias

from apimachinery.errors import Forbidden
from apimachinery.meta.status import StatusCause
from apimachinery.meta.types import Object, TypeMeta
from apimachinery.schema import GroupKind, GroupResource
from apiserver.auth.user import User
from apiserver.context import RequestContext
from apiserver.registry.allocation import PendingReservations, Reservation


class Operation(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(slots=True)
class Reinvocation:
    """What mutating functions remember between their first run for a write and the second."""

    wanted: bool = False
    """Whether to run all of them once more."""
    running: bool = False
    """Whether this is the second run."""
    notes: dict[str, Any] = field(default_factory=dict)
    """What plugins remember, by their names."""


@dataclass(slots=True)
class Attributes:
    """The write to admit. A mutating function may modify *object* or replace it.

    *object* is None for a deletion, *old_object* for a creation.
    """

    context: RequestContext
    operation: Operation
    kind: GroupKind
    object: Object | None = None
    old_object: Object | None = None
    options: TypeMeta | None = None
    pending: PendingReservations | None = None
    """What is reserved for the write; None for mutating functions and deletions."""
    _reinvocation: Reinvocation | None = None

    @property
    def reinvocation(self) -> Reinvocation:
        if self._reinvocation is None:
            self._reinvocation = Reinvocation()
        return self._reinvocation

    @property
    def wants_reinvocation(self) -> bool:
        return self._reinvocation is not None and self._reinvocation.wanted

    @property
    def resource(self) -> GroupResource:
        return self.context.resource.group_resource

    @property
    def subresource(self) -> str:
        return self.context.subresource

    @property
    def namespace(self) -> str:
        return self.context.namespace

    @property
    def name(self) -> str:
        """The name of the object; empty while it is still to be generated."""
        obj = self.object or self.old_object
        return self.context.name or (obj.metadata.name if obj else "")

    @property
    def user(self) -> User:
        return self.context.user

    @property
    def dry_run(self) -> bool:
        return self.context.dry_run or bool(getattr(self.options, "dry_run", ()))

    def warn(self, text: str) -> None:
        self.context.warn(text)

    def hold(self, reservation: Reservation) -> None:
        """Commit *reservation* when the object is stored, or revert it when it is refused.

        For validating functions of a creation or an update.
        """
        assert self.pending is not None, "only the validation of an object can reserve"
        self.pending.hold(reservation)

    def forbidden(self, reason: str, *, causes: Iterable[StatusCause] = ()) -> Forbidden:
        """Return the error to raise for a write that is rejected."""
        return Forbidden.of(self.resource, self._display_name(), reason, causes=causes)

    def _display_name(self) -> str:
        if self.name:
            return self.name
        return (self.object.metadata.generate_name if self.object else "") or "Unknown"


Plugin: TypeAlias = Callable[[Attributes], Awaitable[None] | None]


class Chain:
    """The admission functions of one resource, in order."""

    def __init__(
        self, *, mutating: Sequence[Plugin] = (), validating: Sequence[Plugin] = ()
    ) -> None:
        self.mutating = tuple(mutating)
        self.validating = tuple(validating)

    async def mutate(self, attributes: Attributes) -> None:
        """Run the mutating functions; the first that rejects the write ends it."""
        await _run(self.mutating, attributes)
        if attributes.wants_reinvocation:
            attributes.reinvocation.running = True
            await _run(self.mutating, attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Run the validating functions on the object as it will be stored."""
        await _run(self.validating, attributes)


async def _run(plugins: Sequence[Plugin], attributes: Attributes) -> None:
    for plugin in plugins:
        result = plugin(attributes)
        if isawaitable(result):
            await result


NO_ADMISSION: Final = Chain()
