"""The two sizes of server: how long each takes to get ready, and how much memory a worker has.

Times are of processors, not of a clock: what a start costs on a busy machine as well.
"""

import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from tests.servers import GADGETS, Server, serving

SIZES: Final = {"small": (GADGETS,), "all kinds": ("apis.kubernetes:KUBERNETES",)}
RUNS: Final = 3
SETTLING: Final = 40.0
"""Seconds in which a worker builds the classes that its start did not need, and cleans up."""


def run() -> None:
    print("| server | ready, CPU seconds | idle worker, MiB |\n|---|---|---|")
    for name, groups in SIZES.items():
        measured = [_measure(groups) for _ in range(RUNS)]
        seconds, memory = (median(column) for column in zip(*measured, strict=True))
        print(f"| {name} | {seconds:.2f} | {memory:.0f} |")


def _measure(groups: tuple[str, ...]) -> tuple[float, float]:
    with TemporaryDirectory() as folder, serving(Path(folder), groups=groups) as server:
        seconds = processor_seconds(server)
        time.sleep(SETTLING)
        return seconds, _resident(server.workers()[0])


def processor_seconds(server: Server) -> float:
    assert server.process is not None
    return sum(map(_seconds_of, (server.process.pid, *server.workers())))


def _seconds_of(process: int) -> float:
    """Return the CPU time of a process and of its children that have ended, in hundredths."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / 100


def _resident(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4 / 1024
