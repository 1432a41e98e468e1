"""Stored identities: look up service accounts and secrets to verify service account tokens.

Every request with such a token needs a lookup, so the identity of an object is decoded once and
cached until the object changes.
"""

from collections.abc import Callable
from typing import Any, Final

import orjson

from apimachinery.errors import NotFound
from apimachinery.scalars.time import parse_time
from apimachinery.schema import GroupResource
from apiserver.auth.service_account_tokens import ServiceAccountIdentity
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import Entry
from apiserver.storage.cache.read_revision import Freshness

MAX_CACHED: Final = 4096
"""The maximum number of cached identities; when it is exceeded, the cache is cleared."""

_ACCOUNTS: Final = GroupResource("", "serviceaccounts")
_SECRETS: Final = GroupResource("", "secrets")


class StoredIdentities:
    """Implements `Identities` with the stores of a server, which exist only while it runs."""

    def __init__(self, store_of: Callable[[GroupResource], ResourceStore[Any]]) -> None:
        self._store_of = store_of
        self._cache: dict[str, tuple[int, ServiceAccountIdentity]] = {}

    async def account(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        """Return the identity of a service account, None if it does not exist."""
        return await self._find(_ACCOUNTS, namespace, name, newest=newest)

    async def secret(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        """Return the identity of a secret, None if it does not exist."""
        return await self._find(_SECRETS, namespace, name, newest=newest)

    async def _find(
        self, resource: GroupResource, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        at = Freshness.NEWEST if newest else Freshness.ANY
        try:
            entry = await self._store_of(resource).get(name, namespace=namespace, at=at)
        except (NotFound, KeyError):
            return None  # KeyError: a replaced core group may lack the resource
        return self._identity(entry)

    def _identity(self, entry: Entry) -> ServiceAccountIdentity:
        record = entry.record
        cached = self._cache.get(record.key)
        if cached is not None and cached[0] == record.revision:
            return cached[1]
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        identity = _decode_identity(record.value)
        self._cache[record.key] = record.revision, identity
        return identity


def _decode_identity(value: bytes) -> ServiceAccountIdentity:
    metadata = orjson.loads(value)["metadata"]
    deleted = metadata.get("deletionTimestamp")
    return ServiceAccountIdentity(
        metadata["uid"], parse_time(deleted).timestamp() if deleted else None
    )
