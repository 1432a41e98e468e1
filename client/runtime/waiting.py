"""Wait until a condition on an informer's cache holds, or until the informer has stopped."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

Condition: TypeAlias = Callable[[], bool]


class InformerStopped(Exception):
    """The informer has stopped, so its cache will not change any more."""


class ConditionWaiters:
    """The callers waiting for conditions; the informer calls `check` after every change."""

    def __init__(self) -> None:
        self._conditions: dict[asyncio.Future[None], Condition] = {}
        self._end_reason = ""

    async def until(self, condition: Condition) -> None:
        """Return as soon as *condition* is true.

        Raises InformerStopped if the informer stops before that.
        """
        if condition():
            return
        if self._end_reason:
            raise InformerStopped(self._end_reason)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._conditions[future] = condition
        try:
            await future
        finally:
            del self._conditions[future]

    def check(self) -> None:
        """Wake the callers whose condition is true now."""
        for future, condition in self._conditions.items():
            if not future.done() and condition():
                future.set_result(None)

    def end(self, reason: str) -> None:
        """Check the conditions a last time, then raise InformerStopped in the remaining callers."""
        self.check()
        self._end_reason = reason
        for future in self._conditions:
            if not future.done():
                future.set_exception(InformerStopped(reason))
