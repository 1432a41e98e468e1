"""A server with every kind, and a clock that the test turns."""

from collections.abc import AsyncIterator

import pytest

from apis.kubernetes import KUBERNETES
from client.testing import environment
from client.testing.env import Environment
from client.testing.fake_clock import FakeClock


@pytest.fixture
async def env() -> AsyncIterator[Environment]:
    async with environment(KUBERNETES, clock=FakeClock()) as running:
        yield running
