"""The pytest plugin: `env`, a server and its clients for each test, and `clock`, to move time.

Which groups the server has is said once, in the configuration (`apimachinery_groups`) or by a
fixture `api_groups` of one's own. With `--kubeconfig=FILE` the same tests run in a cluster.

Nothing of a server is imported before a test asks for one.
"""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

try:
    from pytest_asyncio import fixture as async_fixture
except ImportError:  # who has no asynchronous tests must not be kept from running the others
    async_fixture = pytest.fixture  # type: ignore[assignment]

if TYPE_CHECKING:
    from apiserver.group import Group
    from client.runtime.clock import Clock
    from client.testing.env import Environment
    from client.testing.fake_clock import FakeClock

GROUPS = "apimachinery_groups"


def pytest_addoption(parser: pytest.Parser) -> None:
    options = parser.getgroup("apimachinery")
    options.addoption(
        "--kubeconfig",
        metavar="FILE",
        default=None,
        help="run tests that use `env` in the cluster of this kubeconfig, not in this process",
    )
    options.addoption("--kube-context", metavar="NAME", default="", help="its context to use")
    parser.addini(GROUPS, "groups that the server of `env` has: module:NAME", type="args")


def pytest_configure(config: pytest.Config) -> None:
    # A word that is a file, behind an option that pytest does not know yet, counts as the place
    # of the tests: their own configuration would not be found.
    if "--kubeconfig" in config.invocation_params.args:
        given = config.getoption("--kubeconfig")
        raise pytest.UsageError(
            f"write --kubeconfig={given}, in one word: of two pytest takes the second for a test"
        )


@pytest.fixture(scope="session")
def api_groups(request: pytest.FixtureRequest) -> "Sequence[Group]":
    """The groups that the server has beside the standard ones; override it to say which."""
    from apiserver.process.loading import load_group

    return [load_group(reference) for reference in request.config.getini(GROUPS)]


@pytest.fixture
def clock() -> "FakeClock":
    """A clock that stands still; a test that asks for it moves everything in `env` by it."""
    from client.testing.fake_clock import FakeClock

    return FakeClock()


@async_fixture
async def env(
    request: pytest.FixtureRequest, api_groups: "Sequence[Group]"
) -> "AsyncIterator[Environment]":
    """A server with nothing in it, its clients and managers."""
    from client.config import Config
    from client.testing.env import cluster_environment, environment

    chosen = _clock_of(request)
    kubeconfig = request.config.getoption("--kubeconfig", default=None)
    if kubeconfig is None:
        async with environment(api_groups, clock=chosen) as made:
            yield made
        return
    context = request.config.getoption("--kube-context", default="")
    config = Config.from_env(kubeconfig=kubeconfig, context=context)
    path = Path(kubeconfig).expanduser()
    async with cluster_environment(config, api_groups, clock=chosen, kubeconfig=path) as made:
        yield made


def _clock_of(request: pytest.FixtureRequest) -> "Clock | None":
    """The clock that the test asked for, unless it is another thing of that name."""
    if "clock" not in request.fixturenames:
        return None
    found = request.getfixturevalue("clock")
    is_clock = all(hasattr(found, name) for name in ("monotonic", "now", "sleep"))
    return found if is_clock else None
