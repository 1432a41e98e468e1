"""Allocation: values that an object reserves outside of itself, such as the address of a service.

Values are reserved before the object is validated and stored, and given back if that fails. A
server that stops in between leaves a reservation without an object, so every allocation needs
something that repairs it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Self, TypeVar

from apimachinery.errors import APIError
from apimachinery.meta.types import Object
from apiserver.storage.interface import Unavailable

T = TypeVar("T", bound=Object)


@dataclass(frozen=True, slots=True)
class Reservation:
    """What one write has reserved; exactly one of the two functions is called."""

    commit: Callable[[], Awaitable[None]]
    """Releases what the object had and no longer has, after it is stored."""
    revert: Callable[[], Awaitable[None]]
    """Releases what is reserved for an object that is not stored."""


class Allocation(Generic[T]):
    """Reserves and releases the values of a kind. By default there is nothing to reserve."""

    async def reserve(self, new: T, old: T | None, /, *, dry_run: bool) -> Reservation | None:
        """Reserve what *new* needs and *old* does not have, and fill it in.

        Raises an APIError if it cannot be reserved. With *dry_run* nothing may be reserved.
        """
        return None

    async def release(self, removed: T, /) -> None:
        """Release everything that an object had reserved when it was removed."""


class PendingReservations:
    """The reservations of a write that is under way, as a context manager around the write.

    A write that is tried again on a newer object begins by reverting those of the attempt before.
    """

    def __init__(self) -> None:
        self.held: list[Reservation] = []

    def hold(self, reservation: Reservation) -> None:
        """Commit or revert *reservation* when the outcome of the write is known."""
        self.held.append(reservation)

    async def revert(self) -> None:
        """Revert everything, the last reservation first."""
        while self.held:
            await self.held.pop().revert()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            await self._commit()
        elif _was_refused(error):
            await self.revert()

    async def _commit(self) -> None:
        """Commit every reservation, also if that fails for one of them; raise the first error."""
        failures = []
        for reservation in self.held:
            try:
                await reservation.commit()
            except Exception as error:
                failures.append(error)
        if failures:
            raise failures[0]


def _was_refused(error: BaseException) -> bool:
    """Return whether a write failed for certain.

    After a lost connection to the store, or when the request is cancelled, the object may have been
    stored: then the reservation stays, and is repaired if need be.
    """
    cause = error.__cause__
    uncertain = isinstance(cause, Unavailable) and cause.uncertain
    return isinstance(error, APIError) and not uncertain
