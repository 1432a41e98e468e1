"""Waiting for one thing unless another comes first, and leaving nothing behind."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def won(work: Awaitable[T], against: Awaitable[object]) -> "asyncio.Future[T] | None":
    """The finished *work*, whether it succeeded or failed; None if *against* was first.

    What is not finished is cancelled and has ended when this returns, also when this is cancelled
    itself.
    """
    working, other = asyncio.ensure_future(work), asyncio.ensure_future(against)
    try:
        await asyncio.wait((working, other), return_when=asyncio.FIRST_COMPLETED)
        return working if working.done() else None
    finally:
        unfinished = [each for each in (working, other) if not each.done()]
        for each in unfinished:
            each.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
