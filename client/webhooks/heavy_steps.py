"""Heavy steps: what takes long with large documents runs in another thread.

Decoding, comparing and converting are pure functions of values. For a large review they would hold
the event loop, and with it the other calls, for longer than a server may wait. The functions of
users always run in the event loop.
"""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

R = TypeVar("R")

LARGE: Final = 64 * 1024
"""Bytes of the smallest document that is large."""


async def run_step(size: int, step: Callable[..., R], *args: object) -> R:
    """Return the result of a step with documents of *size* bytes."""
    return await asyncio.to_thread(step, *args) if size > LARGE else step(*args)
