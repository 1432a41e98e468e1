"""Well-behaved clients next to abuse: how long 50 of them wait while another user does its worst.

A real server with two workers, SQLite and TLS, for each abuse a new one. 50 users send five small
requests a second each; one more user abuses the server. Everything shares the processors of this
machine: the workers, the load and the abuse. `FIGURES` keeps the results, see
`tests/faults/figures.py`.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.benchmarks import _abuse_attacks as attacks
from tests.benchmarks import _abuse_clients as clients
from tests.faults.figures import record_figures
from tests.servers import Server, serving

CLIENTS: Final = 50
SECONDS: Final = float(os.environ.get("ABUSE_SECONDS", "10"))
TOKENS: Final = [f"good-{number}" for number in range(CLIENTS)]
BOUND: Final = 250.0
"""Milliseconds in which 99 of 100 requests must be answered."""
ABUSER: Final = "abuser"
POWERLESS: Final = "powerless"


def run() -> None:
    named = os.environ.get("ABUSE", "")
    for name in attacks.ABUSES:
        if named in name:
            figures = measure(name)
            record_figures("abuses", name, **figures)
            if figures["p99"] > BOUND or figures["refused"] or figures["restarted"]:
                print("  above the bound, or refused, or a worker has died")


def measure(name: str) -> dict[str, Any]:
    """What the well-behaved clients see while somebody does what is called *name*."""
    with tempfile.TemporaryDirectory() as folder, _prepared(Path(folder)) as server:
        workers = server.workers()
        common = (str(server.port), str(server.ca_certificate))
        with (
            _process(clients.__name__, *common, str(SECONDS), *TOKENS) as good,
            _process(attacks.__name__, name, *common, ABUSER, POWERLESS) as bad,
        ):
            _await_line(bad)
            _await_line(good)
            print(file=good.stdin, flush=True)
            assert good.stdout is not None
            found = json.loads(good.stdout.readline())
        delays = sorted(found["delays"])
        codes = found["codes"]
        return {
            "requests": len(delays),
            "p50": 1000 * statistics.median(delays),
            "p99": 1000 * delays[len(delays) * 99 // 100],
            "max": 1000 * delays[-1],
            "pause": 1000 * _longest_pause(server),
            "memory": sum(map(_peak_memory, workers)) / 2**20,
            "refused": sum(times for code, times in codes.items() if code not in ("200", "201")),
            "restarted": len(set(workers) - set(server.workers())),
        }


@contextmanager
def _prepared(folder: Path) -> Iterator[Server]:
    """A server whose users have roles; none of them is exempt from any limit."""
    users = [(token, "team") for token in TOKENS] + [(ABUSER, "abusers"), (POWERLESS, "strangers")]
    tokens = folder / "tokens.csv"
    tokens.write_text("".join(f'{name},{name},{name},"{group}"\n' for name, group in users))
    with serving(folder / "server", workers=2, flags=["--token-auth-file", str(tokens)]) as server:
        for group, role in (("team", "edit"), ("abusers", "cluster-admin")):
            made = server.request("POST", _BINDINGS, _binding(group, role))
            assert made.code == 201, made.body
        yield server


_RBAC: Final = "rbac.authorization.k8s.io"
_BINDINGS: Final = f"/apis/{_RBAC}/v1/clusterrolebindings"


def _binding(group: str, role: str) -> dict[str, Any]:
    return {
        "metadata": {"name": group},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "Group", "apiGroup": _RBAC, "name": group}],
    }


@contextmanager
def _process(module: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _await_line(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline(), "the process has ended"


def _longest_pause(server: Server) -> float:
    """The longest pause of an event loop of a worker, in seconds, as the server measures it."""
    text = server.request("GET", "/metrics").body.decode()
    found = re.findall(r"^apiserver_event_loop_longest_pause_seconds\S* (\S+)", text, re.MULTILINE)
    return max(map(float, found), default=0.0)


def _peak_memory(pid: int) -> int:
    """The most memory that a process has ever had, in bytes; 0 if it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return 0
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
