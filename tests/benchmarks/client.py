"""The client beside the official `kubernetes` package, lightkube and kr8s, on one real server.

Every cell is measured in a process of its own, the libraries in turn so that a busy moment of the
machine meets them all, and the best of its runs counts. Each library is used as its documentation
shows: ours and kr8s list in pages, the others in one piece. Nobody is asked for what it has not
got, and the table says so.
"""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from apiserver.storage.keys import ResourceKeys
from apiserver.storage.sqlite.backend import open_sqlite
from tests.benchmarks._client_worker import CREATED, LISTED, MADE, NAMESPACE
from tests.benchmarks.pods import VERSION, pod_document
from tests.servers import Server, serving

LIBRARIES: Final = {
    "ours": "client",
    "official": "kubernetes",
    "lightkube": "lightkube",
    "kr8s": "kr8s",
}
"""The name of a column -> the package that must be there."""
RUNS: Final = 3
SLOW: Final = 4.0
"""Seconds of a run after which one run must do."""
ENOUGH: Final = 90.0
"""Seconds after which nothing is measured again."""
LATEST: Final = 300.0
"""Seconds after which nothing is measured at all."""
LIMIT: Final = 25.0
"""Seconds that one run may take."""
_PATH: Final = f"/apis/{VERSION}/namespaces/{NAMESPACE}/pods"


@dataclass(frozen=True)
class Row:
    """What is asked of every library, and how its answer is shown."""

    name: str
    time: str = ""
    """The title of its times."""
    memory: str = ""
    """The title of its MiB."""
    count: int = 0
    """How many of something were done, if it is the rate that is shown."""


ROWS: Final = (
    Row("import", time="import", memory="import: resident, MiB"),
    Row("first", time="import and read one", memory="import and read one: resident, MiB"),
    Row("list_typed", time="list 10,000 typed", memory="list 10,000 typed: grows by, MiB"),
    Row("list_untyped", time="list 10,000 untyped", memory="list 10,000 untyped: grows by, MiB"),
    Row("watch_typed", time="watch typed", count=LISTED),
    Row("watch_untyped", time="watch untyped", count=LISTED),
    Row("informer", time="informer of 10,000", memory="informer of 10,000: grows by, MiB"),
    Row("create", time="create one by one", count=CREATED),
    Row("create_many", time="create 16 at once", count=CREATED),
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

    seconds: float = 0
    cpu: float = 0
    mib: float = 0
    missing: str = ""

    def better(self, other: "Measured | None") -> "Measured":
        if other is None or self.missing:
            return other or self
        return Measured(
            min(self.seconds, other.seconds), min(self.cpu, other.cpu), min(self.mib, other.mib)
        )


Found = dict[str, Measured]

NO_TIME: Final = Measured(missing="no time left")


def run() -> None:
    """Print one table: behind each value how many times better ours is."""
    with _filled_server() as environ:
        # The server encodes an object when it is first asked for it; nobody here should wait.
        for name in ("list_untyped", "watch_untyped"):
            _once("ours", name, environ)
        table = _measure(environ)
    print(f"{'':38}" + "".join(f"{name:>20}" for name in LIBRARIES) + "   first")
    for row in ROWS:
        _print_row(row, table[row.name])


def _print_row(row: Row, found: Found) -> None:
    if row.count:
        rates = {n: row.count / m.seconds for n, m in found.items() if not m.missing}
        _print(f"{row.time}, /s", found, rates, more_is_better=True)
        costs = {n: m.cpu / row.count * 1e6 for n, m in found.items()}
        _print(f"{row.time}: client's CPU, us each", found, costs)
    else:
        _print(f"{row.time}, s", found, {n: m.seconds for n, m in found.items()})
        _print(f"{row.time}: client's CPU, s", found, {n: m.cpu for n, m in found.items()})
    if row.memory:
        _print(row.memory, found, {n: m.mib for n, m in found.items()})


@contextmanager
def _filled_server() -> Iterator[dict[str, str]]:
    """A server with pods, and the environment in which the libraries find it."""
    pods = "tests.benchmarks._client_group:PODS"
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{folder}/store.db"
        with serving(Path(folder), groups=[pods], storage=storage) as server:
            _create_first(server)
            asyncio.run(_multiply(storage))
            environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
            yield environ | {
                "KUBECONFIG": str(server.kubeconfig),
                "BENCHMARK_POD": json.dumps(pod_document()),
            }


def _create_first(server: Server) -> None:
    server.request("POST", "/api/v1/namespaces", {"metadata": {"name": MADE}})
    made = server.request("POST", _PATH, pod_document("pod-0"))
    assert made.code == 201, made.body


async def _multiply(storage: str) -> None:
    """Copy the one pod in the store: ten thousand requests would take longer than all the rest."""
    keys = ResourceKeys(VERSION.group, "pods")
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
    done: set[tuple[str, str]] = set()
    start = time.monotonic()
    for number, row, library in product(range(RUNS), ROWS, LIBRARIES):
        begun = time.monotonic()
        if (library, row.name) in done or (number and begun - start > ENOUGH):
            continue
        late = begun - start > LATEST
        measured = NO_TIME if late else _once(library, row.name, environ)
        table[row.name][library] = measured.better(table[row.name].get(library))
        if measured.missing or time.monotonic() - begun > SLOW:
            done.add((library, row.name))
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


def _print(
    title: str,
    found: Found,
    values: Mapping[str, float],
    *,
    more_is_better: bool = False,
) -> None:
    present = {name: values[name] for name, m in found.items() if not m.missing}
    cells = ""
    for library, measured in found.items():
        if measured.missing or "ours" not in present:
            cells += f"{measured.missing or '-':>20}"
            continue
        value = values[library]
        ratio = values["ours"] / value if more_is_better else value / values["ours"]
        shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        cells += f"{shown:>13} x{ratio:<5.3g}"
    best = max if more_is_better else min
    first = best(present, key=lambda name: present[name]) if present else "nobody"
    print(f"{title:38}{cells}   {first}")
