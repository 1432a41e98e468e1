"""An operator written with kopf admits gadgets of a real server by webhooks of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from apimachinery.certificates import CertificateAuthority
from tests.servers import GADGETS, Server, serving

_SECONDS = 40.0
OPERATOR = Path(__file__).parent / "kopf_admission.py"
ADMISSION = "apis.admissionregistration.install:ADMISSIONREGISTRATION"
MERGE = {"Content-Type": "application/merge-patch+json"}
REGISTRATION = "/apis/admissionregistration.k8s.io/v1"


@pytest.fixture
def admitting_server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path / "server", groups=(GADGETS, ADMISSION)) as server:
        server.make_namespace("admitted")
        yield server


@pytest.fixture
def operator(admitting_server: Server, tmp_path: Path) -> Iterator[Path]:
    """Runs beside the test; gives its log."""
    log, folder = tmp_path / "log", tmp_path / "certificates"
    folder.mkdir()
    now = datetime.now(UTC)
    authority = CertificateAuthority.create(now=now)
    pair = authority.issue_serving(("127.0.0.1",), now=now)
    for name, content in (
        ("ca.crt", authority.pair.certificate),
        ("serving.crt", pair.certificate),
        ("serving.key", pair.key),
    ):
        (folder / name).write_bytes(content)
    environ = {
        **os.environ,
        "KUBECONFIG": str(admitting_server.kubeconfig),
        "CERTIFICATES": str(folder),
    }
    command = [sys.executable, "-m", "kopf", "run", "--all-namespaces", "--verbose", str(OPERATOR)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environ, stdout=output, stderr=output)
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
        time.sleep(0.05)


def test_gadgets_are_completed_and_protected(admitting_server: Server, operator: Path) -> None:
    server = admitting_server
    gadgets = "/apis/gadgets.example.io/v1/namespaces/admitted/gadgets"

    def has_webhooks(kind: str, count: int) -> bool:
        found = server.request("GET", f"{REGISTRATION}/{kind}webhookconfigurations/auto.kopf.dev")
        return found.code == 200 and len(found.json.get("webhooks", ())) == count

    await_that(lambda: has_webhooks("mutating", 1), operator)
    await_that(lambda: has_webhooks("validating", 2), operator)

    lamp = {"metadata": {"name": "lamp", "labels": {"treasure": "yes"}}, "spec": {"model": "a1"}}
    tried = server.request("POST", f"{gadgets}?dryRun=All", lamp)
    created = server.request("POST", gadgets, lamp)
    assert (tried.code, created.code) == (201, 201), (tried.body, created.body)
    assert tried.json["metadata"]["labels"]["admitted"] == "dry"
    assert created.json["metadata"]["labels"]["admitted"] == "yes"
    assert created.json["spec"]["replicas"] == 3
    assert created.headers["Warning"] == '299 - "three replicas are better than one"'

    path = f"{gadgets}/lamp"
    changed = server.request("PATCH", path, {"spec": {"model": "b2"}}, headers=MERGE)
    assert changed.code == 409
    assert changed.json["message"].endswith("denied the request: the model is a1 forever")

    kept = server.request("DELETE", path)
    assert kept.code >= 400
    assert kept.json["message"].endswith("denied the request: lamp is a treasure")
    server.request("PATCH", path, {"metadata": {"labels": {"treasure": None}}}, headers=MERGE)
    assert server.request("DELETE", path).code == 200
