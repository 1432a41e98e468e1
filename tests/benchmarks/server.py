"""A whole server under load: TLS, SQLite, objects of one kilobyte, one worker and two.

The load comes from a process of its own, which shares the machine with the server. The processor
time of the workers is measured too: unlike a rate, it does not depend on what else is running. A
worker that seems half idle is not: it waits for a processor that others have.

The delay of an event is counted from the moment its write is sent. As many writes are under way as
there are connections, so it cannot be less than their number divided by the rate of the writes.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.benchmarks import _server_load as load
from tests.servers import serving

REFERENCE: Final = {
    "create": "1,840/s",
    "get": "3,900/s",
    "get+put": "905/s",
    "merge patch": "1,320/s",
    "delete": "1,250/s",
    "list": "11/s (of 14,600 objects)",
    "watch": "88,000/s, p50 24 ms",
}
"""kube-apiserver 1.38 alpha on a like machine, for orientation; the two cores were shared with its
etcd and the load."""


def run() -> None:
    for workers in (1, 2):
        print(f"-- {workers} worker{'s' if workers > 1 else ''}, {load.CONNECTIONS} connections")
        for name, found in _measure(workers).items():
            print(_line(name, found))


def _measure(workers: int) -> dict[str, Any]:
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), workers=workers) as server,
    ):
        arguments = (str(server.port), str(server.ca_certificate), server.token)
        pids = [str(pid) for pid in server.workers()]
        command = [sys.executable, "-m", load.__name__, *arguments, *pids]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _line(name: str, found: dict[str, float]) -> str:
    what = {
        "list": f"list of {load.OBJECTS:,} objects",
        "watch": f"{load.WATCHERS} watchers x {load.EVENTS:,} events",
    }.get(name, name)
    delay = f", p50 {found['p50'] * 1000:.0f} ms" if "p50" in found else ""
    rate = f"{found['rate']:,.1f}/s" if found["rate"] < 100 else f"{found['rate']:,.0f}/s"
    cost = f"{found['cpu'] * 1e6:,.0f} us"
    reference = f"kube-apiserver {REFERENCE[name]}" if name in REFERENCE else ""
    return f"{what:<30} {rate + delay:<22} {cost:>12} of a core each   {reference}"
