"""What an admission webhook costs the server: processor time per create, with webhooks and without.

The server runs in processes of its own, and so does nothing else that is measured: the webhook and
the clients are in this one. Rounds with and without webhooks take turns, so that whatever else the
machine does meets them alike; the best of each counts.
"""

import asyncio
import base64
import json
import os
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import uvloop

from tests.servers import Server, serving
from tests.webhook_server import Received, WebhookServer, webhook_server
from tests.wire import Address, Wire, connected

GROUPS: Final = ("apis.admissionregistration.install:ADMISSIONREGISTRATION",)
CREATES: Final = 1000
CONNECTIONS: Final = 16
ROUNDS: Final = 3

PATH: Final = "/api/v1/namespaces/bench/configmaps"
REGISTRATION: Final = "/apis/admissionregistration.k8s.io/v1/"
VARIANTS: Final = ("none", "not concerned", "validating", "mutating", "patching", "both")


def run() -> None:
    uvloop.run(_measure())


async def _measure() -> None:
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), groups=GROUPS) as server:
        server.make_namespace("bench")
        async with webhook_server(_answer) as hook:
            await _rounds(server, hook)


async def _rounds(server: Server, hook: WebhookServer) -> None:
    best = dict.fromkeys(VARIANTS, float("inf"))
    for round_number in range(ROUNDS):
        for variant in VARIANTS:
            await asyncio.to_thread(_configure, server, hook, variant)
            used = await _creates(server, f"{variant.replace(' ', '-')}-{round_number}")
            best[variant] = min(best[variant], used)
    for variant, seconds in best.items():
        factor = seconds / best["none"]
        print(f"  {variant:<14} {seconds * 1e6:6.0f} µs of the server per create ({factor:.2f} x)")


async def _creates(server: Server, name: str) -> float:
    """Return the seconds of the server's processors per create."""
    address, numbers = Address.of(server), iter(range(CREATES))

    async def create(wire: Wire) -> None:
        for number in numbers:
            body = {"metadata": {"name": f"{name}-{number}"}, "data": {"key": "value" * 20}}
            answer = await wire.request("POST", PATH, body)
            assert answer.code == 201, answer.body

    async with AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(connected(address)) for _ in range(CONNECTIONS)]
        before = _processor_time(server)
        async with asyncio.TaskGroup() as creating:
            for wire in wires:
                creating.create_task(create(wire))
        return (_processor_time(server) - before) / CREATES


def _processor_time(server: Server) -> float:
    ticks = 0
    for pid in server.workers():
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _answer(received: Received) -> bytes:
    review = json.loads(received.body)
    response: dict[str, Any] = {"uid": review["request"]["uid"], "allowed": True}
    if received.path == "/patch":
        patch = [{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}]
        encoded = base64.b64encode(json.dumps(patch).encode()).decode()
        response |= {"patchType": "JSONPatch", "patch": encoded}
    return json.dumps({**review, "request": None, "response": response}).encode()


def _configure(server: Server, hook: WebhookServer, variant: str) -> None:
    paths = {
        "none": ("", ""),
        "not concerned": ("", "other"),
        "validating": ("", "allow"),
        "mutating": ("allow", ""),
        "patching": ("patch", ""),
        "both": ("allow", "allow"),
    }[variant]
    for kind, path in zip(("Mutating", "Validating"), paths, strict=True):
        collection = f"{REGISTRATION}{kind.lower()}webhookconfigurations"
        server.request("DELETE", f"{collection}/bench")
        if path:
            body = {"metadata": {"name": "bench"}, "webhooks": [_webhook(hook, path)]}
            created = server.request("POST", collection, body)
            assert created.code == 201, created.body
        server.request("GET", collection)


def _webhook(hook: WebhookServer, path: str) -> dict[str, Any]:
    resource = "secrets" if path == "other" else "configmaps"
    return {
        "name": f"{path}.example.com",
        "clientConfig": {
            "url": hook.url(f"/{path}"),
            "caBundle": base64.b64encode(hook.ca).decode(),
        },
        "rules": [
            {
                "operations": ["CREATE"],
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "resources": [resource],
            }
        ],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
