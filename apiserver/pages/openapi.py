"""OpenAPI: `/openapi/v3` with one document per group version, and `/openapi/v2` with one for all.

A document is large and slow to build, so it is built on first use, in a thread, and cached until
groups are added or removed. Its URL contains its hash: a client may cache the document at that URL
forever.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import orjson
from falcon.asgi import Request, Response

from apimachinery.errors import NotFound
from apimachinery.scale import Scale
from apimachinery.schema import GroupVersion, GroupVersionKind
from apimachinery.serialization.media_types import JSON, parse_accept
from apiserver.endpoint import Endpoint
from apiserver.group import Subresource
from apiserver.handlers.routes import NOT_FOUND, Methods, RefreshedMethods
from apiserver.http.negotiation import accepts_gzip
from apiserver.http.response import LARGE, TEXT, exchange_of, only_part, write_stream, write_text
from apiserver.install import Groups
from apiserver.pages.version import MAJOR, MINOR
from apiserver.views.scale_mapping import KIND
from apiserver.workload import without_collection

if TYPE_CHECKING:
    from apimachinery.openapi.operations import ResourceDescription, SubresourceDescription

Descriptions: TypeAlias = "dict[GroupVersion, list[ResourceDescription]]"

TITLE: Final = "Kubernetes"
_PAGES: Final = ("api", "apis", "version", ".well-known/openid-configuration", "openid/v1/jwks")
_V2_ACCEPTED: Final = (
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
)
_V2_CONTENT_TYPE: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_V3_ACCEPTED: Final = tuple(name.replace("spec.v2", "spec.v3") for name in _V2_ACCEPTED)
_V3_CONTENT_TYPE: Final = _V2_CONTENT_TYPE.replace("spec.v2", "spec.v3")


@dataclass(frozen=True, slots=True)
class EncodedDocument:
    """An encoded document, ready to be sent."""

    data: bytes
    digest: str
    media_type: str = JSON


class OpenAPI:
    """Serves the OpenAPI documents of all groups."""

    def __init__(self, groups: Callable[[], Groups]) -> None:
        self._groups = groups
        self._documents: dict[str, EncodedDocument] = {}
        self._revision = -1
        self._building = asyncio.Lock()

    def find(self, rest: str) -> Methods | None:
        """Find the handler of a path below `/openapi`, after refreshing custom resources."""
        refresh = self._groups().refresh
        if refresh is None:
            return self._find(rest)
        return RefreshedMethods(refresh, lambda: self._find(rest) or NOT_FOUND)

    def _find(self, rest: str) -> Methods | None:
        if rest == "v2":
            return Methods(GET=self.on_v2)
        if rest == "v3":
            return Methods(GET=self.on_index)
        path = rest.removeprefix("v3/")
        if path != rest and path in self._all_paths():
            return Methods(GET=lambda req, resp: self.on_v3(req, resp, path))
        return None

    async def on_index(self, req: Request, resp: Response) -> None:
        """Respond with the URL of the document of each group version."""
        paths = {}
        for path in sorted(self._all_paths()):
            try:
                digest = (await self._v3(path)).digest
            except NotFound:
                continue
            paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
        resp.content_type = TEXT
        resp.data = orjson.dumps({"paths": paths})

    async def on_v3(self, req: Request, resp: Response, path: str) -> None:
        """Respond with one document; redirect a URL with an outdated hash to the current one."""
        encoded = await self._v3(path)
        requested_hash = exchange_of(req).parameter("hash")
        if requested_hash and requested_hash != encoded.digest:
            resp.status = 301
            resp.set_header("location", f"/openapi/v3/{path}?hash={encoded.digest}")
            return
        media_type = _select_type(req, (JSON, *_V3_ACCEPTED))
        if not media_type:
            write_text(resp, "406 Not Acceptable\n", code=406)
            return
        if media_type != JSON:
            document = encoded.data
            encoded = await self._document(f"{path} protobuf", lambda _: _as_protobuf(document))
        if requested_hash:
            resp.set_header("cache-control", "public, immutable")
            expires = datetime.now(UTC) + timedelta(days=365)
            resp.set_header("expires", format_datetime(expires, usegmt=True))
        _send(req, resp, encoded)

    async def on_v2(self, req: Request, resp: Response) -> None:
        """Respond with one document for all groups, as JSON or as protobuf for older kubectls."""
        media_type = _select_type(req, (JSON, *_V2_ACCEPTED))
        if not media_type:
            write_text(resp, "406 Not Acceptable\n", code=406)
            return
        key = "v2" if media_type == JSON else "v2 protobuf"
        build = partial(_build_v2, media_type != JSON, sorted(self._pages()))
        _send(req, resp, await self._document(key, build))

    async def _v3(self, path: str) -> EncodedDocument:
        is_page = path in self._pages()
        return await self._document(path, partial(_build_page if is_page else _build_v3, path))

    async def _document(
        self, key: str, build: Callable[[Descriptions], EncodedDocument]
    ) -> EncodedDocument:
        async with self._building:
            revision = self._groups().revision
            if revision != self._revision:
                self._documents.clear()
                self._revision = revision
            encoded = self._documents.get(key)
            if encoded is None:
                # Described here, because groups come and go while the thread computes.
                step = partial(build, self._descriptions())
                encoded = await asyncio.to_thread(without_collection, step)
                self._documents[key] = encoded
            return encoded

    def _paths(self) -> dict[str, GroupVersion]:
        return {_path(version): version for version in self._descriptions()}

    def _pages(self) -> set[str]:
        """Return the pages that belong to no version; groups of custom resources have none."""
        groups = (installed.group.name for installed in self._groups() if installed.is_built_in)
        return {*_PAGES, *(f"apis/{name}" for name in groups if name)}

    def _all_paths(self) -> set[str]:
        return {*self._pages(), *self._paths()}

    def _descriptions(self) -> Descriptions:
        return {
            GroupVersion(installed.group.name, version): [
                _describe(endpoint, has_watch_paths=installed.is_built_in)
                for endpoint in endpoints.values()
            ]
            for installed in self._groups()
            for version, endpoints in installed.versions.items()
        }


def _build_page(path: str, _: Descriptions) -> EncodedDocument:
    from apimachinery.openapi.page_documents import page_document

    return _encoded_document(orjson.dumps(page_document(path, title=TITLE, version=_release())))


def _build_v3(path: str, descriptions: Descriptions) -> EncodedDocument:
    from apimachinery.openapi.documents import document_v3, index_versions

    version = next((known for known in descriptions if _path(known) == path), None)
    if version is None:
        # The group was removed after the request had been routed.
        raise NotFound.resource()
    document = document_v3(
        title=TITLE,
        version=_release(),
        group_version=version,
        resources=descriptions[version],
        index=index_versions(descriptions),
    )
    return _encoded_document(_dump(document, levels=2))


def _build_v2(protobuf: bool, pages: list[str], descriptions: Descriptions) -> EncodedDocument:
    from apimachinery.openapi.documents import document_v2
    from apimachinery.openapi.gnostic import GnosticEncoder

    document = document_v2(title=TITLE, version=_release(), versions=descriptions, pages=pages)
    if protobuf:
        return _encoded_document(GnosticEncoder().encode(document), _V2_CONTENT_TYPE)
    return _encoded_document(_dump(document, levels=2))


def _dump(document: Mapping[str, Any], *, levels: int) -> bytes:
    """Encode a document in parts: encoding all of it in one call would let no other thread run."""
    if levels < 0:
        return orjson.dumps(document)
    parts = [
        b"%b:%b"
        % (
            orjson.dumps(key),
            _dump(value, levels=levels - 1) if isinstance(value, dict) else orjson.dumps(value),
        )
        for key, value in document.items()
    ]
    return b"{%b}" % b",".join(parts)


def _select_type(req: Request, offered: tuple[str, ...]) -> str:
    """Return the media type to respond with, empty if none; the default is the first."""
    accepted = parse_accept(req.get_header("accept") or "*/*")
    return next(
        (media_type for media in accepted for media_type in offered if media.matches(media_type)),
        "",
    )


def _send(req: Request, resp: Response, encoded: EncodedDocument) -> None:
    etag = f'"{encoded.digest}"'
    resp.set_header("etag", etag)
    resp.set_header("vary", "Accept")
    resp.content_type = encoded.media_type
    if req.get_header("if-none-match") == etag:
        resp.status = 304
    elif len(encoded.data) > LARGE and accepts_gzip(req.get_header("accept-encoding") or ""):
        write_stream(req, resp, only_part(encoded.data))
    else:
        resp.data = encoded.data


def _as_protobuf(document: bytes) -> EncodedDocument:
    from apimachinery.openapi.gnostic import GnosticEncoder
    from apimachinery.openapi.gnostic_v3 import V3

    return _encoded_document(GnosticEncoder(V3).encode(orjson.loads(document)), _V3_CONTENT_TYPE)


def _encoded_document(data: bytes, media_type: str = JSON) -> EncodedDocument:
    return EncodedDocument(data, hashlib.sha512(data).hexdigest().upper(), media_type)


def _path(version: GroupVersion) -> str:
    return f"apis/{version}" if version.group else f"api/{version}"


def _release() -> str:
    return f"{MAJOR}.{MINOR}"


def _describe(endpoint: Endpoint, *, has_watch_paths: bool) -> "ResourceDescription":
    from apimachinery.openapi.operations import ResourceDescription

    resource = endpoint.resource
    strategy = resource.strategy
    return ResourceDescription(
        plural=resource.name,
        kind=resource.kind,
        cls=endpoint.cls,
        list_kind=endpoint.list_kind,
        namespaced=resource.namespaced,
        deprecated=endpoint.version.version in endpoint.group.deprecated,
        returns_deleted=strategy.returns_deleted_object and strategy.documents_deleted_object,
        has_watch_paths=has_watch_paths,
        verbs=tuple(sorted(resource.verbs)),
        subresources=tuple(_describe_subresource(endpoint, sub) for sub in resource.subresources),
        media_types=endpoint.media_types,
        patch_types=endpoint.patch_types,
    )


def _describe_subresource(endpoint: Endpoint, sub: Subresource) -> "SubresourceDescription":
    from apimachinery.openapi.operations import SubresourceDescription

    verbs = tuple(sorted(sub.verbs))
    if sub.kind is None or sub.kind == endpoint.kind:
        return SubresourceDescription(name=sub.name, verbs=verbs)
    return SubresourceDescription(
        name=sub.name, verbs=verbs, kind=sub.kind, cls=_class_of(endpoint, sub.kind)
    )


def _class_of(endpoint: Endpoint, kind: GroupVersionKind) -> Any:
    return Scale if kind == KIND else endpoint.scheme.class_of(kind)
