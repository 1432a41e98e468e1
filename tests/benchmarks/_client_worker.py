"""One measurement of one client library, in a process of its own.

`python -m tests.benchmarks._client_worker <library> <row>` loads `_client_<library>`, runs its
function named as the row and prints what it took. The row "first" needs no function: it is
everything from the loading to the first object that was read.

This module loads next to nothing, because what it loads would be missing in "first".
"""

import asyncio
import gc
import importlib
import inspect
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final, Self

NAMESPACE: Final = "default"
MADE: Final = "made"
"""The namespace of objects that are created to see how long that takes."""
LISTED: Final = 10_000
FOUND: Final = {("Running", "registry.example.io/web:1.2.3")}
"""The phase and the image that every library reads of every pod."""
CREATED: Final = 400
IN_FLIGHT: Final = 16

_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


class Meter:
    """The CPU seconds of a `with` block, and its MiB more of memory."""

    def __init__(self) -> None:
        self.cpu = self.mib = 0.0

    def __enter__(self) -> Self:
        gc.collect()
        self.mib -= resident_mib()
        self.cpu -= time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu += time.process_time()
        gc.collect()
        self.mib += resident_mib()


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * _PAGE_BYTES / 2**20


def documents() -> list[dict[str, Any]]:
    """Pods to create, with names that no other process uses."""
    text = os.environ["BENCHMARK_POD"]
    return [_named(json.loads(text), f"pod-{os.getpid()}-{n}") for n in range(CREATED)]


def _named(document: dict[str, Any], name: str) -> dict[str, Any]:
    document["metadata"].update(name=name, namespace=MADE)
    return document


def main(library: str, row: str) -> None:
    loading = Meter()
    with loading:
        module = importlib.import_module(f"tests.benchmarks._client_{library}")
        if row == "first":
            _call(module.read_one)
    loading.mib = resident_mib()
    meter = loading
    if row != "first":
        meter = Meter()
        _call(getattr(module, row), meter)
    print(json.dumps({"cpu": meter.cpu, "mib": meter.mib}))


def _call(function: Any, *arguments: Any) -> None:
    if inspect.iscoroutinefunction(function):
        asyncio.run(function(*arguments))
    else:
        function(*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
