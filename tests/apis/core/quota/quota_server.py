"""A server in memory with namespaces of their own for the tests of quotas."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from apis.kubernetes import KUBERNETES
from apiserver.app import App
from apiserver.config import ServerConfig
from apiserver.group import Group
from client.testing.app_server import MEMORY, InMemoryServer
from client.transport.in_process import ASGITransport
from tests.apiserver.http.driver import Answer, Driver

WAIT = 10.0


@dataclass
class Server:
    """A server, and what the tests do with it."""

    driver: Driver
    app: App
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    async def namespace(self) -> "Namespace":
        name = f"ns-{next(self.numbers)}"
        answer = await self.driver.post("/api/v1/namespaces", {"metadata": {"name": name}})
        assert answer.code == 201, answer.body
        return Namespace(self.driver, name)


@dataclass
class Namespace:
    """One namespace, and what it contains."""

    driver: Driver
    name: str

    def path(self, resource: str, name: str = "", *, api: str = "/api/v1") -> str:
        return "/".join(filter(None, (f"{api}/namespaces/{self.name}", resource, name)))

    async def create(
        self, resource: str, document: Any, *, api: str = "/api/v1", query: str = ""
    ) -> Answer:
        return await self.driver.post(self.path(resource, api=api) + query, document)

    async def created(self, resource: str, document: Any) -> Any:
        answer = await self.create(resource, document)
        assert answer.code == 201, answer.body
        return answer.json

    async def quota(self, hard: Mapping[str, str], name: str = "q", **spec: Any) -> None:
        """Create a quota and wait until it is enforced."""
        document = {"metadata": {"name": name}, "spec": {"hard": dict(hard), **spec}}
        await self.created("resourcequotas", document)
        await self.until(lambda status: status.get("hard") == dict(hard), name)

    async def status(self, name: str = "q") -> dict[str, Any]:
        answer = await self.driver.get(self.path("resourcequotas", name))
        status: dict[str, Any] = answer.json["status"]
        return status

    async def until(self, condition: Any, name: str = "q") -> dict[str, Any]:
        """Wait until the status of a quota meets a condition."""
        async with asyncio.timeout(WAIT):
            while True:
                status = await self.status(name)
                if condition(status):
                    return status
                await asyncio.sleep(0.01)

    async def used(self, expected: Mapping[str, str], name: str = "q") -> None:
        """Wait until a quota says that *expected* is used."""
        try:
            await self.until(lambda status: status.get("used") == dict(expected), name)
        except TimeoutError:
            assert (await self.status(name)).get("used") == dict(expected)


@asynccontextmanager
async def serving(
    storage: str = MEMORY,
    *,
    groups: tuple[Group, ...] = KUBERNETES,
    config: ServerConfig | None = None,
) -> AsyncIterator[Server]:
    memory = InMemoryServer(groups, storage=storage, config=config)
    async with ASGITransport(memory.app):
        yield Server(Driver(memory.app, authorization=f"Bearer {memory.token}"), memory.app)


def config_map(name: str = "") -> dict[str, Any]:
    metadata = {"name": name} if name else {"generateName": "c-"}
    return {"metadata": metadata, "data": {"a": "b"}}
