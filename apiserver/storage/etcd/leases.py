"""Leases for keys that expire.

A lease costs a write of its own, so keys with the same time to live share one for a while, as they
do in Kubernetes: for a twentieth of that time, at most a minute, and at most a thousand keys. A
shared lease lives that much longer, so no key expires early.
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
class _Shared:
    lease: int
    until: float
    keys: int = 0


class Leases:
    """The leases that new keys are attached to."""

    def __init__(
        self, connection: EtcdConnection, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._shared: dict[int, _Shared] = {}
        self._granting = asyncio.Lock()

    async def lease(self, ttl: int) -> int:
        """A lease with at least *ttl* seconds to live."""
        async with self._connection.patience(), self._granting:
            shared = self._shared.get(ttl)
            if shared is None or shared.keys >= _SHARED_KEYS or self._clock() >= shared.until:
                shared = await self._share(ttl)
            shared.keys += 1
            return shared.lease

    def forget(self, lease: int) -> None:
        """Give *lease* to no more keys: it turned out to be gone."""
        self._shared = {ttl: each for ttl, each in self._shared.items() if each.lease != lease}

    async def grant(self, seconds: int) -> int:
        """A new lease of its own."""
        request = rpc_pb2.LeaseGrantRequest(TTL=seconds)
        reply = await self._connection.call(lambda member: member.lease.LeaseGrant, request)
        return int(reply.ID)

    async def _share(self, ttl: int) -> _Shared:
        now = self._clock()
        window = min(ttl * _SHARED_FRACTION, _SHARED_SECONDS)
        shared = _Shared(await self.grant(ttl + math.ceil(window)), until=now + window)
        # Leases of other times to live that are past sharing would otherwise stay here for ever.
        self._shared = {old: each for old, each in self._shared.items() if now < each.until}
        self._shared[ttl] = shared
        return shared
