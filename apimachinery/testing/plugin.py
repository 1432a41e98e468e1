"""The pytest plugin: `env`, a server with its clients for one test, and `clock`, a fake clock.

The groups of the server are configured once, by the option `apimachinery_groups` or by a fixture
`api_groups` in the project. With `--kubeconfig=FILE` the same tests run in a cluster.

Pytest loads this module in every project that has apimachinery installed, and a project may well
have a folder `client/` or `apis/` of its own. So this file is the one place in `apimachinery` that
uses `client` and `apiserver`, by name, and only after a test has requested a fixture.
"""

from collections.abc import AsyncIterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

try:
    from pytest_asyncio import fixture as async_fixture
except ImportError:  # a project without asynchronous tests must still be able to run its own
    async_fixture = pytest.fixture  # type: ignore[assignment]

GROUPS: Final = "apimachinery_groups"
_PACKAGES: Final = ("apis", "apiserver", "client")
_ROOT: Final = Path(__file__).resolve().parent.parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    options = parser.getgroup("apimachinery")
    options.addoption(
        "--kubeconfig",
        metavar="FILE",
        default=None,
        help="run tests that use `env` in the cluster of this kubeconfig, not in this process",
    )
    options.addoption("--kube-context", metavar="NAME", default="", help="the context to use")
    parser.addini(GROUPS, "groups that the server of `env` serves: module:NAME", type="args")


def pytest_configure(config: pytest.Config) -> None:
    # Pytest parses its arguments once before plugins add options. The value of an option that is
    # unknown then counts as a test path, and the project's own configuration is not found.
    if "--kubeconfig" in config.invocation_params.args:
        path = config.getoption("--kubeconfig")
        raise pytest.UsageError(
            f"pass --kubeconfig={path} as one argument: pytest treats a separate path as a test"
        )


@pytest.fixture(scope="session")
def api_groups(request: pytest.FixtureRequest) -> Sequence[Any]:
    """The groups that the server has beside the standard ones; override it to choose them."""
    loading = _load("apiserver.process.loading")
    references = request.config.getini(GROUPS)
    return [group for reference in references for group in loading.load_groups(reference)]


@pytest.fixture
def clock() -> Any:
    """A FakeClock; everything in the `env` of the same test runs on it."""
    return _load("client.testing.fake_clock").FakeClock()


@async_fixture
async def env(request: pytest.FixtureRequest, api_groups: Sequence[Any]) -> AsyncIterator[Any]:
    """An Environment: an empty server, or a namespace in a cluster, with clients and managers."""
    testing = _load("client.testing.env")
    clock = _clock_of(request)
    kubeconfig = request.config.getoption("--kubeconfig", default=None)
    if kubeconfig is None:
        async with testing.environment(api_groups, clock=clock) as environment:
            yield environment
        return
    context = request.config.getoption("--kube-context", default="")
    config = _load("client.config").Config.from_env(kubeconfig=kubeconfig, context=context)
    path = Path(kubeconfig).expanduser()
    async with testing.cluster_environment(
        config, api_groups, clock=clock, kubeconfig=path
    ) as environment:
        yield environment


def _load(module: str) -> Any:
    """Import *module* of this distribution; fail the test if another package shadows it."""
    for package in _PACKAGES:
        location = _location(package)
        if location.parent != _ROOT:
            pytest.fail(
                f"the fixtures of apimachinery need its package {package!r}, but {location} is"
                " imported under that name: rename it, or take its parent off sys.path",
                pytrace=False,
            )
    return import_module(module)


def _location(package: str) -> Path:
    """Return the folder or file that `import` finds for a top-level name."""
    spec = find_spec(package)
    assert spec is not None, f"{package!r} is part of this distribution"
    locations = spec.submodule_search_locations or [spec.origin or ""]
    return Path(next(iter(locations))).resolve()


def _clock_of(request: pytest.FixtureRequest) -> Any:
    """Return the test's `clock` fixture, or None if it has none or one that is not a Clock."""
    if "clock" not in request.fixturenames:
        return None
    clock = request.getfixturevalue("clock")
    is_clock = all(hasattr(clock, name) for name in ("monotonic", "now", "sleep"))
    return clock if is_clock else None
