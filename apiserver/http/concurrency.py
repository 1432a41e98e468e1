"""Concurrency: the interface by which requests get the server's permission to be executed.

A request takes its seat when it has been authenticated, authorized and, if it is a write, read: a
client that sends its body slowly keeps nobody waiting. There are two implementations: `InFlight`
limits count reads and writes, and `apiserver.fairness` gives each flow of requests its share.
"""

from typing import TYPE_CHECKING, Final, Protocol

from apiserver.auth.user import MASTERS, User
from apiserver.http.request_limits import Limits, RequestCount

if TYPE_CHECKING:
    from apiserver.http.exchange import Exchange

HEALTH: Final = ("/healthz", "/livez", "/readyz")


class Overloaded(Exception):
    """Too many requests are executed; the client should try again after *seconds*."""

    def __init__(self, seconds: int = 1) -> None:
        super().__init__("Too many requests, please try again later.")
        self.seconds = seconds


class Seat(Protocol):
    """The place of one request among those that are executed."""

    schema_uid: str
    """The UID of the flow schema that matches the request, empty if there is none."""
    level_uid: str

    def take(self) -> bool:
        """Take the seat; return False if the request has to wait for it. Raises Overloaded."""

    async def wait(self, seconds: float) -> None:
        """Wait for the seat, at most *seconds*. Raises Overloaded."""

    def release(self) -> None:
        """Give the seat back, or stop waiting for it; may be repeated."""


class Concurrency(Protocol):
    """Decides how many requests are executed at once, and in which order."""

    @property
    def is_current(self) -> bool:
        """Whether the configuration is up to date."""

    async def catch_up(self) -> None:
        """Bring the configuration up to date."""

    def seat_for(self, exchange: "Exchange") -> Seat:
        """Return the seat of an authenticated request, which has not taken it yet."""


class InFlightLimits:
    """Limits the numbers of reads and of writes; what exceeds them is rejected at once.

    Members of `system:masters` and health checks are not limited.
    """

    is_current = True

    def __init__(self, limits: Limits) -> None:
        self._reads = InFlight(limits.reads)
        self._writes = InFlight(limits.writes)

    async def catch_up(self) -> None:
        return None

    def seat_for(self, exchange: "Exchange") -> Seat:
        info = exchange.info
        if info.verb == "watch" or _is_exempt(exchange.user, info.path):
            return InFlightSeat(None)
        return InFlightSeat(self._writes if info.mutates else self._reads)


class InFlight(RequestCount):
    """Counts requests up to a maximum."""

    def __init__(self, maximum: int) -> None:
        super().__init__()
        self._maximum = maximum

    @property
    def is_full(self) -> bool:
        return self.value >= self._maximum


class InFlightSeat:
    """A seat that is counted by *count*, or not at all."""

    __slots__ = ("_count", "_taken", "level_uid", "schema_uid")

    def __init__(self, count: InFlight | None) -> None:
        self._count = count
        self._taken = False
        self.schema_uid = self.level_uid = ""

    def take(self) -> bool:
        count = self._count
        if count is not None:
            if count.is_full:
                raise Overloaded
            count.enter()
            self._taken = True
        return True

    async def wait(self, seconds: float) -> None:
        raise AssertionError("a seat that is counted is taken at once or not at all")

    def release(self) -> None:
        if self._taken and self._count is not None:
            self._taken = False
            self._count.leave()


def _is_exempt(user: User, path: str) -> bool:
    return MASTERS in user.groups or path.startswith(HEALTH)
