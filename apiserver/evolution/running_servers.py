"""Running servers: which servers share a store, and in which shapes they write.

Every worker keeps a key with a time to live, `/servers/<host>/<process>`. A release that renames or
re-types a field must not start while a server of an older release runs: that server would read the
new documents without the field.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import orjson

from apimachinery.schema import GroupResource
from apiserver.storage.interface import (
    Backend,
    KeyExists,
    Record,
    RevisionConflict,
    StorageError,
)

log = logging.getLogger(__name__)

SERVERS: Final = "/servers/"
TIME_TO_LIVE: Final = 60
RENEWAL: Final = 20.0
"""Seconds between two renewals of a worker's key."""
OnSettled = Callable[[Set[str], int], object]
"""Takes resources that all servers now store in one shape, and the revision of the store."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """One worker process that serves a store."""

    host: str
    server: int
    """The process id of the master of the worker."""
    process: int
    resources: Mapping[str, str]
    """`resource.group` -> fingerprint of the shape in which it writes."""

    @property
    def key(self) -> str:
        return f"{SERVERS}{self.host}/{self.process}"

    @property
    def name(self) -> str:
        return f"process {self.process} on {self.host}"

    def serves(self, resource: GroupResource) -> bool:
        return str(resource) in self.resources

    def to_bytes(self) -> bytes:
        return orjson.dumps(
            {
                "host": self.host,
                "server": self.server,
                "process": self.process,
                "resources": dict(self.resources),
            }
        )


def this_server(resources: Mapping[str, str]) -> RunningServer:
    """Describe the server of this process. Workers and the master's checks have one parent."""
    return RunningServer(socket.gethostname(), os.getppid(), os.getpid(), resources)


async def registered_servers(backend: Backend) -> list[RunningServer]:
    """Return the servers that have a key in a store; it expires a minute after one was killed."""
    page = await backend.range(SERVERS)
    return [server for record in page.records if (server := _from_record(record))]


async def running_servers(backend: Backend) -> list[RunningServer]:
    """Return the other servers of a store; processes of this host that are gone are left out."""
    own = this_server({})
    return [
        server
        for server in await registered_servers(backend)
        if not (server.host == own.host and (server.server == own.server or _is_gone(server)))
    ]


@asynccontextmanager
async def registered(
    backend: Backend,
    resources: Mapping[str, str],
    *,
    renewal: float = RENEWAL,
    on_settled: OnSettled = lambda resources, revision: None,
) -> AsyncIterator[None]:
    """Keep the key of this worker in the store.

    When the last server with another shape of some resources has stopped, *on_settled* is called.
    """
    server = this_server(resources)
    keeping = asyncio.create_task(
        _keep(backend, server, renewal, on_settled), name="server registration"
    )
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await _remove(backend, server.key)


async def _keep(
    backend: Backend, server: RunningServer, renewal: float, on_settled: OnSettled
) -> None:
    unsettled: set[str] = set()
    while True:
        try:
            await _write(backend, server)
            before, unsettled = unsettled, await _unsettled(backend, server)
            if settled := before - unsettled:
                # A revision that no client can have seen on the server that has stopped.
                await _write(backend, server)
                on_settled(settled, await backend.current_revision())
        except StorageError as error:
            log.warning("this server could not be registered in the store: %s", error)
        await asyncio.sleep(renewal)


async def _unsettled(backend: Backend, own: RunningServer) -> set[str]:
    """Return the resources of which another worker has another shape."""
    return {
        resource
        for server in await registered_servers(backend)
        if server.key != own.key and not (server.host == own.host and _is_gone(server))
        for resource, shape in server.resources.items()
        if own.resources.get(resource, shape) != shape
    }


async def _write(backend: Backend, server: RunningServer) -> None:
    try:
        await backend.create(server.key, server.to_bytes(), ttl=TIME_TO_LIVE)
        return
    except KeyExists:
        current = await backend.get(server.key)
    if current is not None:
        try:
            value, revision = server.to_bytes(), current.revision
            await backend.update(server.key, value, revision=revision, ttl=TIME_TO_LIVE)
        except RevisionConflict:
            return  # it expired just now, and is written at the next renewal


async def _remove(backend: Backend, key: str) -> None:
    try:
        current = await backend.get(key)
        if current is not None:
            await backend.delete(key, revision=current.revision)
    except StorageError:
        return  # it expires by itself


def _is_gone(server: RunningServer) -> bool:
    try:
        os.kill(server.process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _from_record(record: Record) -> RunningServer | None:
    try:
        value = orjson.loads(record.value)
        resources = dict(value["resources"])
        return RunningServer(value["host"], value["server"], value["process"], resources)
    except (ValueError, KeyError, TypeError):  # a server of another release
        return None
