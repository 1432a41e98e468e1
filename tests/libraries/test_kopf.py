"""An operator written with kopf reacts to what happens to gadgets on a real server."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Server

_SECONDS = 40.0
OPERATOR = Path(__file__).parent / "kopf_operator.py"


@pytest.fixture
def operator(server: Server, namespace: str, tmp_path: Path) -> Iterator[Path]:
    """Runs beside the test; gives its log."""
    log = tmp_path / "log"
    command = [sys.executable, "-m", "kopf", "run", "--namespace", namespace, "--verbose"]
    environ = {**os.environ, "KUBECONFIG": str(server.kubeconfig)}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, str(OPERATOR)], env=environ, stdout=output, stderr=output
        )
    yield log
    process.terminate()
    try:
        process.wait(20)
    finally:
        process.kill()
        process.wait()


def await_that(what: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while not what():
        assert time.monotonic() < deadline, log.read_text()[-5000:]
        time.sleep(0.02)


def test_an_operator_follows_a_gadget_from_creation_to_deletion(
    server: Server, namespace: str, operator: Path
) -> None:
    gadgets = f"/apis/gadgets.example.io/v1/namespaces/{namespace}/gadgets"
    made = f"/api/v1/namespaces/{namespace}/configmaps/lamp-made"
    merge = {"Content-Type": "application/merge-patch+json"}

    def model() -> Any:
        return server.request("GET", made).json.get("data", {}).get("model")

    server.request("POST", gadgets, {"metadata": {"name": "lamp"}, "spec": {"model": "a1"}})
    await_that(lambda: model() == "a1", operator)
    lamp = server.request("GET", f"{gadgets}/lamp").json
    owners = server.request("GET", made).json["metadata"]["ownerReferences"]
    assert [owner["uid"] for owner in owners] == [lamp["metadata"]["uid"]]
    assert lamp["metadata"]["finalizers"] == ["kopf.zalando.org/KopfFinalizerMarker"]

    server.request("PATCH", f"{gadgets}/lamp", {"spec": {"model": "b2"}}, headers=merge)
    await_that(lambda: model() == "b2", operator)
    await_that(
        lambda: server.request("GET", f"{gadgets}/lamp").json["status"].get("readyReplicas") == 1,
        operator,
    )

    server.request("DELETE", f"{gadgets}/lamp")
    await_that(lambda: server.request("GET", f"{gadgets}/lamp").code == 404, operator)
    assert server.request("GET", made).code == 404
