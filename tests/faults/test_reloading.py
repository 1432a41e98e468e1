"""A reload with code that cannot serve: the running server stays exactly as it was."""

import os
import signal
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from tests.faults.load import until
from tests.servers import Server, serving

ROOT = Path(__file__).parent.parent.parent
DISCOVERY = "/apis/lamps.example.io"
OBJECTS = f"{DISCOVERY}/v1/namespaces/default/lamps"
RENAME = 'scheme.add_upgrade(InternalLamp, renames={"spec.color": "spec.shade"})'

LAMPS = """
import os
from apimachinery import GroupVersion, Model, Object, field
from apiserver import Group, Resource

GROUP = "lamps.example.io"


class InternalSpec(Model):
    {color}: str = field("")
    {internal}


class InternalLamp(Object, kind="Lamp"):
    spec: InternalSpec = field(default_factory=InternalSpec)


class LampSpec(Model):
    {color}: str = field("")
    {versioned}


class Lamp(Object):
    spec: LampSpec = field(default_factory=LampSpec)


def add_to_scheme(scheme):
    scheme.add(GroupVersion(GROUP, "__internal"), InternalLamp)
    scheme.add(GroupVersion(GROUP, "v1"), Lamp)
    {statement}
    scheme.add_same(Lamp, InternalLamp)


LAMPS = Group(GROUP, {versions}, (Resource("lamps", InternalLamp),), add_to_scheme)
print("imported by", os.getpid(), flush=True)
"""


class Source:
    """The module of a group, which a test rewrites while the server runs."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def write(
        self,
        *,
        color: str = "color",
        internal: str = "",
        versioned: str = "",
        statement: str = "",
        versions: tuple[str, ...] = ("v1",),
    ) -> None:
        text = LAMPS.format(
            color=color,
            internal=internal,
            versioned=versioned,
            statement=statement,
            versions=versions,
        )
        self.file.write_text(text)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    source = Source(tmp_path_factory.mktemp("source") / "lamps.py")
    source.write()
    return source


@pytest.fixture(scope="module")
def server(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    path = os.pathsep.join((str(source.file.parent), str(ROOT)))
    # Edits within one second must not find the bytecode of the previous text.
    environ = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, groups=["lamps:LAMPS"], workers=2, environ=environ) as server:
        yield server


async def loaded(server: Server, *, replaced: Collection[int] = ()) -> list[int]:
    """Wait until both workers, none of them *replaced*, have imported the group.

    A server is ready with its first worker, and the text must not change before both have read it.
    """

    def have_imported() -> bool:
        workers, log = server.workers(), server.log.splitlines()
        return (
            len(workers) == 2
            and not set(workers) & set(replaced)
            and all(f"imported by {worker}" in log for worker in workers)
        )

    await until(have_imported)
    return server.workers()


async def reload(server: Server) -> str:
    """Reload, wait until that has been refused, and return what was logged."""
    assert server.process is not None
    before = server.log
    server.process.send_signal(signal.SIGHUP)
    await until(lambda: "reload skipped: " in server.log[len(before) :])
    return server.log[len(before) :]


async def test_a_start_imports_the_groups_once_for_the_check_and_a_worker(server: Server) -> None:
    workers = await loaded(server)

    imported = [line for line in server.log.splitlines() if line.startswith("imported by")]
    assert sorted(imported) == sorted(f"imported by {worker}" for worker in workers)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"versioned": 'size: str = field("")'}, "spec.size of the source has no target"),
        (
            {"statement": "scheme.add_everything()"},
            "AttributeError: 'Scheme' object has no attribute",
        ),
        ({"statement": "raise SystemExit(3)"}, "SystemExit: 3"),
        ({"statement": "import os; os._exit(3)"}, "terminated the process"),
        ({"versions": ("v3",)}, "versions has 'v3', which has no kind in the scheme"),
    ],
)
async def test_a_reload_with_code_that_cannot_serve_changes_nothing(
    server: Server, source: Source, changes: dict[str, str], why: str
) -> None:
    workers = await loaded(server)
    source.write(**changes)  # type: ignore[arg-type]

    log = await reload(server)

    assert why in log
    assert "Traceback" not in log
    assert server.workers() == workers
    assert server.request("GET", "/readyz").code == 200
    assert server.request("GET", DISCOVERY).json["preferredVersion"]["version"] == "v1"


async def test_a_reload_of_repaired_code_serves_it(server: Server, source: Source) -> None:
    old = await loaded(server)
    source.write(versioned="typo")
    await reload(server)

    addition = 'size: str = field("", doc="How large it is.")'
    source.write(internal=addition, versioned=addition)
    assert server.process is not None
    server.process.send_signal(signal.SIGHUP)

    await loaded(server, replaced=old)
    schema = server.request("GET", "/openapi/v3/apis/lamps.example.io/v1")
    assert b"How large it is." in schema.body


async def test_a_reload_that_would_lose_a_field_changes_nothing(
    server: Server, source: Source
) -> None:
    lamp = {"metadata": {"name": "red"}, "spec": {"color": "red"}}
    assert server.request("POST", OBJECTS, lamp).code == 201
    workers = await loaded(server)
    source.write(color="shade")

    log = await reload(server)

    assert (
        "reload skipped: lamps.lamps.example.io: the field spec.color is gone, and 1 stored object"
        " has a value there, such as default/red. Declare what became of it"
    ) in log
    assert "Traceback" not in log
    assert server.workers() == workers
    assert server.request("GET", "/readyz").code == 200
    (found,) = server.request("GET", OBJECTS).json["items"]
    assert found["spec"] == {"color": "red"}
    patched = server.request(
        "PATCH",
        f"{OBJECTS}/red",
        {"spec": {"color": "blue"}},
        headers={"Content-Type": "application/merge-patch+json"},
    )
    assert patched.json["spec"] == {"color": "blue"}

    # The old workers of the same server are registered: they must not forbid the rename.
    before = server.log
    source.write(color="shade", statement=RENAME)
    assert server.process is not None
    server.process.send_signal(signal.SIGHUP)

    await loaded(server, replaced=workers)
    assert server.request("GET", f"{OBJECTS}/red").json["spec"] == {"shade": "blue"}
    assert "reload skipped" not in server.log[len(before) :]
