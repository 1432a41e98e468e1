"""Every verb of a server as users start it, next to the floors of the same run.

`make bench` starts `apiserver serve` with two workers and TLS, on SQLite and on etcd, and loads it
with objects of one kilobyte over 32 connections. It prints the rate, the delays, and the processor
time of the workers for each operation. The load and the store share the machine with the server, so
rates say as much about the machine as about the server; the processor time hardly depends on what
else is running.

Floors are what cannot be avoided: a worker whose application does nothing, and a store that is
called without a server. Each run is appended to `history.jsonl`. Its costs are divided by the floor
of the worker, which makes runs on different machines comparable, and a cost that has grown by more
than a tenth since the last run is named. The committed counts of calls are kept with it, which
`tests/test_benchmark_history.py` compares.
"""

import asyncio
import json
import platform
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any, Final

from apiserver.storage.backends import open_backend
from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.apiserver.test_request_costs import FIGURES
from tests.benchmarks import _bare_worker
from tests.benchmarks import _server_load as load
from tests.servers import serving

WORKERS: Final = 2
HISTORY: Final = Path(__file__).with_name("history.jsonl")
NOTABLE: Final = 1.1
STORE_WRITES: Final = 5_000
STORE_CALLERS: Final = 32

Row = dict[str, float]
Rows = dict[str, Row]


def run() -> None:
    floor = _bare_worker_cost()
    print(f"{'floor: a worker that does nothing':<42} {_cost(floor):>8} of a core for each request")
    found: dict[str, Rows] = {}
    for store in ("sqlite", "etcd"):
        with tempfile.TemporaryDirectory() as folder, _storage(store, Path(folder)) as url:
            bare = asyncio.run(_bare_store_cost(url or f"sqlite:///{folder}/bare.db"))
            print(f"{f'floor: a write of {store} alone':<42} {_cost(bare):>8}")
            found[store] = _measure(Path(folder) / "server", url)
            _print(found[store], floor)
    _record(floor, found)


def _measure(folder: Path, storage: str) -> Rows:
    with serving(folder, storage=storage, workers=WORKERS) as server:
        return _load("verbs", server.port, server.ca_certificate, server.token, server.workers())


def _load(scenario: str, port: int, authority: Path, token: str, pids: list[int]) -> Rows:
    arguments = (str(port), str(authority), token, scenario, *map(str, pids))
    command = [sys.executable, "-m", load.__name__, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: Rows = json.loads(done.stdout)
    return found


@contextmanager
def _storage(name: str, folder: Path) -> Iterator[str]:
    with start_etcd(folder / "etcd") if name == "etcd" else nullcontext("") as address:
        yield f"etcd://{address}" if address else ""


def _bare_worker_cost() -> float:
    """Seconds of processor time of a request to a worker that does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        command = [sys.executable, "-m", _bare_worker.__name__, folder, str(port)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                while _bare_worker.READY not in process.stdout.readline():
                    assert process.poll() is None, "the bare worker did not start"
                children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
                pids = [int(pid) for pid in children.split()]
                return _load("floor", port, Path(folder) / "ca.crt", "none", pids)["get"]["cpu"]
            finally:
                process.terminate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def _bare_store_cost(url: str) -> float:
    """Seconds of processor time of this process for a write of one kilobyte."""
    backend = await open_backend(url)
    numbers = iter(range(STORE_WRITES))

    async def write() -> None:
        for number in numbers:
            await backend.create(f"/bare/{number}", b"v" * 1000)

    started = process_time()
    await asyncio.gather(*(write() for _ in range(STORE_CALLERS)))
    used = process_time() - started
    await backend.close()
    return used / STORE_WRITES


def _print(rows: Mapping[str, Row], floor: float) -> None:
    print(f"{'':<22}{'rate':>12}{'p50':>10}{'p99':>10}{'processor':>13}{'floors':>9}")
    for name, row in rows.items():
        what = "200 watchers, a delivery" if name == "watch" else name
        delays = f"{row['p50'] * 1000:>7.1f} ms{row['p99'] * 1000:>7.1f} ms"
        print(
            f"{what:<24}{row['rate']:>8,.0f}/s{delays}{_cost(row['cpu']):>13}"
            f"{row['cpu'] / floor:>9.2f}"
        )


def _cost(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} us"


def _record(floor: float, found: Mapping[str, Rows]) -> None:
    """Append the run to the history, and name what costs more than in the last one."""
    costs = {
        f"{store}, {name}": round(row["cpu"] / floor, 3)
        for store, rows in found.items()
        for name, row in rows.items()
    }
    history = HISTORY.read_text().splitlines() if HISTORY.exists() else []
    if history:
        last: dict[str, Any] = json.loads(history[-1])
        for name, cost in costs.items():
            before = last["floors"].get(name, cost)
            if cost > before * NOTABLE:
                print(f"{name}: {cost:.2f} floors, {before:.2f} at {last['commit']}")
    entry = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "floor_us": round(floor * 1e6, 1),
        "floors": costs,
        "calls": json.loads(FIGURES.read_text()),
    }
    with HISTORY.open("a") as file:
        file.write(json.dumps(entry) + "\n")


def _commit() -> str:
    command = ["git", "-C", str(HISTORY.parent), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"
