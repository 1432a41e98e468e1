"""Waiting until something is true of a cache, or until it never will be."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

Condition: TypeAlias = Callable[[], bool]


class InformerStopped(Exception):
    """The informer has ended: nothing will change in its cache any more."""


class Waiting:
    """Those who wait; they are looked at whenever something has changed."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Future[None], Condition] = {}
        self._ended = ""

    async def until(self, condition: Condition) -> None:
        """Return when *condition* is true; InformerStopped when it cannot become so."""
        if condition():
            return
        if self._ended:
            raise InformerStopped(self._ended)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[future] = condition
        try:
            await future
        finally:
            del self._waiting[future]

    def check(self) -> None:
        """Wake those whose condition is true now."""
        for future, condition in self._waiting.items():
            if not future.done() and condition():
                future.set_result(None)

    def end(self, why: str) -> None:
        """Nothing will change any more."""
        self.check()
        self._ended = why
        for future in self._waiting:
            if not future.done():
                future.set_exception(InformerStopped(why))
