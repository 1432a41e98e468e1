"""Starts: the processor time until a server is ready, for both sizes of server.

Of all processes of a server, until `/readyz` says ok: for the first start on an empty store and the
second one on what the first has written, on SQLite and on etcd. Sizes and stores take turns, so
that whatever else runs on the machine slows all of them down alike. Bytecode is compiled before.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.benchmarks.sizes import SIZES, processor_seconds
from tests.servers import serving

ROUNDS: Final = 3
STORES: Final = ("sqlite", "etcd")
STARTS: Final = ("first", "second")


def run() -> None:
    measured: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for size in SIZES:
        _measure(size, "sqlite")
    for _ in range(ROUNDS):
        for store in STORES:
            for size in SIZES:
                for start, seconds in zip(STARTS, _measure(size, store), strict=True):
                    measured[store, start, size].append(seconds)
    small, large = SIZES
    print(f"| store | start | {small}, CPU seconds | {large} | ratio |\n|---|---|--:|--:|--:|")
    for store in STORES:
        for start in STARTS:
            less, more = (median(measured[store, start, size]) for size in (small, large))
            print(f"| {store} | {start} | {less:.2f} | {more:.2f} | {more / less:.2f} |")


def _measure(size: str, store: str) -> tuple[float, float]:
    """Return the CPU seconds of the first and of the second start."""
    with (
        tempfile.TemporaryDirectory() as name,
        _storage(store, Path(name)) as url,
        serving(
            Path(name) / "server",
            groups=SIZES[size],
            storage=url,
            environ={"PYTHONDONTWRITEBYTECODE": ""},
        ) as server,
    ):
        first = processor_seconds(server)
        server.stop()
        server.start()
        return first, processor_seconds(server)


@contextmanager
def _storage(name: str, folder: Path) -> Iterator[str]:
    """Yield the URL of an empty store; empty for the file that a server creates."""
    if name == "sqlite":
        yield ""
        return
    with start_etcd(folder / "etcd") as address:
        yield f"etcd://{address}"
