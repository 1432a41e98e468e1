"""One server for the session, and every kubectl of the machine for every test."""

import os
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
import yaml

pytest.register_assert_rewrite("tests.kubectl.runner")

from tests.kubectl.runner import ON_PATH, Kubectl, Program, installed  # noqa: E402  # after the line above
from tests.servers import Server, serving  # noqa: E402

FOUND = installed()
VERSIONS = sorted((name for name in FOUND if name != ON_PATH), key=lambda name: name.split("."))
EVERY_RUN = {ON_PATH, *VERSIONS[:1], *VERSIONS[-1:]}
"""The oldest and the newest release, and the one on PATH; `make torture` runs all of them."""
PROGRAMS = [
    pytest.param(name, marks=() if name in EVERY_RUN else pytest.mark.torture)
    for name in FOUND or [ON_PATH]
]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-10000:]


@pytest.fixture(scope="session")
def new_namespace(server: Server) -> Callable[[], str]:
    return namespaces_of(server)


def namespaces_of(server: Server) -> Callable[[], str]:
    """Makes namespaces whose names no other test of this server has."""
    numbers = count(1)

    def make() -> str:
        name = f"test-{next(numbers)}"
        server.make_namespace(name)
        return name

    return make


@pytest.fixture
def namespace(new_namespace: Callable[[], str]) -> str:
    return new_namespace()


@pytest.fixture(scope="session", params=PROGRAMS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    if request.param in FOUND:
        return Program(FOUND[request.param], tmp_path_factory.mktemp(f"home-{request.param}"))
    if os.environ.get("CI") == "true":
        pytest.fail("kubectl is not on PATH, and in CI it must be")
    pytest.skip("kubectl is not on PATH: install it to run what tests the server with it")


@pytest.fixture
def kubectl(program: Program, server: Server, namespace: str, tmp_path: Path) -> Kubectl:
    config = yaml.safe_load(server.kubeconfig.read_text())
    config["contexts"][0]["context"]["namespace"] = namespace
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    path.chmod(0o600)
    environ = {
        # A command is over before it fills the memory, and starts a third faster without.
        "GOGC": "off",
        "HOME": str(program.home),
        "KUBECONFIG": str(path),
        "PATH": os.environ["PATH"],
        "TMPDIR": str(tmp_path),
    }
    return Kubectl(program, server, tmp_path, namespace, environ)
