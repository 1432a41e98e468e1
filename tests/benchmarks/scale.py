"""Scale: what a get, a page, an event and a write cost with a million objects or 10,000 watchers.

Each size is measured in a server of its own, in a process of its own. Costs are processor time, so
they hold on a busy machine. `SCALE_OBJECTS`, `SCALE_ETCD` and `SCALE_WATCHERS` set the largest
sizes; a million objects need about 4 GB of memory and 4 GB of disk.

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
from typing import Any, Final

from tests.apiserver.storage.etcd.etcd_server import start_etcd
from tests.benchmarks import _scale_page
from tests.benchmarks._scale_server import WATCHES, measured

OBJECTS: Final = int(os.environ.get("SCALE_OBJECTS", "1000000"))
ETCD: Final = int(os.environ.get("SCALE_ETCD", "100000"))
WATCHERS: Final = int(os.environ.get("SCALE_WATCHERS", "10000"))


def run() -> None:
    found: dict[str, Any] = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "objects": {"sqlite": {}, "etcd": {}},
        "watchers": {kind: {} for kind in WATCHES},
    }
    for kind in WATCHES:
        for size in _sizes(10, WATCHERS):
            found["watchers"][kind][str(size)] = _report(f"{size:,} watch {kind}", kind, size)
    for size in _sizes(1_000, OBJECTS):
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/store.db"
            found["objects"]["sqlite"][str(size)] = _report(f"{size:,} on SQLite", url, size)
    for size in _sizes(1_000, ETCD):
        with tempfile.TemporaryDirectory() as folder, start_etcd(Path(folder)) as address:
            url = f"etcd://{address}"
            found["objects"]["etcd"][str(size)] = _report(f"{size:,} on etcd", url, size)
    _scale_page.FILE.write_text(json.dumps(found, indent=1) + "\n")
    _scale_page.write()


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
