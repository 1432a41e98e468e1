"""Types that would lose stored values: no worker is started or replaced until that is settled."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.apiserver.storage.etcd.etcd_server import start_cluster
from tests.faults.load import until
from tests.servers import Server, ServerFailed, serving

ROOT = Path(__file__).parent.parent.parent
LAMPS = "/apis/lamps.example.io/v1/namespaces/default/lamps"

MODULE = """
from apimachinery import GroupVersion, Model, Object, field
from apiserver import Group, Resource

GROUP = "lamps.example.io"


class LampSpec(Model):
    {fields}


class Lamp(Object):
    spec: LampSpec = field(default_factory=LampSpec)


def add_to_scheme(scheme):
    scheme.add(GroupVersion(GROUP, "v1"), Lamp, internal=True)


LAMPS = Group(GROUP, ("v1",), (Resource("lamps", Lamp),), add_to_scheme)
"""
COLOR = 'color: str = field("")'
SHADE = 'shade: str = field("")'
WHY = (
    "lamps.lamps.example.io: the field spec.color is gone, and 1 stored object has a value there,"
    " such as default/red. Declare what became of it"
)


class Source:
    """The module of the group, which a test rewrites."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "lamps.py"
        self.write(COLOR)
        path = os.pathsep.join((str(folder), str(ROOT)))
        # Edits within one second must not find the bytecode of the previous text.
        self.environ = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def write(self, fields: str) -> None:
        self.file.write_text(MODULE.format(fields=fields))


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path)


def create(server: Server) -> None:
    lamp = {"metadata": {"name": "red"}, "spec": {"color": "red"}}
    assert server.request("POST", LAMPS, lamp).code == 201


async def reload(server: Server, message: str) -> str:
    """Reload, wait for a message, and return what was logged until then."""
    assert server.process is not None
    before = server.log
    server.process.send_signal(signal.SIGHUP)
    await until(lambda: message in server.log[len(before) :])
    return server.log[len(before) :]


def test_a_start_that_would_lose_a_field_is_refused(source: Source, tmp_path: Path) -> None:
    with serving(tmp_path / "server", groups=["lamps:LAMPS"], environ=source.environ) as server:
        create(server)
        server.stop()
        source.write("pass")
        before = server.log

        own = own_gunicorn(server, source)
        with pytest.raises(ServerFailed):
            server.start()

        assert own.returncode == 3
        assert WHY in own.stderr
        assert "Traceback" not in own.stderr
        assert server.process is not None and server.process.returncode == 1
        assert server.log[len(before) :].startswith(f"apiserver: {WHY}")
        assert server.log[len(before) :].count("\n") == 1
        server.arguments += ["--accept-field-loss", "lamps.lamps.example.io/spec.color"]
        server.start()
        assert server.request("GET", f"{LAMPS}/red").json["spec"] == {}


def own_gunicorn(server: Server, source: Source) -> subprocess.CompletedProcess[str]:
    """Serve the data of a server with a gunicorn of one's own, until that ends."""
    own = {name: text for name, text in os.environ.items() if not name.startswith("APISERVER_")}
    settings = {
        "APISERVER_GROUPS": "lamps:LAMPS",
        "APISERVER_DATA_DIR": str(server.data_dir),
        "APISERVER_BIND": "127.0.0.1:0",
    }
    return subprocess.run(
        [
            *(sys.executable, "-m", "gunicorn"),
            *("-c", "python:apiserver.gunicorn_conf", "apiserver.asgi:app"),
        ],
        env=own | source.environ | settings,
        capture_output=True,
        text=True,
        timeout=60,
    )


async def test_a_reload_without_a_store_changes_nothing(source: Source, tmp_path: Path) -> None:
    with start_cluster(tmp_path / "etcd", size=1) as etcd:
        storage = f"etcd://{etcd.hosts}?timeout=0.5"
        with serving(
            tmp_path / "server", groups=["lamps:LAMPS"], storage=storage, environ=source.environ
        ) as server:
            create(server)
            workers = server.workers()
            source.write(SHADE)
            assert WHY in await reload(server, "reload skipped: ")

            etcd.nodes[0].kill()
            log = await reload(server, "reload skipped: ")

            assert "reload skipped: the stored objects cannot be checked: " in log
            assert server.workers() == workers
