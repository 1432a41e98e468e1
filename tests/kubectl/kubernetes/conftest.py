"""A server with every kind of Kubernetes, once on SQLite and once on etcd."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.kubectl.conftest import namespaces_of
from tests.servers import Server, serving

KUBERNETES = "apis.kubernetes:KUBERNETES"


@pytest.fixture(scope="session", params=["sqlite", "etcd"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp(f"kubernetes-{request.param}")
    if request.param == "sqlite":
        yield from _served(folder / "server", "")
        return
    with start_etcd(folder / "etcd") as address:
        yield from _served(folder / "server", f"etcd://{address}")


@pytest.fixture(scope="session")
def new_namespace(server: Server) -> Callable[[], str]:
    # A fixture of the session that others of this folder share would keep the first server.
    return namespaces_of(server)


def _served(folder: Path, storage: str) -> Iterator[Server]:
    with serving(folder, groups=[KUBERNETES], storage=storage) as running:
        yield running
        assert "Traceback" not in running.log, running.log[-10000:]
