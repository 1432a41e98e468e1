"""A server with every kind, in this process, that manifests are applied to."""

import asyncio
from collections.abc import Mapping
from typing import Any

import orjson
import yaml

from apimachinery.schema import GroupVersion
from apiserver.app import App
from apiserver.endpoint import Endpoint
from tests.apis.kinds.kind_files import Manifest
from tests.apiserver.http.driver import Answer, Driver

APPLY = {"content-type": "application/apply-patch+yaml"}
MANAGED = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
"""What the server puts into the metadata of every object, different each time."""


class KindServer:
    """The server, and which manifests have been applied."""

    def __init__(self, app: App, token: str) -> None:
        self.app = app
        self.driver = Driver(app, authorization=f"Bearer {token}")
        self._applied: set[str] = set()

    def endpoint(self, document: Mapping[str, Any]) -> Endpoint:
        version = GroupVersion.parse(document["apiVersion"])
        endpoints = self.app.groups.version(version.group, version.version) or {}
        return next(e for e in endpoints.values() if e.kind.kind == document["kind"])

    def collection(self, document: Mapping[str, Any]) -> str:
        """The path of the collection that an object belongs to."""
        endpoint = self.endpoint(document)
        root = f"/apis/{endpoint.version}" if endpoint.version.group else "/api/v1"
        if endpoint.resource.namespaced:
            root += f"/namespaces/{document['metadata'].get('namespace', 'default')}"
        return f"{root}/{endpoint.resource.name}"

    def path(self, document: Mapping[str, Any]) -> str:
        return f"{self.collection(document)}/{document['metadata']['name']}"

    async def read(self, document: Mapping[str, Any], accept: str = "application/json") -> Answer:
        answer = await self.driver.send("GET", self.path(document), headers={"accept": accept})
        assert answer.code == 200, answer.body
        return answer

    async def apply(self, document: Mapping[str, Any]) -> Any:
        """Apply a document, its status apart from the rest; return the object."""
        endpoint = self.endpoint(document)
        parts = ["", "/status"] if endpoint.resource.has_status and "status" in document else [""]
        for part in parts:
            body = yaml.safe_dump(document).encode()
            query = f"?fieldManager=kinds{part.replace('/', '-')}&fieldValidation=Strict"
            path = f"{self.path(document)}{part}{query}"
            answer = await self.driver.send("PATCH", path, body=body, headers=APPLY)
            assert answer.code in (200, 201), answer.json["message"]
        await self._settled(document)
        return answer.json

    async def applied(self, manifest: Manifest) -> Any:
        """Return the object of a manifest, which is applied when it is first asked for."""
        if manifest.name not in self._applied:
            for document in (*manifest.needed, manifest.document):
                await self.apply(document)
            self._applied.add(manifest.name)
        return (await self.read(manifest.document)).json

    async def _settled(self, document: Mapping[str, Any]) -> None:
        """Wait until a controller has accepted the names of a definition."""
        async with asyncio.timeout(10):
            while document["kind"] == "CustomResourceDefinition":
                if b'"Established"' in (await self.read(document)).body:
                    return
                await asyncio.sleep(0)

    async def create(self, document: Mapping[str, Any]) -> None:
        """Create an object unless it exists."""
        answer = await self.driver.post(self.collection(document), document)
        assert answer.code in (201, 409), answer.json["message"]
        await self._settled(document)

    async def table(self, path: str) -> Any:
        accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
        answer = await self.driver.send("GET", path, headers={"accept": accept})
        assert answer.code == 200, answer.body
        return answer.json


def without_managed(document: Mapping[str, Any]) -> Any:
    """Return a copy of a document without what is different each time."""
    copy = orjson.loads(orjson.dumps(document))
    for name in MANAGED:
        copy["metadata"].pop(name, None)
    return copy


def is_expected(expected: Any, found: Any) -> bool:
    """Compare documents; "*" in what is expected is anything that is not empty."""
    if expected == "*":
        return bool(found)
    if isinstance(expected, dict) and isinstance(found, dict):
        return expected.keys() == found.keys() and all(
            is_expected(value, found[key]) for key, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(is_expected, expected, found))
    return type(expected) is type(found) and bool(expected == found)


def missing(part: Any, whole: Any, path: str = "") -> list[str]:
    """Return the paths of the values in *part* that *whole* does not have."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return [p for key in part for p in missing(part[key], whole.get(key), f"{path}.{key}")]
    if isinstance(part, list) and isinstance(whole, list) and len(part) == len(whole):
        pairs = zip(part, whole, strict=True)
        return [p for i, (a, b) in enumerate(pairs) for p in missing(a, b, f"{path}[{i}]")]
    return [] if part == whole else [f"{path}: {part!r} is {whole!r}"]
