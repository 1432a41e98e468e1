"""Faults: what goes wrong between a client and a server, on demand.

    env.faults.watch(Gadget).gone_once()
    env.faults.update(Gadget, "status").conflict(times=2)
    env.faults.list(Gadget).unavailable().latency(3)

Each strikes the next requests that it is for, so many times, and is then used up.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

from apimachinery.errors import (
    APIError,
    Conflict,
    Expired,
    Forbidden,
    InternalError,
    ServiceUnavailable,
    TooManyRequests,
)
from apimachinery.meta.types import Object
from apimachinery.schema import GroupResource
from client.transport.request import Request

ALWAYS: Final = -1


class Broken(Enum):
    """How a connection can fail."""

    REFUSED = "refused"
    """Nobody listens; the server never hears of the request."""
    LOST = "lost"
    """The server does what it was asked for, and the answer does not arrive."""
    CUT = "cut"
    """A stream breaks off."""
    ENDED = "ended"
    """A stream ends in the ordinary way, as servers end them from time to time."""


@dataclass(frozen=True, slots=True)
class Latency:
    """So many seconds go by before the server hears of the request."""

    seconds: float


Effect: TypeAlias = APIError | Broken | Latency
Made: TypeAlias = Callable[[Request], Effect]
"""Makes what strikes; errors name the object of the request."""


@dataclass(slots=True, eq=False)
class Fault:
    """One thing that goes wrong."""

    verb: str
    resource: GroupResource | None
    subresource: str
    make: Made
    left: int
    in_stream: bool
    """Whether it strikes an open stream and not the request for it."""
    after: int = 1
    """How many pieces of a stream are let through first."""

    def is_for(self, request: Request, subresource: str) -> bool:
        return (
            self.left != 0
            and self.verb in ("", request.verb)
            and self.resource in (None, request.resource)
            and self.subresource == subresource
        )

    def take(self, request: Request) -> Effect:
        """Let it strike once."""
        if self.left > 0:
            self.left -= 1
        return self.make(request)


@dataclass(slots=True)
class Faults:
    """What is going to go wrong."""

    resource_of: Callable[[type[Object]], GroupResource]
    planned: list[Fault] = field(default_factory=list)
    on_planned: Callable[[Fault], None] = lambda fault: None
    """Told of each, so that it can strike what is under way."""

    def get(self, cls: type[Object], subresource: str = "") -> "FaultTarget":
        return self.on("get", cls, subresource)

    def list(self, cls: type[Object]) -> "FaultTarget":
        return self.on("list", cls)

    def watch(self, cls: type[Object]) -> "FaultTarget":
        return self.on("watch", cls)

    def create(self, cls: type[Object], subresource: str = "") -> "FaultTarget":
        return self.on("create", cls, subresource)

    def update(self, cls: type[Object], subresource: str = "") -> "FaultTarget":
        return self.on("update", cls, subresource)

    def patch(self, cls: type[Object], subresource: str = "") -> "FaultTarget":
        """Patches of all kinds, apply among them."""
        return self.on("patch", cls, subresource)

    def delete(self, cls: type[Object]) -> "FaultTarget":
        return self.on("delete", cls)

    def on(
        self, verb: str, cls: type[Object] | None = None, subresource: str = ""
    ) -> "FaultTarget":
        """Requests with a verb, any if it is empty; for a class, or for anything."""
        return FaultTarget(self, verb, self.resource_of(cls) if cls else None, subresource)

    def clear(self) -> None:
        """Let everything go well from now on."""
        self.planned.clear()

    @property
    def pending(self) -> bool:
        """Whether something that should go wrong has not yet done so."""
        return any(fault.left > 0 for fault in self.planned)

    def striking(self, request: Request, *, in_stream: bool) -> Iterator[Fault]:
        """The faults for a request, in the order in which they were planned."""
        subresource = subresource_of(request)
        for fault in [*self.planned]:
            if fault.in_stream == in_stream and fault.is_for(request, subresource):
                yield fault


class FaultTarget:
    """Requests of one sort, and what shall happen to them; calls can be chained."""

    def __init__(
        self, faults: Faults, verb: str, resource: GroupResource | None, subresource: str
    ) -> None:
        self._faults = faults
        self._verb = verb
        self._resource = resource
        self._subresource = subresource

    def gone_once(self) -> "FaultTarget":
        """410: of a watch in mid-stream, of anything else as the answer."""
        return self.gone()

    def gone(self, *, times: int = 1) -> "FaultTarget":
        return self._plan(
            lambda _: Expired("too old resource version"), times, in_stream=self._is_watch
        )

    def conflict(self, *, times: int = 1) -> "FaultTarget":
        """409, as when somebody else was faster."""
        return self._plan(lambda req: Conflict.modified(req.resource, req.name), times)

    def forbidden(self, *, times: int = 1) -> "FaultTarget":
        return self._plan(
            lambda req: Forbidden.of(req.resource, req.name, "a fault of the test"), times
        )

    def unavailable(self, *, retry_after: int = 0, times: int = 1) -> "FaultTarget":
        """503; with *retry_after* seconds clients try again by themselves."""
        return self._plan(
            lambda _: ServiceUnavailable.of("a fault of the test", retry_after=retry_after), times
        )

    def too_many_requests(self, *, retry_after: int = 1, times: int = 1) -> "FaultTarget":
        return self._plan(
            lambda _: TooManyRequests.of("a fault of the test", retry_after=retry_after), times
        )

    def internal_error(self, *, times: int = 1) -> "FaultTarget":
        return self._plan(lambda _: InternalError.of("a fault of the test"), times)

    def error(self, error: APIError, *, times: int = 1) -> "FaultTarget":
        """Any error as the answer; of a watch, when it is opened."""
        return self._plan(lambda _: error, times)

    def latency(self, seconds: float, *, times: int = ALWAYS) -> "FaultTarget":
        """Let time go by before each request, by the clock of the test."""
        return self._plan(lambda _: Latency(seconds), times)

    def refuse(self, *, times: int = 1) -> "FaultTarget":
        return self._plan(lambda _: Broken.REFUSED, times)

    def lose(self, *, times: int = 1) -> "FaultTarget":
        """Have the server do it, and lose the answer."""
        return self._plan(lambda _: Broken.LOST, times)

    def cut(self, *, after: int = 1, times: int = 1) -> "FaultTarget":
        """Break off a stream: at once if one is open, else after so many pieces of the next."""
        return self._plan(lambda _: Broken.CUT, times, in_stream=True, after=after)

    def end(self, *, after: int = 1, times: int = 1) -> "FaultTarget":
        """End a stream in the ordinary way, in the same cases."""
        return self._plan(lambda _: Broken.ENDED, times, in_stream=True, after=after)

    @property
    def _is_watch(self) -> bool:
        return self._verb == "watch"

    def _plan(
        self, make: Made, times: int, *, in_stream: bool = False, after: int = 1
    ) -> "FaultTarget":
        if in_stream and not self._is_watch:
            raise ValueError("only a watch is a stream")
        fault = Fault(self._verb, self._resource, self._subresource, make, times, in_stream, after)
        self._faults.planned.append(fault)
        self._faults.on_planned(fault)
        return self


def subresource_of(request: Request) -> str:
    """What stands behind the name in the path of a request."""
    if not request.name:
        return ""
    last = request.path.rsplit("/", 1)[-1]
    parts = request.path.split("/")
    named = f"{request.resource.resource}"
    return last if named in parts and parts[-3] == named else ""
