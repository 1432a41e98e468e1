"""What a program loads until it has read one object, and what an event of a watch costs.

Both are counts, which are the same on every machine and under any load. A figure that has become
smaller is committed, too, or the gain could be lost unseen.
"""

import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Final

import orjson
import pytest

from apis.core.v1 import Pod
from client.object_codec import ObjectCodec
from client.watches.stream_watcher import decode_event
from tests.benchmarks._running_pods import running_pod

ROOT: Final = Path(__file__).parents[2]
MODULES: Final = 245
"""Modules loaded from the import of the client to the first object, with those of its kind."""
CALLS: Final = 51
"""Function calls that decode one event of a pod, in Python and in C."""
TOLERANCE: Final = 0.05
"""Releases of Python and of the libraries differ by a few."""
UNWANTED: Final = (
    *("aiohttp", "http", "importlib.metadata", "email", "tempfile", "zipfile", "unittest"),
    *("marshmallow", "google.protobuf", "prometheus_client", "apis.apps", "client.informer"),
)

READ_ONE: Final = """
import asyncio, json, sys

CONFIG = '{"kind":"Config","clusters":[{"name":"a","cluster":{"server":"http://127.0.0.1:%d"}}],' \\
    '"contexts":[{"name":"a","context":{"cluster":"a"}}],"current-context":"a"}'
DISCOVERY = {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": ""}, "versions": [
    {"version": "v1", "resources": [{"resource": "pods", "scope": "Namespaced", "verbs": ["get"],
        "responseKind": {"group": "", "version": "v1", "kind": "Pod"}}]}]}]}
POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}, "status": {"phase": "Running"}}

async def answer(reader, writer):
    try:
        while head := await reader.readuntil(b"\\r\\n\\r\\n"):
            is_pod = b"/pods/" in head
            body = json.dumps(POD if is_pod else DISCOVERY if b"/api " in head else {}).encode()
            kind = "" if is_pod else ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            writer.write(f"HTTP/1.1 200 OK\\r\\ncontent-type: application/json{kind}\\r\\n"
                         f"content-length: {len(body)}\\r\\n\\r\\n".encode() + body)
    except asyncio.IncompleteReadError:
        writer.close()

async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    with open(sys.argv[1], "w") as file:
        file.write(CONFIG % server.sockets[0].getsockname()[1])
    before = set(sys.modules)

    from apis.core.v1 import Pod
    from client import AsyncClient

    async with AsyncClient.from_env(kubeconfig=sys.argv[1]) as client:
        pod = await client.of(Pod, api_version="v1").get("a")
        assert pod.status.phase == "Running"
    print(*sorted(set(sys.modules) - before))
    server.close()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    kubeconfig = tmp_path_factory.mktemp("read") / "kubeconfig"
    command = [sys.executable, "-c", READ_ONE, str(kubeconfig)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.split()


def test_a_read_loads_what_it_needs(loaded: list[str]) -> None:
    assert [name for name in UNWANTED if name in loaded] == []


def test_a_read_loads_no_more_modules_than_it_did(loaded: list[str]) -> None:
    assert len(loaded) == pytest.approx(MODULES, rel=TOLERANCE), loaded


def test_an_event_costs_what_it_did() -> None:
    codec = ObjectCodec(Pod)
    frame = b'{"type":"ADDED","object":' + orjson.dumps(running_pod("1234")) + b"}"
    for _ in range(3):
        decode_event(frame, codec.decode)
    calls = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        decode_event(frame, codec.decode)
    finally:
        sys.setprofile(None)

    assert calls == pytest.approx(CALLS, rel=TOLERANCE)
