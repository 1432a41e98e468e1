"""Discovery: fetch and cache the resources that a server offers.

A server with aggregated discovery returns all resources in one document; an older one needs a
request per group version. A lookup that finds nothing in the cache refreshes it once, because
resources can be added to a running server.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, TypeVar

import orjson

from apimachinery.errors import APIError, NotFound
from apimachinery.fieldpath import Path
from apimachinery.mapper import Mapper, NoMatch, mapper_for
from apimachinery.mapper import Mapping as ResourceMapping
from apimachinery.resources import (
    MalformedDiscovery,
    ServedResource,
    from_aggregated_discovery,
    from_discovery,
)
from apimachinery.schema import GroupVersionKind, GroupVersionResource
from apimachinery.serialization.media_types import JSON
from client.transport.request import Request
from client.transport.sender import Sender
from client.transport.transport import Headers

T = TypeVar("T")

AGGREGATED: Final = "APIGroupDiscoveryList"
_ACCEPT: Final = ",".join(
    (
        f"{JSON};g=apidiscovery.k8s.io;v=v2;as={AGGREGATED}",
        f"{JSON};g=apidiscovery.k8s.io;v=v2beta1;as={AGGREGATED}",
        JSON,
    )
)
CONCURRENCY: Final = 10
"""Concurrent requests to a server without aggregated discovery."""


class Discovery:
    """The cached discovery information of one server."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._lock = asyncio.Lock()
        self._resources: list[ServedResource] | None = None
        self._mapper: Mapper | None = None

    async def resources(self) -> Sequence[ServedResource]:
        """Return every resource, those of preferred versions first."""
        async with self._lock:
            if self._resources is None:
                self._resources = await self._fetch()
            return self._resources

    async def mapper(self) -> Mapper:
        """Return the mapper between kinds and resources, built from the cache."""
        resources = await self.resources()
        if self._mapper is None:
            self._mapper = mapper_for(resources)
        return self._mapper

    def invalidate(self) -> None:
        """Clear the cache, so that the next call fetches from the server."""
        self._resources = None
        self._mapper = None

    async def find(self, lookup: Callable[[Mapper], T]) -> T:
        """Return the result of *lookup*; if it raises NoMatch, refresh the cache and repeat it."""
        cached = self._resources is not None
        try:
            return lookup(await self.mapper())
        except NoMatch:
            if not cached:
                raise
        self.invalidate()
        return lookup(await self.mapper())

    async def mapping(self, kind: GroupVersionKind) -> ResourceMapping:
        """Return the resource and scope of a kind; raises NoKindMatch if it is not served."""
        versions = (kind.version,) if kind.version else ()
        return await self.find(lambda mapper: mapper.mapping(kind.group_kind, *versions))

    async def resource(self, partial: GroupVersionResource) -> ResourceMapping:
        """Complete *partial* to the resource that it matches, with its kind and scope."""
        return await self.find(lambda mapper: resource_mapping(mapper, partial))

    async def version(self) -> Mapping[str, Any]:
        """Return the server's version information."""
        return _document((await self._sender.send(_get("/version", JSON))).body, "/version")

    async def _fetch(self) -> list[ServedResource]:
        core, groups = await _gather([self._fetch_root("/api"), self._fetch_root("/apis")])
        core_headers, core_document = core
        group_headers, group_document = groups
        resources: list[ServedResource] = []
        if _is_aggregated(core_headers):
            resources += from_aggregated_discovery(core_document)
        else:
            paths = [f"/api/{name}" for name in _strings(core_document.get("versions"))]
            resources += from_discovery({}, await self._fetch_lists(paths))
        if _is_aggregated(group_headers):
            return resources + from_aggregated_discovery(group_document)
        lists = await self._fetch_lists(_group_version_paths(group_document))
        return resources + from_discovery(group_document, lists)

    async def _fetch_root(self, path: str) -> tuple[Headers, Mapping[str, Any]]:
        """Fetch `/api` or `/apis`; a server without it offers no resources there."""
        try:
            reply = await self._sender.send(_get(path, _ACCEPT))
        except NotFound:
            return Headers(), {}
        return reply.headers, _document(reply.body, path)

    async def _fetch_lists(self, paths: Sequence[str]) -> list[Mapping[str, Any]]:
        """Fetch the APIResourceLists at *paths*; omit versions whose aggregated server is down."""
        semaphore = asyncio.Semaphore(CONCURRENCY)

        async def fetch_list(path: str) -> Mapping[str, Any] | None:
            async with semaphore:
                try:
                    return _document((await self._sender.send(_get(path, JSON))).body, path)
                except APIError as error:
                    if error.code in (404, 500, 503):
                        return None
                    raise

        documents = await _gather([fetch_list(path) for path in paths])
        return [document for document in documents if document is not None]


def resource_mapping(mapper: Mapper, partial: GroupVersionResource) -> ResourceMapping:
    """Complete *partial* with *mapper* and return its mapping; raises NoMatch if none matches."""
    resource = mapper.resource_for(partial)
    kind = mapper.kind_for(resource)
    mappings = mapper.mappings(kind.group_kind, kind.version)
    # Several resources may serve one kind.
    return next((mapping for mapping in mappings if mapping.resource == resource), mappings[0])


async def _gather(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Run *work* concurrently and return the results; raise the first error unwrapped."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in work]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def _get(path: str, accept: str) -> Request:
    return Request(verb="get", method="GET", path=path, headers=(("Accept", accept),))


def _is_aggregated(headers: Headers) -> bool:
    return f"as={AGGREGATED}" in headers.get("content-type").replace(" ", "")


def _group_version_paths(group_list: Mapping[str, Any]) -> list[str]:
    paths = []
    for group in group_list.get("groups") or ():
        for version in (group.get("versions") or ()) if isinstance(group, Mapping) else ():
            name = version.get("groupVersion") if isinstance(version, Mapping) else None
            if isinstance(name, str):
                paths.append(f"/apis/{name}")
    return paths


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _document(body: bytes, path: str) -> Mapping[str, Any]:
    try:
        document = orjson.loads(body)
    except ValueError as error:
        raise _malformed(path, str(error)) from None
    if not isinstance(document, dict):
        raise _malformed(path, "must be an object")
    return document


def _malformed(path: str, rule: str) -> MalformedDiscovery:
    return MalformedDiscovery(Path(path), rule)
