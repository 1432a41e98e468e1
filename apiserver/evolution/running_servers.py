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
from functools import cache
from pathlib import Path
from typing import Final
from uuid import uuid4

import orjson

from apimachinery.schema import GroupResource
from apiserver.evolution.server_identity import IDENTITY
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
REMOVAL: Final = 2.0
"""Seconds for the removal of the key: a store that does not answer must not delay a stop."""
_ENDED: Final = frozenset("ZX")
"""The states of a process that has ended, in its status file."""

OnSettled = Callable[[Set[str], int], object]
"""Takes resources that all servers now store in one shape, and the revision of the store."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """One worker process that serves a store."""

    host: str
    server: str
    """The identity of the server: workers of one master have the same."""
    process: int
    resources: Mapping[str, str]
    """`resource.group` -> fingerprint of the shape in which it writes."""
    machine: str = ""
    """Where the process id is valid, empty if that is not known."""

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
                "machine": self.machine,
            }
        )


def this_server(resources: Mapping[str, str]) -> RunningServer:
    """Describe the server of this process.

    Under a master that is not ours, each worker counts as a server: process ids of parents do not
    tell servers apart, since one supervisor may have started several.
    """
    process = os.getpid()
    identity = os.environ.get(IDENTITY) or _identity(process)
    return RunningServer(socket.gethostname(), identity, process, resources, _machine())


async def registered_servers(backend: Backend) -> list[RunningServer]:
    """Return the servers that have a key in a store; it expires a minute after one was killed."""
    page = await backend.range(SERVERS)
    return [server for record in page.records if (server := _from_record(record))]


async def running_servers(backend: Backend) -> list[RunningServer]:
    """Return the other servers of a store; processes of this machine that are gone are left out."""
    own = this_server({})
    return [
        server
        for server in await registered_servers(backend)
        if server.server != own.server and not _is_gone(server, own)
    ]


@cache
def _identity(process: int) -> str:
    return uuid4().hex


def _machine() -> str:
    """Return the boot and the namespace in which process ids are valid.

    Containers may share a host name, and hosts a name, without sharing processes.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


async def sibling_shapes(backend: Backend) -> list[Mapping[str, str]]:
    """Return the shapes of the other workers of this server."""
    own = this_server({})
    return [
        server.resources
        for server in await registered_servers(backend)
        if server.server == own.server
        and server.process != own.process
        and not _is_gone(server, own)
    ]


@asynccontextmanager
async def registered(
    backend: Backend,
    resources: Mapping[str, str],
    *,
    renewal: float = RENEWAL,
    removal: float = REMOVAL,
    on_settled: OnSettled = lambda resources, revision: None,
) -> AsyncIterator[None]:
    """Keep the key of this worker in the store; it is there before the block is entered.

    When the last server with another shape of some resources has stopped, *on_settled* is called.
    """
    server = this_server(resources)
    await _try_to_write(backend, server)
    keeping = asyncio.create_task(
        _keep(backend, server, renewal, on_settled), name="server registration"
    )
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await _remove(backend, server.key, seconds=removal)


async def _keep(
    backend: Backend, server: RunningServer, renewal: float, on_settled: OnSettled
) -> None:
    unsettled: set[str] = set()
    while True:
        try:
            before, unsettled = unsettled, await _unsettled(backend, server)
            if settled := before - unsettled:
                # A revision that no client can have seen on the server that has stopped.
                await _write(backend, server)
                on_settled(settled, await backend.current_revision())
        except StorageError as error:
            log.warning("the servers of the store could not be read: %s", error)
        await asyncio.sleep(renewal)
        await _try_to_write(backend, server)


async def _try_to_write(backend: Backend, server: RunningServer) -> None:
    try:
        await _write(backend, server)
    except StorageError as error:
        log.warning("this server could not be registered in the store: %s", error)


async def _unsettled(backend: Backend, own: RunningServer) -> set[str]:
    """Return the resources of which another worker has another shape."""
    return {
        resource
        for server in await registered_servers(backend)
        if server.key != own.key and not _is_gone(server, own)
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


async def _remove(backend: Backend, key: str, *, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            current = await backend.get(key)
            if current is not None:
                await backend.delete(key, revision=current.revision)
    except (StorageError, TimeoutError):
        return  # it expires by itself


def _is_gone(server: RunningServer, own: RunningServer) -> bool:
    if not server.machine or server.machine != own.machine:
        return False
    try:
        os.kill(server.process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _has_ended(server.process)


def _has_ended(process: int) -> bool:
    """Return whether a process runs no more, but its parent has not asked for its result.

    In a container whose first process asks for none, killed workers stay like that.
    """
    try:
        status = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
    except OSError:
        return False
    state = status.rpartition(")")[2].split()[0]
    return state in _ENDED


def _from_record(record: Record) -> RunningServer | None:
    try:
        value = orjson.loads(record.value)
        return RunningServer(
            value["host"],
            str(value["server"]),
            value["process"],
            dict(value["resources"]),
            value.get("machine", ""),
        )
    except (ValueError, KeyError, TypeError):  # a server of another release
        return None
