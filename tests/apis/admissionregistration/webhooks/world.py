"""A server and a webhook that it calls over the network, for the tests of this folder."""

import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from apis.admissionregistration.install import ADMISSIONREGISTRATION
from apis.gadgets.install import GADGETS
from apiserver.config import ServerConfig
from client.config import Config
from client.testing.app_server import InMemoryServer
from client.testing.network_server import listen
from tests.webhook_server import Answer, Received, Reply, WebhookServer, webhook_server

NAMESPACE = "hooked"
"""The namespace for whose objects webhooks are called."""
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
GADGETS_V1 = f"/apis/gadgets.example.io/v1/namespaces/{NAMESPACE}/gadgets"
GADGETS_BETA = f"/apis/gadgets.example.io/v1beta1/namespaces/{NAMESPACE}/gadgets"
EVERYTHING = {
    "operations": ["*"],
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "resources": ["*/*"],
}

_REGISTRATION = "/apis/admissionregistration.k8s.io/v1"


@dataclass(frozen=True)
class Response:
    code: int
    body: Any
    warnings: list[str]

    @property
    def message(self) -> str:
        text: str = self.body.get("message", "")
        return text


class World:
    """The server under test, and the webhook."""

    def __init__(self, session: aiohttp.ClientSession, config: Config, hook: WebhookServer) -> None:
        self.hook = hook
        self._session = session
        self._url = config.server
        self._token = config.auth.token
        self._configured: set[str] = set()

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        **query: str,
    ) -> Response:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": content_type}
        data = None if body is None else json.dumps(body)
        async with self._session.request(
            method, self._url + path, data=data, headers=headers, params=query
        ) as response:
            content = await response.read()
            return Response(
                response.status,
                json.loads(content) if content.startswith(b"{") else content.decode(),
                response.headers.getall("Warning", []),
            )

    async def patch(self, path: str, body: Any, **query: str) -> Response:
        merge = "application/merge-patch+json"
        return await self.request("PATCH", path, body, content_type=merge, **query)

    async def create(self, name: str, **fields: Any) -> Response:
        """Create a ConfigMap."""
        body = {"metadata": {"name": name}, **fields}
        return await self.request("POST", CONFIG_MAPS, body)

    async def configure(
        self,
        mutating: Sequence[Mapping[str, Any]] = (),
        validating: Sequence[Mapping[str, Any]] = (),
        *,
        name: str = "test",
    ) -> None:
        """Replace the configurations of this name, and forget what the webhook has received."""
        for kind, webhooks in (("Mutating", mutating), ("Validating", validating)):
            path = f"{_REGISTRATION}/{kind.lower()}webhookconfigurations"
            await self.request("DELETE", f"{path}/{name}")
            if webhooks:
                body = {"metadata": {"name": name}, "webhooks": webhooks}
                created = await self.request("POST", path, body)
                assert created.code == 201, created.message
                self._configured.add(name)
            # A consistent read waits until the cache has the change.
            await self.request("GET", path)
        self.hook.received.clear()

    async def clear(self) -> None:
        """Remove all configurations and the objects of tests."""
        for name in sorted(self._configured):
            await self.configure(name=name)
        self._configured.clear()
        for path in (CONFIG_MAPS, GADGETS_V1):
            await self.request("DELETE", path)
        self.hook.received.clear()

    def webhook(self, path: str, **fields: Any) -> dict[str, Any]:
        """Return a webhook at a path of the server, for every write in the namespace."""
        return {
            "name": f"{path.replace('/', '-')}.example.com",
            "clientConfig": {
                "url": self.hook.url(f"/{path}"),
                "caBundle": base64.b64encode(self.hook.ca).decode(),
            },
            "rules": [EVERYTHING],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "namespaceSelector": {"matchLabels": {"hooked": "yes"}},
            **fields,
        }

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The requests of the reviews that the webhook has received."""
        return [received.review["request"] for received in self.hook.received]

    @property
    def called(self) -> list[str]:
        """The paths at which the webhook was called, in order."""
        return [received.path.removeprefix("/") for received in self.hook.received]


@asynccontextmanager
async def running_world(
    folder: Path, *, config: ServerConfig | None = None
) -> AsyncIterator[World]:
    server = InMemoryServer([ADMISSIONREGISTRATION, GADGETS], config=config)
    await server.app.start()
    try:
        async with (
            listen(server, folder) as kubeconfig,
            webhook_server(allow) as hook,
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False)) as session,
        ):
            world = World(session, Config.from_kubeconfig(kubeconfig), hook)
            for name, labels in ((NAMESPACE, {"hooked": "yes"}), ("free", {})):
                body = {"metadata": {"name": name, "labels": labels}}
                await world.request("POST", "/api/v1/namespaces", body)
            yield world
    finally:
        await server.app.stop()


# Answers of the webhook


def answer(received: Received, **response: Any) -> bytes:
    """Return the answer to a review."""
    review = received.review
    document = {
        "apiVersion": review["apiVersion"],
        "kind": "AdmissionReview",
        "response": {"uid": review["request"]["uid"], **response},
    }
    return json.dumps(document).encode()


def allow(received: Received) -> bytes:
    return answer(received, allowed=True)


def patch_with(*operations: Any) -> Answer:
    """Return an answer that patches every object."""

    def respond(received: Received) -> bytes:
        return answer(received, allowed=True, **patching(operations))

    return respond


def patching(operations: Any) -> dict[str, str]:
    patch = operations if isinstance(operations, bytes) else json.dumps(operations).encode()
    return {"patch": base64.b64encode(patch).decode(), "patchType": "JSONPatch"}


def deny(**status: Any) -> Answer:
    """Return an answer that rejects every write."""
    return lambda received: answer(received, allowed=False, status=status)


def reply(body: bytes, code: int = 200, media_type: str = "application/json") -> Answer:
    """Return an answer of any bytes."""
    return lambda received: Reply(body, code, {"Content-Type": media_type})


def label_by_path(received: Received) -> bytes:
    """Add the label that the path names: `label/a` adds `a: yes`."""
    obj = received.review["request"]["object"]
    kind, _, name = received.path.strip("/").partition("/")
    if kind != "label" or obj is None:
        return allow(received)
    labels = {**obj["metadata"].get("labels", {}), name: "yes"}
    operation = {"op": "add", "path": "/metadata/labels", "value": labels}
    return answer(received, allowed=True, **patching([operation]))
