"""Workload: how much a request computes, and therefore where it computes it.

One event loop serves all clients of a worker, so no request may hold it for long. The pure steps of
a request (decode, patch, track owners, validate, encode) cost time in proportion to the number of
values in its documents. For nearly all requests that is a fraction of a millisecond, and they run
where they are called. The steps of a request with large documents run in one background thread.

One thread is enough: threads share Python's interpreter lock, so a second one would not compute
faster, but would delay the event loop. Users take turns, so that one with many large documents does
not keep the others waiting. The queue needs no bound of its own: every waiting step belongs to a
request that has been admitted.
"""

import asyncio
import gc
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Final, ParamSpec, TypeVar

from apimachinery.lenient.young_objects import FROZEN_OBJECTS
from apimachinery.serialization.document_size import count_values
from apimachinery.serialization.media_types import JSON, YAML

P = ParamSpec("P")
R = TypeVar("R")

LIGHT_BYTES: Final = 16 * 1024
"""A request whose documents are smaller is never heavy; their values are not counted."""
LIGHT_VALUES: Final = 2_000
"""The number of values up to which the steps of a request run on the event loop."""
YAML_COST: Final = 8
"""How much more a value costs in YAML than in JSON."""
YAML_BYTES: Final = 100
"""The characters of a long string in YAML that cost as much as a value."""
SWITCH_SECONDS: Final = 0.0002
"""How long the thread keeps the interpreter lock that the event loop waits for.

The event loop gives up the lock in every system call, and waits this long to get it back. Python's
default of 5 ms would cost each request several times that. It applies to the whole process, from
the first heavy step on.
"""


class HeavyThread:
    """Runs one step at a time in a background thread, in turns by user."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(
            1,
            thread_name_prefix="heavy",
            initializer=sys.setswitchinterval,
            initargs=(SWITCH_SECONDS,),
        )
        self._busy = False
        self._closed = False
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """The steps that wait, by user; the user at the front is next."""

    async def run(
        self, user: str, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Return the result of *function*, or raise its exception, when it is the user's turn."""
        if self._busy:
            await self._turn(user)
        if self._closed:
            # A watch that ends with the server may still have something to send.
            self._pass_on()
            return function(*args, **kwargs)
        self._busy = True
        step = partial(copy_context().run, partial(function, *args, **kwargs))
        job = self._executor.submit(without_collection, step)
        loop = asyncio.get_running_loop()
        # Not when the caller stops waiting: a step that has started cannot be cancelled.
        job.add_done_callback(lambda _: loop.call_soon_threadsafe(self._pass_on))
        return await asyncio.wrap_future(job)

    def close(self) -> None:
        """Stop the thread after its current step; later ones run where they are called."""
        self._closed = True
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _turn(self, user: str) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Let the first step of the next user run, and put that user at the end."""
        self._busy = False
        while self._waiting:
            user = next(iter(self._waiting))
            steps = self._waiting.pop(user)
            turn = steps.popleft()
            if steps:
                self._waiting[user] = steps
            if not turn.cancelled():
                self._busy = True
                turn.set_result(None)
                return


def without_collection(step: Callable[[], R]) -> R:
    """Run a step that allocates many objects, without garbage collection.

    The collector would scan them again and again, with the interpreter lock held: up to 100 ms at
    once for a large definition. They are then moved to the oldest generation, which costs nothing.
    In a process with frozen objects they are frozen as well: unfreezing them would unfreeze all.
    """
    if not gc.isenabled():
        return step()
    gc.disable()
    try:
        return step()
    finally:
        FROZEN_OBJECTS.make_all_old(freeze=True)
        gc.enable()


class Workload:
    """The documents of one request; without a *thread*, everything runs where it is called."""

    __slots__ = ("_thread", "_user", "_values")

    def __init__(self, thread: HeavyThread | None = None, user: str = "") -> None:
        self._thread = thread
        self._user = user
        self._values = 0

    @property
    def is_heavy(self) -> bool:
        return self._values > LIGHT_VALUES

    def add(self, document: bytes, media_type: str = JSON) -> None:
        """Note a document that the request processes; the most expensive one counts."""
        cost = YAML_COST if media_type == YAML else 1
        if len(document) * cost > LIGHT_BYTES:
            self._values = max(self._values, count_values(document, media_type) * cost)
            if media_type == YAML:
                self._values = max(self._values, len(document) // YAML_BYTES)
        elif media_type == YAML and b"*" in document and b"&" in document:
            self.may_grow()  # by aliases

    def may_grow(self) -> None:
        """Note that a small document may become a large one."""
        self._values = max(self._values, LIGHT_VALUES + 1)

    def add_values(self, values: int) -> None:
        """Note that the request processes *values* that its documents do not have."""
        self._values = max(self._values, values)

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result of a pure *function* of the documents."""
        if self._values <= LIGHT_VALUES or self._thread is None:
            return function(*args, **kwargs)
        return await self._thread.run(self._user, function, *args, **kwargs)
