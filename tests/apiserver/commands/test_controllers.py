"""`apiserver controllers`: which run, and that one takes up where another was killed."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from apis.apps.v1 import Deployment
from apis.controllers import CONTROLLERS, UnknownController, scheme, select
from client import AsyncClient, Config
from tests.servers import Server, serving

PATIENCE = 60.0
DEPLOYMENT: dict[str, Any] = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    },
}


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ("*", ["deployment", "replicaset"]),
        ("*,-deployment", ["replicaset"]),
        ("-deployment,*", ["replicaset"]),
        ("replicaset", ["replicaset"]),
        ("-replicaset", []),
    ],
)
def test_a_selection_of_controllers(selection: str, expected: list[str]) -> None:
    known = {"deployment": "", "replicaset": ""}

    assert select(selection.split(","), known) == expected


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownController, match=r"unknown controllers: jobs \(known: .*deployment"):
        select(["*", "-jobs"])


def test_names_are_those_of_controllers() -> None:
    assert "replicaset" in CONTROLLERS


@contextmanager
def controllers(server: Server, *flags: str) -> Iterator[subprocess.Popen[str]]:
    command = (sys.executable, "-m", "apiserver", "controllers")
    with subprocess.Popen(
        [*command, "--data-dir", str(server.data_dir), *flags],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


async def updated(client: AsyncClient, replicas: int) -> None:
    """Wait until the controllers have made the pods that the deployment wants."""
    await client.of(Deployment).wait(
        "web", lambda web: web.status.updated_replicas == replicas, timeout=PATIENCE
    )


def test_controllers_that_were_killed_are_replaced(tmp_path: Path) -> None:
    async def run(server: Server) -> None:
        config = Config.from_kubeconfig(server.kubeconfig)
        async with AsyncClient(config, scheme=scheme()) as client:
            deployments = client.of(Deployment)
            with controllers(server, "--no-leader-elect"):
                await deployments.create(DEPLOYMENT)
                await updated(client, 2)
            await deployments.patch("web", {"spec": {"replicas": 3}})
            with controllers(server) as process:
                await updated(client, 3)
                process.terminate()
                assert await asyncio.to_thread(process.wait, PATIENCE) == 0
            lease = client.kind("Lease", "coordination.k8s.io/v1", namespace="kube-system")
            assert (await lease.get("apiserver-workloads"))["spec"]["holderIdentity"] == ""

    with serving(tmp_path, groups=["apis.kubernetes:KUBERNETES"]) as server:
        asyncio.run(run(server))


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--controllers=jobs"], "apiserver: --controllers: unknown controllers: jobs"),
        (["--controllers=-deployment"], "apiserver: --controllers: chooses none"),
        (["--kubeconfig", "/nowhere"], "/nowhere"),
        (["--probes-address", "bad"], "apiserver: --probes-address: address 'bad': must be"),
        (["--metrics-address", ":x"], "apiserver: --metrics-address: address ':x': must be"),
    ],
)
def test_mistakes_are_reported(tmp_path: Path, flags: list[str], expected: str) -> None:
    command = (sys.executable, "-m", "apiserver", "controllers", "--data-dir", str(tmp_path))
    done = subprocess.run([*command, *flags], capture_output=True, text=True)

    assert done.returncode == 1
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
