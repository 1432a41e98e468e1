import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeAlias

import pytest

from tests.client.informer.clock import FakeClock, settle
from tests.client.informer.server import Server

Background: TypeAlias = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def background() -> AsyncIterator[Background]:
    """Runs something beside the test and ends it with the test."""
    started: list[asyncio.Task[None]] = []

    def start(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        started.append(asyncio.ensure_future(work))
        return started[-1]

    yield start
    for task in started:
        task.cancel()
    await asyncio.gather(*started, return_exceptions=True)
    await settle()
