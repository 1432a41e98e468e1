"""Deadlines: end requests and pauses that take too long, with one timer for all of them.

`asyncio.timeout` sets and cancels a timer for each request, which costs more than routing it. Here
a request only notes when it has to end, and the timer of the earliest one looks for all that are
late. Nearly all have ended by then.
"""

import asyncio
from math import inf
from typing import Protocol


class Expiring(Protocol):
    """What is told when it is late."""

    at: float
    """When it expires, by the clock of the event loop."""

    def expire(self) -> None:
        """React to being late. It is forgotten already, and may be noted again."""


class Deadlines:
    """The deadlines of the requests of one event loop."""

    def __init__(self) -> None:
        self._pending: dict[Expiring, None] = {}
        self._next = inf
        """When the timer runs."""

    def begin(self, seconds: float) -> "Deadline":
        """Cancel the current task in *seconds*, unless the deadline is ended before."""
        task = asyncio.current_task()
        assert task is not None
        deadline = Deadline(self, task)
        self.note(deadline, seconds)
        return deadline

    def note(self, deadline: Expiring, seconds: float) -> None:
        """Let a deadline expire in *seconds*."""
        loop = asyncio.get_running_loop()
        at = deadline.at = loop.time() + seconds
        self._pending[deadline] = None
        if at < self._next:
            # A timer that is set already runs in vain, and sets none.
            self._next = at
            loop.call_at(at, self._expire, loop, at)

    def forget(self, deadline: Expiring) -> None:
        self._pending.pop(deadline, None)

    def _expire(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        if due != self._next:
            return
        for deadline in [each for each in self._pending if each.at <= due]:
            self.forget(deadline)
            deadline.expire()
        self._next = min((each.at for each in self._pending), default=inf)
        if self._next < inf:
            loop.call_at(self._next, self._expire, loop, self._next)


class Deadline:
    """The deadline of one task."""

    __slots__ = ("_cancelled_before", "_deadlines", "_task", "at", "expired")

    def __init__(self, deadlines: Deadlines, task: "asyncio.Task[object]") -> None:
        self._deadlines = deadlines
        self._task = task
        self._cancelled_before = task.cancelling()
        self.at = inf
        """When it expires, by the clock of the event loop."""
        self.expired = False

    def expire(self) -> None:
        """Cancel the task now."""
        self._deadlines.forget(self)
        if not self.expired:
            self.expired = True
            self._task.cancel()

    def postpone(self, seconds: float) -> None:
        """Let the task go on for *seconds* from now, unless it is cancelled already."""
        if not self.expired:
            self._deadlines.note(self, seconds)

    def end(self) -> bool:
        """Forget the deadline; return whether it alone has cancelled the task. May be repeated."""
        self._deadlines.forget(self)
        if not self.expired:
            return False
        self.expired = False
        return self._task.uncancel() <= self._cancelled_before
