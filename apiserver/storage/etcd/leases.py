"""etcd leases for keys with a time to live.

Granting a lease costs a write, so keys with the same time to live share one, as in Kubernetes: for
a twentieth of that time, at most a minute and at most a thousand keys. A shared lease lives that
much longer, so no key expires early.
"""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from aetcd.rpc import rpc_pb2

from apiserver.storage.etcd.channel import EtcdConnection

_SHARED_FRACTION = 0.05
_SHARED_SECONDS = 60.0
_SHARED_KEYS = 1000


@dataclass(slots=True)
class _SharedLease:
    lease: int
    until: float
    keys: int = 0


class Leases:
    """Grants leases and shares them among keys."""

    def __init__(
        self, connection: EtcdConnection, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._shared: dict[int, _SharedLease] = {}
        self._granting = asyncio.Lock()

    async def lease(self, ttl: int) -> int:
        """Return a lease with at least *ttl* seconds to live."""
        async with self._connection.operation_timeout(), self._granting:
            shared = self._shared.get(ttl)
            if shared is None or shared.keys >= _SHARED_KEYS or self._clock() >= shared.until:
                shared = await self._share(ttl)
            shared.keys += 1
            return shared.lease

    def forget(self, lease: int) -> None:
        """Stop sharing *lease*, which has expired or was revoked."""
        self._shared = {
            ttl: shared for ttl, shared in self._shared.items() if shared.lease != lease
        }

    async def grant(self, seconds: int) -> int:
        """Grant a new lease that is not shared."""
        request = rpc_pb2.LeaseGrantRequest(TTL=seconds)
        reply = await self._connection.call(lambda member: member.lease.LeaseGrant, request)
        return int(reply.ID)

    async def _share(self, ttl: int) -> _SharedLease:
        now = self._clock()
        window = min(ttl * _SHARED_FRACTION, _SHARED_SECONDS)
        shared = _SharedLease(await self.grant(ttl + math.ceil(window)), until=now + window)
        # Drop the leases that are no longer shared, which would otherwise accumulate.
        self._shared = {key: entry for key, entry in self._shared.items() if now < entry.until}
        self._shared[ttl] = shared
        return shared
