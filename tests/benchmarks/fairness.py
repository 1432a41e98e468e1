"""Priority and fairness: what one abusive user costs 50 others, with it and without.

50 users read a small object over one connection each, as fast as they are answered. One more user
lists everything in a tight loop, over many connections. Periods with and without the abuser take
turns, so that other load of the machine affects both alike. The clients share the processors with
the server; its processor time per answered request of the 50 shows what the abuser takes.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.benchmarks import _fairness_clients as clients
from tests.servers import Server, serving

USERS: Final = 50
ABUSIVE_CONNECTIONS: Final = 100
OBJECTS: Final = 2_000
PERIOD: Final = float(os.environ.get("FAIRNESS_SECONDS", "6"))
ROUNDS: Final = 3

_RBAC: Final = "rbac.authorization.k8s.io"


def run() -> None:
    print(f"-- {USERS} users, and one with {ABUSIVE_CONNECTIONS} connections that list")
    print(f"   {OBJECTS:,} objects of 1 KB, one worker; {ROUNDS} x {PERIOD:g} s each")
    for name, flags in (
        ("with priority and fairness", ()),
        ("without", ("--no-enable-priority-and-fairness",)),
    ):
        print(_line(name, measure(flags)))


def measure(flags: Sequence[str]) -> dict[str, float]:
    """Return the rates of the 50 users alone and beside the abuser, and costs."""
    tokens = [f"user-{number}" for number in range(USERS)]
    with tempfile.TemporaryDirectory() as folder, _prepared(Path(folder), tokens, flags) as server:
        common = str(server.port), str(server.ca_certificate)
        with (
            _clients(*common, "get", *tokens) as good,
            _clients(*common, "list", *(["abuser"] * ABUSIVE_CONNECTIONS)) as bad,
        ):
            alone, beside, lists, refused = [], [], [], []
            costs: dict[str, list[float]] = {"alone": [], "beside": []}
            _period(good, seconds=2)
            for _ in range(ROUNDS):
                before = _processor_time(server)
                alone.append(_period(good)["200"] / PERIOD)
                costs["alone"].append((_processor_time(server) - before) / (alone[-1] * PERIOD))
                _begin(bad, PERIOD + 1)
                _period(good, seconds=1)
                before = _processor_time(server)
                codes = _period(good)
                beside.append(max(codes.get("200", 0), 1) / PERIOD)
                costs["beside"].append((_processor_time(server) - before) / (beside[-1] * PERIOD))
                abused = _end(bad)
                lists.append(abused.get("200", 0) / (PERIOD + 1))
                refused.append(sum(codes.values()) - codes.get("200", 0))
    return {
        "alone": statistics.median(alone),
        "beside": statistics.median(beside),
        "cost": statistics.median(costs["alone"]),
        "cost_beside": statistics.median(costs["beside"]),
        "lists": statistics.median(lists),
        "refused": sum(refused),
    }


def _line(name: str, found: dict[str, float]) -> str:
    alone, beside, cost = found["alone"], found["beside"], found["cost"]
    return (
        f"{name:<27} {alone:6,.0f}/s alone ({cost * 1e6:.0f} us of a core each),"
        f" {beside:6,.0f}/s beside {found['lists']:.0f} lists/s: {1 - beside / alone:.0%} less"
        f" ({1 - cost / found['cost_beside']:.0%} by processor time),"
        f" {found['refused']:.0f} refused"
    )


@contextmanager
def _prepared(folder: Path, tokens: list[str], flags: Sequence[str]) -> Iterator[Server]:
    file = folder / "tokens.csv"
    file.write_text("".join(f'{token},{token},{token},"team"\n' for token in [*tokens, "abuser"]))
    flags = ["--token-auth-file", str(file), *flags]
    with serving(folder / "server", groups=(), flags=flags) as server:
        binding = {
            "metadata": {"name": "team"},
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "edit"},
            "subjects": [{"kind": "Group", "apiGroup": _RBAC, "name": "team"}],
        }
        path = f"/apis/{_RBAC}/v1/clusterrolebindings"
        assert server.request("POST", path, binding).code == 201
        _create_objects(server)
        yield server


def _create_objects(server: Server) -> None:
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    connection = server.connect()
    for number in range(OBJECTS):
        body = {"metadata": {"name": f"map-{number}"}, "data": {"text": "x" * 600}}
        connection.request("POST", clients.PATH, json.dumps(body), headers)
        response = connection.getresponse()
        assert response.status == 201, response.read()
        response.read()
    connection.close()


@contextmanager
def _clients(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", clients.__name__, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _period(process: subprocess.Popen[str], seconds: float = PERIOD) -> dict[str, int]:
    _begin(process, seconds)
    return _end(process)


def _begin(process: subprocess.Popen[str], seconds: float) -> None:
    print(seconds, file=process.stdin, flush=True)


def _end(process: subprocess.Popen[str]) -> dict[str, int]:
    assert process.stdout is not None
    codes: dict[str, int] = json.loads(process.stdout.readline())
    return codes


def _processor_time(server: Server) -> float:
    total = 0
    for pid in server.workers():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")
