"""OpenAPI: `/openapi/v3`, one document for each version, and `/openapi/v2`, one for everything.

A document is large and takes a while to make, so it is made when it is first asked for, beside the
loop, and kept until groups come or go. Its URL carries a hash of it: who knows the hash may keep
the document for ever.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Final

import orjson
from falcon.asgi import Request, Response

from apimachinery.openapi.documents import document_v2, document_v3, index_versions
from apimachinery.openapi.gnostic import GnosticEncoder
from apimachinery.openapi.gnostic_v3 import V3
from apimachinery.openapi.operations import ResourceDescription, SubresourceDescription
from apimachinery.scale import Scale
from apimachinery.schema import GroupVersion, GroupVersionKind
from apimachinery.serialization.media_types import JSON, parse_accept
from apiserver.endpoint import Endpoint
from apiserver.group import Subresource
from apiserver.handlers.routes import NOWHERE, Methods, RefreshedMethods
from apiserver.http.negotiation import accepts_gzip
from apiserver.http.response import LARGE, TEXT, exchange_of, write_stream, write_text
from apiserver.install import Groups
from apiserver.pages.version import version_document
from apiserver.views.scale_mapping import KIND

TITLE: Final = "Kubernetes"
_V2_ASKED: Final = (
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
)
_V2_TOLD: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_V3_ASKED: Final = tuple(name.replace("spec.v2", "spec.v3") for name in _V2_ASKED)
_V3_TOLD: Final = _V2_TOLD.replace("spec.v2", "spec.v3")


@dataclass(frozen=True, slots=True)
class Published:
    """A document that is ready to be sent."""

    data: bytes
    digest: str
    media_type: str = JSON


class OpenAPI:
    """Answers with the descriptions of everything that is served."""

    def __init__(self, groups: Callable[[], Groups]) -> None:
        self._groups = groups
        self._made: dict[str, Published] = {}
        self._revision = -1
        self._making = asyncio.Lock()

    def find(self, rest: str) -> Methods | None:
        """What answers below `/openapi`, when what was defined last has been looked at."""
        refresh = self._groups().refresh
        if refresh is None:
            return self._find(rest)
        return RefreshedMethods(refresh, lambda: self._find(rest) or NOWHERE)

    def _find(self, rest: str) -> Methods | None:
        if rest == "v2":
            return Methods(GET=self.on_v2)
        if rest == "v3":
            return Methods(GET=self.on_index)
        path = rest.removeprefix("v3/")
        if path != rest and path in self._paths():
            return Methods(GET=lambda req, resp: self.on_v3(req, resp, path))
        return None

    async def on_index(self, req: Request, resp: Response) -> None:
        """Where the document of each version is."""
        paths = {}
        for path in self._paths():
            digest = (await self._v3(path)).digest
            paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
        resp.content_type = TEXT
        resp.data = orjson.dumps({"paths": paths})

    async def on_v3(self, req: Request, resp: Response, path: str) -> None:
        """One document; a hash that is not its own leads to the URL with the right one."""
        found = await self._v3(path)
        asked = exchange_of(req).parameter("hash")
        if asked and asked != found.digest:
            resp.status = 301
            resp.set_header("location", f"/openapi/v3/{path}?hash={found.digest}")
            return
        media_type = _accepts(req, (JSON, *_V3_ASKED))
        if not media_type:
            write_text(resp, "406 Not Acceptable\n", code=406)
            return
        if media_type != JSON:
            document = found.data
            found = await self._document(f"{path} protobuf", lambda: _as_protobuf(document))
        if asked:
            resp.set_header("cache-control", "public, immutable")
            expires = datetime.now(UTC) + timedelta(days=365)
            resp.set_header("expires", format_datetime(expires, usegmt=True))
        _send(req, resp, found)

    async def on_v2(self, req: Request, resp: Response) -> None:
        """Everything in one document, as JSON or as the protobuf that older kubectls read."""
        media_type = _accepts(req, (JSON, *_V2_ASKED))
        if not media_type:
            write_text(resp, "406 Not Acceptable\n", code=406)
            return
        key = "v2" if media_type == JSON else "v2 protobuf"
        _send(req, resp, await self._document(key, lambda: self._make_v2(media_type != JSON)))

    async def _v3(self, path: str) -> Published:
        return await self._document(path, lambda: self._make_v3(path))

    async def _document(self, key: str, make: Callable[[], Published]) -> Published:
        async with self._making:
            revision = self._groups().revision
            if revision != self._revision:
                self._made.clear()
                self._revision = revision
            found = self._made.get(key)
            if found is None:
                found = self._made[key] = await asyncio.to_thread(make)
            return found

    def _paths(self) -> dict[str, GroupVersion]:
        return {_path(version): version for version in self._descriptions()}

    def _descriptions(self) -> dict[GroupVersion, list[ResourceDescription]]:
        return {
            GroupVersion(found.group.name, version): [
                _describe(endpoint) for endpoint in endpoints.values()
            ]
            for found in self._groups()
            for version, endpoints in found.versions.items()
        }

    def _make_v3(self, path: str) -> Published:
        descriptions = self._descriptions()
        version = next(found for found in descriptions if _path(found) == path)
        document = document_v3(
            title=TITLE,
            version=_release(),
            group_version=version,
            resources=descriptions[version],
            index=index_versions(descriptions),
        )
        return _published(orjson.dumps(document))

    def _make_v2(self, protobuf: bool) -> Published:
        document = document_v2(
            title=TITLE, version=_release(), versions=self._descriptions(), watch_paths=True
        )
        if protobuf:
            return _published(GnosticEncoder().encode(document), _V2_TOLD)
        return _published(orjson.dumps(document))


def _accepts(req: Request, offered: tuple[str, ...]) -> str:
    """The type to answer in, empty if there is none; clients that say nothing get the first."""
    wanted = parse_accept(req.get_header("accept") or "*/*")
    return next((known for media in wanted for known in offered if media.matches(known)), "")


def _send(req: Request, resp: Response, found: Published) -> None:
    etag = f'"{found.digest}"'
    resp.set_header("etag", etag)
    resp.set_header("vary", "Accept")
    resp.content_type = found.media_type
    if req.get_header("if-none-match") == etag:
        resp.status = 304
    elif len(found.data) > LARGE and accepts_gzip(req.get_header("accept-encoding") or ""):
        write_stream(req, resp, (found.data,))
    else:
        resp.data = found.data


def _as_protobuf(document: bytes) -> Published:
    return _published(GnosticEncoder(V3).encode(orjson.loads(document)), _V3_TOLD)


def _published(data: bytes, media_type: str = JSON) -> Published:
    return Published(data, hashlib.sha512(data).hexdigest().upper(), media_type)


def _path(version: GroupVersion) -> str:
    return f"apis/{version}" if version.group else f"api/{version}"


def _release() -> str:
    return str(orjson.loads(version_document())["gitVersion"])


def _describe(endpoint: Endpoint) -> ResourceDescription:
    resource = endpoint.resource
    return ResourceDescription(
        plural=resource.name,
        kind=resource.kind,
        cls=endpoint.cls,
        list_kind=endpoint.list_kind,
        namespaced=resource.namespaced,
        deprecated=bool(endpoint.warning),
        verbs=tuple(sorted(resource.verbs)),
        subresources=tuple(_describe_sub(endpoint, sub) for sub in resource.subresources),
        media_types=endpoint.media_types,
        patch_types=endpoint.patch_types,
    )


def _describe_sub(endpoint: Endpoint, sub: Subresource) -> SubresourceDescription:
    verbs = tuple(sorted(sub.verbs))
    if sub.kind is None or sub.kind == endpoint.kind:
        return SubresourceDescription(name=sub.name, verbs=verbs)
    return SubresourceDescription(
        name=sub.name, verbs=verbs, kind=sub.kind, cls=_class_of(endpoint, sub.kind)
    )


def _class_of(endpoint: Endpoint, kind: GroupVersionKind) -> Any:
    return Scale if kind == KIND else endpoint.scheme.class_of(kind)
