"""Releases of one group: the same kind with other fields, served from one store."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from pydantic import create_model

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apiserver import STATUS, Group, Resource, Strategy
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.authorization import AlwaysAllow
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.token_keys import TokenKeys, load_signing_key, new_signing_key
from apiserver.auth.user import MASTERS, User
from apiserver.config import ServerConfig
from apiserver.controlplane.standard_server import ServerCredentials, create_app
from apiserver.evolution.accepted_loss import AcceptedLoss
from apiserver.storage.backends import open_backend
from client.transport.in_process import ASGITransport
from client.transport.request import Request

GROUP = "shop.example.io"
LAMPS = f"/apis/{GROUP}/v1/namespaces/default/lamps"
NAME = f"lamps.{GROUP}"
TOKEN = "token"

Fields = Mapping[str, Any]
"""Field -> (annotation, default), or (annotation, ...) for a required one."""
Upgrade = Callable[[Scheme, type[Any]], None]


def release(
    fields: Fields,
    upgrade: Upgrade | None = None,
    *,
    status: Fields | None = None,
    strategy: Strategy[Any] | None = None,
    **resource: Any,
) -> Group:
    """Return a release of the group, whose lamps have these fields in their spec."""
    lamp = lamp_class(fields, status=status)

    def add_to_scheme(scheme: Scheme) -> None:
        scheme.add(GroupVersion(GROUP, "v1"), lamp, internal=True)
        if upgrade is not None:
            upgrade(scheme, lamp)

    return Group(
        name=GROUP,
        versions=("v1",),
        add_to_scheme=add_to_scheme,
        resources=(
            Resource("lamps", lamp, strategy or Strategy(), subresources=(STATUS,), **resource),
        ),
    )


def lamp_class(fields: Fields, *, status: Fields | None = None) -> type[Object]:
    """Return the class of a kind Lamp with these fields in its spec and its status."""
    spec_class: type[Model] = create_model("LampSpec", __base__=Model, **dict(fields))
    status_class: type[Model] = create_model("LampStatus", __base__=Model, **dict(status or {}))
    lamp = create_model(
        "Lamp",
        __base__=Object,
        spec=(spec_class, ...),
        status=(status_class, field(default_factory=status_class)),
    )
    lamp.__kind__ = "Lamp"
    return lamp


@dataclass(frozen=True)
class Answer:
    """What a server answered to one request."""

    code: int
    warnings: list[str]
    retry_after: str
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def items(self) -> list[Any]:
        assert self.code == 200, self.body
        return list(self.json["items"])


class Api:
    """A server of one release in this process, and a client of its administrator."""

    def __init__(self, app: App, transport: ASGITransport) -> None:
        self.app = app
        self._transport = transport

    async def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        accept: str = "application/json",
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        data = body if isinstance(body, bytes) else orjson.dumps(body) if body else b""
        headers = (("Content-Type", content_type), ("Accept", accept))
        response = await self._transport.open(_request(method, path, query or {}, data, headers))
        try:
            return Answer(
                response.status,
                response.headers.all("warning"),
                response.headers.get("retry-after"),
                await response.read(),
            )
        finally:
            response.close()

    async def watch(self, count: int, *, path: str = LAMPS, **query: str) -> list[Any]:
        """Watch a collection until so many events have arrived, or the stream ends."""
        events: list[Any] = []
        async with aclosing(self.events(path, **query)) as stream:
            async for event in stream:
                events.append(event)
                if len(events) == count:
                    break
        return events

    async def events(self, path: str = LAMPS, **query: str) -> AsyncGenerator[Any, None]:
        """Yield the events of a watch until it ends."""
        waiting = b""
        response = await self._transport.open(_request("GET", path, {"watch": "1", **query}))
        try:
            while chunk := await response.chunk():
                *lines, waiting = (waiting + chunk).split(b"\n")
                for line in lines:
                    yield orjson.loads(line)
        finally:
            response.close()

    async def create(self, name: str, **spec: Any) -> Any:
        answer = await self("POST", LAMPS, lamp(name, **spec))
        assert answer.code == 201, answer.body
        return answer.json

    async def get(self, name: str) -> Any:
        answer = await self("GET", f"{LAMPS}/{name}")
        assert answer.code == 200, answer.body
        return answer.json

    async def patch(self, name: str, patch: Any, subresource: str = "") -> Answer:
        path = f"{LAMPS}/{name}" + (f"/{subresource}" if subresource else "")
        return await self("PATCH", path, patch, content_type="application/merge-patch+json")

    async def stored(self, name: str, namespace: str = "default") -> bytes:
        record = await self.app.backend.get(f"/registry/{GROUP}/lamps/{namespace}/{name}")
        assert record is not None
        return record.value


def _request(
    method: str,
    path: str,
    query: Mapping[str, str],
    body: bytes = b"",
    headers: tuple[tuple[str, str], ...] = (),
) -> Request:
    return Request(
        "get",
        method,
        path,
        query=tuple(query.items()),
        headers=(("Authorization", f"Bearer {TOKEN}"), *headers),
        body=body,
    )


def lamp(name: str, **spec: Any) -> dict[str, Any]:
    """Return the document of a lamp."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Lamp",
        "metadata": {"name": name},
        "spec": spec,
    }


@asynccontextmanager
async def serving(*groups: Group, storage: str, accept: tuple[str, ...] = ()) -> AsyncIterator[Api]:
    """Serve one release from a store for the duration of the block."""
    credentials = ServerCredentials(
        tokens=[_administrator()],
        keys=TokenKeys(load_signing_key(new_signing_key())),
    )
    config = ServerConfig(storage=storage, insecure_http=True, accept_field_loss=accept)
    app = create_app(config, groups=groups, credentials=credentials, namespace_defaults=False)
    async with _started(app) as api:
        yield api


@asynccontextmanager
async def serving_alone(
    *groups: Group, storage: str, accept: tuple[str, ...] = ()
) -> AsyncIterator[Api]:
    """Serve one release without the groups and controllers that every server has.

    Such a server starts several times faster; its namespaces are not objects.
    """
    app = App(
        groups,
        partial(open_backend, storage),
        authentication=Authentication([_administrator()]),
        authorizer=AlwaysAllow(),
        accepted_loss=AcceptedLoss.parse(accept),
    )
    async with _started(app) as api:
        yield api


def _administrator() -> TokenAuthenticator:
    return TokenAuthenticator({TOKEN: User("admin", groups=(MASTERS,))})


@asynccontextmanager
async def _started(app: App) -> AsyncIterator[Api]:
    await app.start()
    transport = ASGITransport(app)
    try:
        yield Api(app, transport)
    finally:
        await transport.aclose()
        await app.stop()
