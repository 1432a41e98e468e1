"""Scale: what a get, a page, an event and a write cost with a million objects or 10,000 watchers.

Each size is measured in a server of its own, in a process of its own. Costs are processor time, so
they hold on a busy machine. `SCALE_OBJECTS`, `SCALE_ETCD` and `SCALE_WATCHERS` set the largest
sizes; a million objects need about 3 GB of memory and as much of the disk. `SCALE_PARTS=objects`
measures these only, and keeps the other figures.

The figures are written to `docs/scale.json`, and from there into the plots and tables of
`docs/scale.md`; `python -m tests.benchmarks._scale_page` does the latter alone.
"""

import json
import os
import platform
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.benchmarks import _scale_page
from tests.benchmarks._scale_server import WATCHES, measured

OBJECTS: Final = int(os.environ.get("SCALE_OBJECTS", "1000000"))
ETCD: Final = int(os.environ.get("SCALE_ETCD", "100000"))
WATCHERS: Final = int(os.environ.get("SCALE_WATCHERS", "10000"))
PARTS: Final = os.environ.get("SCALE_PARTS", "watchers,objects").split(",")


def run() -> None:
    found = json.loads(_scale_page.FILE.read_text()) if _scale_page.FILE.exists() else {}
    found["time"] = datetime.now(UTC).isoformat(timespec="seconds")
    found["python"] = platform.python_version()
    if "watchers" in PARTS:
        found["watchers"] = {
            kind: {
                str(size): _report(f"{size:,} watch {kind}", kind, size)
                for size in _sizes(10, WATCHERS)
            }
            for kind in WATCHES
        }
    if "objects" in PARTS:
        found["objects"] = {
            "sqlite": {str(size): _on_sqlite(size) for size in _sizes(1_000, OBJECTS)},
            "etcd": {str(size): _on_etcd(size) for size in _sizes(1_000, ETCD)},
        }
    _scale_page.FILE.write_text(json.dumps(found, indent=1) + "\n")
    _scale_page.write()


def _watching(kind: str) -> dict[str, dict[str, float]]:
    sizes = _sizes(10, WATCHERS)
    return {str(size): _report(f"{size:,} watch {kind}", kind, size) for size in sizes}


def _on_sqlite(size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        return _report(f"{size:,} on SQLite", f"sqlite:///{folder}/store.db", size)


def _on_etcd(size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, start_etcd(Path(folder)) as address:
        return _report(f"{size:,} on etcd", f"etcd://{address}", size)


def _sizes(first: int, last: int) -> Iterator[int]:
    size = first
    while size <= last:
        yield size
        size *= 10


def _report(title: str, where: str, size: int) -> dict[str, float]:
    row = measured("objects" if "://" in where else "watchers", where, str(size))
    print(
        f"{title}: {', '.join(f'{name} {value:,.1f}' for name, value in row.items())}", flush=True
    )
    return row
