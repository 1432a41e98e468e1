"""Faults: errors, latency and broken connections between a client and a server, on demand.

    env.faults.watch(Gadget).gone_once()
    env.faults.update(Gadget, "status").conflict(times=2)
    env.faults.list(Gadget).unavailable().latency(3)

Each applies to the next matching requests, a given number of times.
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


class ConnectionFault(Enum):
    """The ways in which a connection can fail."""

    REFUSED = "refused"
    """The connection is refused; the request does not reach the server."""
    LOST = "lost"
    """The server handles the request, and the response does not arrive."""
    CUT = "cut"
    """A stream is cut off."""
    ENDED = "ended"
    """A stream ends normally, as servers end watches from time to time."""


@dataclass(frozen=True, slots=True)
class Latency:
    """The request is delayed by *seconds* on its way to the server."""

    seconds: float


Effect: TypeAlias = APIError | ConnectionFault | Latency
EffectFactory: TypeAlias = Callable[[Request], Effect]
"""Returns the effect on a request, so that errors name its object."""


@dataclass(slots=True, eq=False)
class Fault:
    """One planned fault: the requests it matches, its effect, and how often it applies."""

    verb: str
    resource: GroupResource | None
    subresource: str
    make: EffectFactory
    left: int
    in_stream: bool
    """Whether it applies to an open stream, not to the request that opens it."""
    after: int = 1
    """Chunks of a stream that pass before the fault applies."""

    def matches(self, request: Request, subresource: str) -> bool:
        return (
            self.left != 0
            and self.verb in ("", request.verb)
            and self.resource in (None, request.resource)
            and self.subresource == subresource
        )

    def consume(self, request: Request) -> Effect:
        """Count one application of the fault and return its effect."""
        if self.left > 0:
            self.left -= 1
        return self.make(request)


@dataclass(slots=True)
class Faults:
    """The planned faults of an environment, and the methods that plan them."""

    resource_of: Callable[[type[Object]], GroupResource]
    planned: list[Fault] = field(default_factory=list)
    on_planned: Callable[[Fault], None] = lambda fault: None
    """Called with each new fault, so that it can apply to streams that are open."""

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
        """Match patches of all kinds, including apply."""
        return self.on("patch", cls, subresource)

    def delete(self, cls: type[Object]) -> "FaultTarget":
        return self.on("delete", cls)

    def on(
        self, verb: str, cls: type[Object] | None = None, subresource: str = ""
    ) -> "FaultTarget":
        """Match requests by verb (any, if empty), class (any, if None) and subresource."""
        return FaultTarget(self, verb, self.resource_of(cls) if cls else None, subresource)

    def clear(self) -> None:
        """Cancel all planned faults."""
        self.planned.clear()

    @property
    def pending(self) -> bool:
        """Whether a planned fault has not yet applied as often as planned."""
        return any(fault.left > 0 for fault in self.planned)

    def matching(self, request: Request, *, in_stream: bool) -> Iterator[Fault]:
        """Yield the faults that match a request, in the order in which they were planned."""
        subresource = subresource_of(request)
        for fault in [*self.planned]:
            if fault.in_stream == in_stream and fault.matches(request, subresource):
                yield fault


class FaultTarget:
    """The requests that faults are planned for; every method plans one and can be chained."""

    def __init__(
        self, faults: Faults, verb: str, resource: GroupResource | None, subresource: str
    ) -> None:
        self._faults = faults
        self._verb = verb
        self._resource = resource
        self._subresource = subresource

    def gone_once(self) -> "FaultTarget":
        """Respond with 410 once; end a watch with it in mid-stream."""
        return self.gone()

    def gone(self, *, times: int = 1) -> "FaultTarget":
        return self._plan(
            lambda _: Expired("too old resource version"), times, in_stream=self._is_watch
        )

    def conflict(self, *, times: int = 1) -> "FaultTarget":
        """Respond with 409, as after a concurrent write."""
        return self._plan(lambda req: Conflict.modified(req.resource, req.name), times)

    def forbidden(self, *, times: int = 1) -> "FaultTarget":
        return self._plan(
            lambda req: Forbidden.of(req.resource, req.name, "a fault of the test"), times
        )

    def unavailable(self, *, retry_after: int = 0, times: int = 1) -> "FaultTarget":
        """Respond with 503; with *retry_after* seconds, clients retry by themselves."""
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
        """Respond with any error; for a watch, when it is opened."""
        return self._plan(lambda _: error, times)

    def latency(self, seconds: float, *, times: int = ALWAYS) -> "FaultTarget":
        """Delay each request, by the clock of the test."""
        return self._plan(lambda _: Latency(seconds), times)

    def refuse(self, *, times: int = 1) -> "FaultTarget":
        return self._plan(lambda _: ConnectionFault.REFUSED, times)

    def lose(self, *, times: int = 1) -> "FaultTarget":
        """Let the server handle the request, and lose the response."""
        return self._plan(lambda _: ConnectionFault.LOST, times)

    def cut(self, *, after: int = 1, times: int = 1) -> "FaultTarget":
        """Cut off the open streams at once, or the next one after so many chunks."""
        return self._plan(lambda _: ConnectionFault.CUT, times, in_stream=True, after=after)

    def end(self, *, after: int = 1, times: int = 1) -> "FaultTarget":
        """End the open streams normally at once, or the next one after so many chunks."""
        return self._plan(lambda _: ConnectionFault.ENDED, times, in_stream=True, after=after)

    @property
    def _is_watch(self) -> bool:
        return self._verb == "watch"

    def _plan(
        self, make: EffectFactory, times: int, *, in_stream: bool = False, after: int = 1
    ) -> "FaultTarget":
        if in_stream and not self._is_watch:
            raise ValueError(f"{self._verb or 'any verb'}: only a watch has a stream to cut or end")
        fault = Fault(self._verb, self._resource, self._subresource, make, times, in_stream, after)
        self._faults.planned.append(fault)
        self._faults.on_planned(fault)
        return self


def subresource_of(request: Request) -> str:
    """Return the path segment after the object's name, empty if there is none."""
    if not request.name:
        return ""
    segments = request.path.split("/")
    plural = request.resource.resource
    return segments[-1] if plural in segments and segments[-3] == plural else ""
