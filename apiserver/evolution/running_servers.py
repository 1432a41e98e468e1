"""Running servers: which servers share a store, and in which shapes they write.

Every worker keeps a key with a time to live, `/servers/<host>/<process>`. A release that renames or
re-types a field must not start while a server of an older release runs: that server would read the
new documents without the field.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import orjson

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


async def running_servers(backend: Backend) -> list[RunningServer]:
    """Return the other servers of a store; processes of this host that are gone are left out."""
    own = this_server({})
    page = await backend.range(SERVERS)
    servers = [server for record in page.records if (server := _from_record(record))]
    return [
        server
        for server in servers
        if not (server.host == own.host and (server.server == own.server or _is_gone(server)))
    ]


async def sibling_shapes(backend: Backend) -> list[Mapping[str, str]]:
    """Return the shapes of the other workers of this server."""
    own = this_server({})
    page = await backend.range(SERVERS)
    servers = [server for record in page.records if (server := _from_record(record))]
    return [
        server.resources
        for server in servers
        if (server.host, server.server) == (own.host, own.server)
        and server.process != own.process
        and not _is_gone(server)
    ]


@asynccontextmanager
async def registered(
    backend: Backend, resources: Mapping[str, str], *, renewal: float = RENEWAL
) -> AsyncIterator[None]:
    """Keep the key of this worker in the store; it is there before the block is entered."""
    server = this_server(resources)
    await _try_to_write(backend, server)
    keeping = asyncio.create_task(_keep(backend, server, renewal), name="server registration")
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await _remove(backend, server.key)


async def _keep(backend: Backend, server: RunningServer, renewal: float) -> None:
    while True:
        await asyncio.sleep(renewal)
        await _try_to_write(backend, server)


async def _try_to_write(backend: Backend, server: RunningServer) -> None:
    try:
        await _write(backend, server)
    except StorageError as error:
        log.warning("this server could not be registered in the store: %s", error)


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
        return RunningServer(value["host"], value["server"], value["process"], value["resources"])
    except (ValueError, KeyError, TypeError):
        return None
