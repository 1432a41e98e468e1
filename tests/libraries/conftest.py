"""One server for the session, and a namespace for each test."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.servers import Server, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-10000:]


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    return count(1)


@pytest.fixture
def namespace(server: Server, numbers: Iterator[int]) -> str:
    name = f"test-{next(numbers)}"
    server.make_namespace(name)
    return name
