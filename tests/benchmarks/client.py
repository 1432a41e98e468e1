"""The client beside the official `kubernetes` package, lightkube and kr8s, on one real server.

The objects are pods of Kubernetes' own kind, as a cluster holds them; each library reads them with
the class that it has for them. Every cell is measured in a process of its own, the libraries in
turn so that a busy moment of the machine meets them all, and the best of its runs counts: CPU time
of the client's process, and the memory by which it grows. Each library is used as its documentation
shows: ours and kr8s list in pages, the others in one piece.

`BENCHMARK_RUNS` is the number of runs. The result is a table in Markdown, that of
`docs/performance-client.md`.
"""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

from apiserver.storage.keys import ResourceKeys
from apiserver.storage.sqlite.backend import open_sqlite
from tests.benchmarks._client_worker import CREATED, LISTED, MADE, NAMESPACE
from tests.benchmarks._running_pods import (
    pod_to_create,
    pod_with_status,
    replica_set,
    running_pod,
)
from tests.servers import Server, serving

LIBRARIES: Final = {
    "ours": "client",
    "official": "kubernetes",
    "lightkube": "lightkube",
    "kr8s": "kr8s",
}
"""The name of a column -> the package that must be there."""
RUNS: Final = int(os.environ.get("BENCHMARK_RUNS", "3"))
LIMIT: Final = 900.0
"""Seconds that one run may take, on a machine that has other work."""
_PATH: Final = f"/api/v1/namespaces/{NAMESPACE}/pods"


@dataclass(frozen=True)
class Row:
    """What is asked of every library, and how its answer is shown."""

    name: str
    title: str
    memory: str = ""
    """The title of its MiB."""
    count: int = 0
    """How many of something were done, if the CPU time of one is shown."""


ROWS: Final = (
    Row("first", "import and read one pod", memory="import and read one pod: resident"),
    Row("list_typed", "list 10,000 typed", memory="list 10,000 typed: grows by"),
    Row("list_untyped", "list 10,000 untyped", memory="list 10,000 untyped: grows by"),
    Row("watch_typed", "watch typed", count=LISTED),
    Row("watch_untyped", "watch untyped", count=LISTED),
    Row("informer", "informer of 10,000", memory="informer of 10,000: grows by"),
    Row("create", "create one by one", count=CREATED),
    Row("create_many", "create 16 at once", count=CREATED),
)

LACKS: Final = {
    ("kr8s", "list_typed"): "no typed objects",
    ("kr8s", "watch_typed"): "no typed objects",
    ("kr8s", "informer"): "no informers",
    ("lightkube", "informer"): "no informers",
}


@dataclass(frozen=True)
class Measured:
    """The best of some runs; or why there is none."""

    cpu: float = 0
    mib: float = 0
    missing: str = ""

    def better(self, other: "Measured | None") -> "Measured":
        if other is None or other.missing:
            return self
        if self.missing:
            return other
        return Measured(min(self.cpu, other.cpu), min(self.mib, other.mib))


Found = dict[str, Measured]


def run() -> None:
    """Print one table, the first of every row in bold."""
    with _filled_server() as environ:
        # The server encodes an object when it is first asked for it; nobody here should wait.
        for name in ("list_untyped", "watch_untyped"):
            _once("ours", name, environ)
        table = _measure(environ)
    print(f"| | {' | '.join(LIBRARIES)} |")
    print("|---|" + "---:|" * len(LIBRARIES))
    for row in ROWS:
        scale, unit = (1e6 / row.count, "µs") if row.count else (1, "s")
        title = f"{row.title}: each" if row.count else row.title
        found = table[row.name]
        _print(title, found, {name: m.cpu * scale for name, m in found.items()}, unit)
        if row.memory:
            _print(row.memory, found, {name: m.mib for name, m in found.items()}, "MiB")


@contextmanager
def _filled_server() -> Iterator[dict[str, str]]:
    """A server with pods, and the environment in which the libraries find it."""
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/store.db"
        with serving(
            Path(folder), groups=["apis.kubernetes:KUBERNETES"], storage=storage
        ) as server:
            _create_first(server)
            asyncio.run(_multiply(storage))
            environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
            yield environ | {
                "KUBECONFIG": str(server.kubeconfig),
                "BENCHMARK_POD": json.dumps(pod_to_create()),
            }


def _create_first(server: Server) -> None:
    """Create a pod with an owner and the status that a kubelet reports."""
    _post(server, "/api/v1/namespaces", {"metadata": {"name": MADE}})
    owner = _post(server, f"/apis/apps/v1/namespaces/{NAMESPACE}/replicasets", replica_set())
    _post(server, _PATH, running_pod(str(owner["metadata"]["uid"])))
    reported = server.request("PUT", f"{_PATH}/pod-0/status", pod_with_status(server, _PATH))
    assert reported.code == 200, reported.body


def _post(server: Server, path: str, document: dict[str, Any]) -> Any:
    made = server.request("POST", path, document)
    assert made.code == 201, made.body
    return made.json


async def _multiply(storage: str) -> None:
    """Copy the one pod in the store: ten thousand requests would take longer than all the rest."""
    keys = ResourceKeys("", "pods")
    backend = await open_sqlite(storage)
    first = await backend.get(keys.object_key("pod-0", namespace=NAMESPACE))
    assert first is not None
    uid = json.loads(first.value)["metadata"]["uid"].encode()

    async def copy(number: int) -> None:
        name = f"pod-{number}"
        value = first.value.replace(b'"pod-0"', f'"{name}"'.encode())
        value = value.replace(uid, str(uuid.uuid4()).encode())
        await backend.create(keys.object_key(name, namespace=NAMESPACE), value)

    await asyncio.gather(*(copy(number) for number in range(1, LISTED)))
    await backend.close()


def _measure(environ: Mapping[str, str]) -> dict[str, Found]:
    table: dict[str, Found] = {row.name: {} for row in ROWS}
    for _, row, library in product(range(RUNS), ROWS, LIBRARIES):
        measured = _once(library, row.name, environ)
        table[row.name][library] = measured.better(table[row.name].get(library))
    return table


def _once(library: str, row: str, environ: Mapping[str, str]) -> Measured:
    if (library, row) in LACKS:
        return Measured(missing=LACKS[library, row])
    if importlib.util.find_spec(LIBRARIES[library]) is None:
        return Measured(missing="not installed")
    command = [sys.executable, "-m", "tests.benchmarks._client_worker", library, row]
    try:
        ended = subprocess.run(
            command,
            cwd=Path(__file__).parents[2],
            env=environ,
            timeout=LIMIT,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return Measured(missing=f"more than {LIMIT:.0f} s")
    if ended.returncode:
        return Measured(missing=(ended.stderr.strip().splitlines() or ["failed"])[-1][:80])
    return Measured(**json.loads(ended.stdout.splitlines()[-1]))


def _print(title: str, found: Found, values: Mapping[str, float], unit: str) -> None:
    present = [values[name] for name, measured in found.items() if not measured.missing]
    cells = (_cell(measured, values[name], unit, present) for name, measured in found.items())
    print(f"| {title} | {' | '.join(cells)} |", flush=True)


def _cell(measured: Measured, value: float, unit: str, present: Sequence[float]) -> str:
    if measured.missing:
        return measured.missing
    shown = f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    return f"**{shown}**" if value == min(present) else shown
