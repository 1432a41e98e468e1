"""Addresses of the servers of a store, and the endpoints of the service `kubernetes`.

Every worker keeps a key with a time to live, `/masterleases/<address>/<worker>`. The endpoints have
the addresses of these keys: a server that stops removes its own, and that of a server that was
killed expires. Workers of one server have the same address, so each has a key of its own.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final
from uuid import uuid4

from apimachinery.errors import APIError
from apimachinery.schema import GroupResource
from apiserver.app import App
from apiserver.config import ServerConfig
from apiserver.controlplane.service_addresses import allocates_addresses, serves
from apiserver.storage.interface import Backend, KeyExists, RevisionConflict, StorageError
from client.client import AsyncClient

log = logging.getLogger(__name__)

LEASES: Final = "/masterleases/"
TIME_TO_LIVE: Final = 15
"""Seconds after which the address of a server that was killed is removed."""
INTERVAL: Final = 10.0
"""Seconds between two renewals."""
REMOVAL: Final = 2.0
"""Seconds that a server that stops takes to remove itself; its lease expires if that fails."""


class AddressLease:
    """The key of one worker."""

    def __init__(self, backend: Backend, address: str, *, ttl: int = TIME_TO_LIVE) -> None:
        self._backend = backend
        self._ttl = ttl
        self._key = f"{LEASES}{address}/{uuid4().hex}"

    async def renew(self) -> None:
        """Write the key with a new time to live."""
        try:
            current = await self._backend.get(self._key)
            if current is None:
                await self._backend.create(self._key, b"", ttl=self._ttl)
            else:
                await self._backend.update(self._key, b"", revision=current.revision, ttl=self._ttl)
        except (KeyExists, RevisionConflict):
            # It expired just now, and is written at the next renewal.
            log.debug("the lease of this server has expired")

    async def release(self) -> None:
        current = await self._backend.get(self._key)
        if current is not None:
            try:
                await self._backend.delete(self._key, revision=current.revision)
            except RevisionConflict:
                return  # it expired just now

    async def addresses(self) -> list[str]:
        """Return the addresses of all servers that have a key, sorted as text."""
        page = await self._backend.range(LEASES)
        return sorted({record.key[len(LEASES) :].partition("/")[0] for record in page.records})


class ServerEndpoints:
    """Keeps the endpoints of the service `kubernetes` equal to the servers that run."""

    def __init__(self, client: AsyncClient, lease: AddressLease, port: int) -> None:
        self._client = client
        self._lease = lease
        self._port = port

    async def reconcile(self) -> None:
        """Renew the lease of this worker, and write the endpoints if servers came or went."""
        await self._lease.renew()
        await self._write(is_stopping=False)

    async def remove(self) -> None:
        """Remove this worker from the endpoints, unless others have the same address."""
        await self._lease.release()
        await self._write(is_stopping=True)

    async def _write(self, *, is_stopping: bool) -> None:
        from apis.core import api_service

        addresses = await self._lease.addresses()
        # A server that runs has just renewed its lease: an empty list is no reason to erase all.
        if addresses or is_stopping:
            await api_service.ensure_api_endpoints(self._client, addresses, self._port)


@asynccontextmanager
async def advertised(
    app: App, client: AsyncClient, config: ServerConfig, *, interval: float = INTERVAL
) -> AsyncIterator[None]:
    """Have the address of this server among the endpoints until the application drains."""
    address = _address(app, config)
    if address is None:
        yield
        return
    lease = AddressLease(app.backend, address)
    endpoints = ServerEndpoints(client, lease, config.bind.port)
    await _try(endpoints.reconcile())
    stopping = asyncio.Event()
    app.before_drain(stopping.set)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_keep(endpoints, stopping, interval), name="server endpoints")
        try:
            yield
        finally:
            stopping.set()


def _address(app: App, config: ServerConfig) -> str | None:
    slices = GroupResource("discovery.k8s.io", "endpointslices")
    if not allocates_addresses(app.groups) or not serves(app.groups, slices):
        return None
    # Imported late: a server without addresses of services need not load their types.
    from apis.core import api_service

    return config.advertise_address or api_service.host_address(config.bind.host)


async def _keep(endpoints: ServerEndpoints, stopping: asyncio.Event, interval: float) -> None:
    while not stopping.is_set():
        try:
            async with asyncio.timeout(interval):
                await stopping.wait()
        except TimeoutError:
            await _try(endpoints.reconcile())
    with suppress(TimeoutError):
        async with asyncio.timeout(REMOVAL):
            await _try(endpoints.remove())


async def _try(step: Coroutine[Any, Any, None]) -> None:
    try:
        await step
    except (APIError, StorageError) as error:
        log.warning("the endpoints of the service 'kubernetes' could not be written: %s", error)
