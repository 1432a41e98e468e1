"""The typed client reading 10,000 pods of Kubernetes' own kind, next to lightkube.

The server has all kinds. Each library reads one pod first, in a process of its own, and then lists;
the best of its runs counts. CPU time is that of the client's process: the measure that holds on a
busy machine. The runs of the libraries take turns.
"""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from apis.core.v1 import Pod
from client.client import AsyncClient
from tests.servers import Server, serving

COUNT: Final = 10_000
RUNS: Final = 3
WRITERS: Final = 16
_MEASURE: Final = """
import json, resource, sys, time
{imports}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began, worked = time.perf_counter(), time.process_time()
{read}
images = {{pod.spec.containers[0].image for pod in pods}}
worked, seconds = time.process_time() - worked, time.perf_counter() - began
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert (len(pods), len(images)) == ({count}, 1)
print(json.dumps([worked, seconds, (after - before) / 1024]))
"""
PROGRAMS: Final = {
    "ours": (
        "from apis.core.v1 import Pod\nfrom client import Client\n"
        "client = Client.from_env().of(Pod, api_version='v1')\nclient.get('pod-0')",
        "pods = list(client.list())",
    ),
    "lightkube": (
        "from lightkube import Client\nfrom lightkube.resources.core_v1 import Pod\n"
        "client = Client(namespace='default')\nclient.get(Pod, 'pod-0')",
        "pods = list(client.list(Pod))",
    ),
}


def run() -> None:
    names = [name for name in PROGRAMS if name == "ours" or importlib.util.find_spec(name)]
    with TemporaryDirectory() as folder, _server(Path(folder)) as server:
        asyncio.run(_fill(server))
        rounds = [{name: _measure(name, server) for name in names} for _ in range(RUNS)]
    print(f"| list {COUNT:,} pods, typed | CPU seconds | seconds | grows by, MiB |")
    print("|---|---|---|---|")
    for name in names:
        worked, seconds, memory = map(min, zip(*(each[name] for each in rounds), strict=True))
        print(f"| {name} | {worked:.2f} | {seconds:.2f} | {memory:.0f} |")


def _server(folder: Path) -> Any:
    return serving(folder, groups=("apis.kubernetes:KUBERNETES",))


def _measure(name: str, server: Server) -> tuple[float, float, float]:
    imports, read = PROGRAMS[name]
    program = _MEASURE.format(imports=imports, read=read, count=COUNT)
    environ = {**os.environ, "KUBECONFIG": str(server.kubeconfig)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, check=True, text=True
    )
    worked, seconds, memory = json.loads(done.stdout)
    return worked, seconds, memory


async def _fill(server: Server) -> None:
    names = iter(range(COUNT))
    async with AsyncClient.from_env(kubeconfig=server.kubeconfig) as client:
        pods = client.of(Pod, api_version="v1")

        async def write() -> None:
            for number in names:
                await pods.create(_pod(number))

        async with asyncio.TaskGroup() as tasks:
            for _ in range(WRITERS):
                tasks.create_task(write())


def _pod(number: int) -> dict[str, Any]:
    container = {
        "name": "web",
        "image": "registry.example.io/web:1.2.3",
        "args": ["--port", "8080"],
        "env": [{"name": "COLOR", "value": "blue"}, {"name": "NUMBER", "value": str(number)}],
        "ports": [{"name": "http", "containerPort": 8080}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
    }
    return {
        "metadata": {"name": f"pod-{number}", "labels": {"app": "web", "shard": str(number % 7)}},
        "spec": {"containers": [container], "nodeSelector": {"disk": "ssd"}},
    }
