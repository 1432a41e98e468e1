"""Discovery: asking a server what it has, and remembering.

One document tells everything where the server can do that; older ones are asked version by
version. A name that is not among what is remembered makes it ask again, because resources can be
added to a running server.
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
"""How many versions are asked for at once where there is no single document."""


class Discovery:
    """What one server has."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._lock = asyncio.Lock()
        self._resources: list[ServedResource] | None = None
        self._mapper: Mapper | None = None

    async def resources(self) -> Sequence[ServedResource]:
        """Every resource, the preferred versions first."""
        async with self._lock:
            if self._resources is None:
                self._resources = await self._ask()
            return self._resources

    async def mapper(self) -> Mapper:
        """What answers which resource or kind a name means, by what is remembered."""
        resources = await self.resources()
        if self._mapper is None:
            self._mapper = mapper_for(resources)
        return self._mapper

    def invalidate(self) -> None:
        """Forget everything: the next question asks the server."""
        self._resources = None
        self._mapper = None

    async def find(self, question: Callable[[Mapper], T]) -> T:
        """The answer to *question*, asked again of newer knowledge when there is none."""
        known = self._resources is not None
        try:
            return question(await self.mapper())
        except NoMatch:
            if not known:
                raise
        self.invalidate()
        return question(await self.mapper())

    async def mapping(self, kind: GroupVersionKind) -> ResourceMapping:
        """Where a kind is served; NoKindMatch when it is not."""
        versions = (kind.version,) if kind.version else ()
        return await self.find(lambda mapper: mapper.mapping(kind.group_kind, *versions))

    async def resource(self, partial: GroupVersionResource) -> ResourceMapping:
        """The resource that *partial* means, with its kind and scope."""
        return await self.find(lambda mapper: resource_mapping(mapper, partial))

    async def version(self) -> Mapping[str, Any]:
        """What the server says of its own version."""
        return _document((await self._sender.send(_get("/version", JSON))).body, "/version")

    async def _ask(self) -> list[ServedResource]:
        core, groups = await _together([self._root("/api"), self._root("/apis")])
        core_headers, core_document = core
        group_headers, group_document = groups
        found: list[ServedResource] = []
        if _is_aggregated(core_headers):
            found += from_aggregated_discovery(core_document)
        else:
            versions = [f"/api/{name}" for name in _texts(core_document.get("versions"))]
            found += from_discovery({}, await self._lists(versions))
        if _is_aggregated(group_headers):
            return found + from_aggregated_discovery(group_document)
        lists = await self._lists(_group_versions(group_document))
        return found + from_discovery(group_document, lists)

    async def _root(self, path: str) -> tuple[Headers, Mapping[str, Any]]:
        """A server may have only one of the two roots."""
        try:
            reply = await self._sender.send(_get(path, _ACCEPT))
        except NotFound:
            return Headers(), {}
        return reply.headers, _document(reply.body, path)

    async def _lists(self, paths: Sequence[str]) -> list[Mapping[str, Any]]:
        """The resources of each version; a version whose server is down is left out."""
        gate = asyncio.Semaphore(CONCURRENCY)

        async def one(path: str) -> Mapping[str, Any] | None:
            async with gate:
                try:
                    return _document((await self._sender.send(_get(path, JSON))).body, path)
                except APIError as error:
                    if error.code in (404, 500, 503):
                        return None
                    raise

        found = await _together([one(path) for path in paths])
        return [document for document in found if document is not None]


def resource_mapping(mapper: Mapper, partial: GroupVersionResource) -> ResourceMapping:
    """Where the resource is that *partial* means by what *mapper* knows."""
    resource = mapper.resource_for(partial)
    kind = mapper.kind_for(resource)
    found = mapper.mappings(kind.group_kind, kind.version)
    return next((one for one in found if one.resource == resource), found[0])


async def _together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of several requests made at once, or the first error."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def _get(path: str, accept: str) -> Request:
    return Request(verb="get", method="GET", path=path, headers=(("Accept", accept),))


def _is_aggregated(headers: Headers) -> bool:
    return f"as={AGGREGATED}" in headers.get("content-type").replace(" ", "")


def _group_versions(groups: Mapping[str, Any]) -> list[str]:
    found = []
    for group in groups.get("groups") or ():
        for version in (group.get("versions") or ()) if isinstance(group, Mapping) else ():
            name = version.get("groupVersion") if isinstance(version, Mapping) else None
            if isinstance(name, str):
                found.append(f"/apis/{name}")
    return found


def _texts(value: Any) -> list[str]:
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
