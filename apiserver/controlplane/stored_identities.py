"""Stored identities: the ServiceAccounts and Secrets that tokens are bound to.

Every request with a ServiceAccount token looks its account up, so the identity in an object is
decoded once and cached until the object changes.
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
"""Objects whose identity is cached; beyond that the cache is cleared."""

_ACCOUNTS: Final = GroupResource("", "serviceaccounts")
_SECRETS: Final = GroupResource("", "secrets")


class StoredIdentities:
    """Looks identities up in the stores of a server, which exist only while it runs."""

    def __init__(self, store_of: Callable[[GroupResource], ResourceStore[Any]]) -> None:
        self._store_of = store_of
        self._cache: dict[str, tuple[int, ServiceAccountIdentity]] = {}

    async def account(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        """Return the identity of a ServiceAccount, None if it does not exist."""
        return await self._find(_ACCOUNTS, namespace, name, newest=newest)

    async def secret(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        """Return the identity of a Secret, None if it does not exist."""
        return await self._find(_SECRETS, namespace, name, newest=newest)

    async def _find(
        self, resource: GroupResource, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        at = Freshness.NEWEST if newest else Freshness.ANY
        try:
            entry = await self._store_of(resource).get(name, namespace=namespace, at=at)
        except (NotFound, KeyError):
            return None  # a core group that replaces ours need not have the resource
        return self._identity(entry)

    def _identity(self, entry: Entry) -> ServiceAccountIdentity:
        record = entry.record
        cached = self._cache.get(record.key)
        if cached is not None and cached[0] == record.revision:
            return cached[1]
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        identity = _identity(record.value)
        self._cache[record.key] = record.revision, identity
        return identity


def _identity(value: bytes) -> ServiceAccountIdentity:
    metadata = orjson.loads(value)["metadata"]
    deleted = metadata.get("deletionTimestamp")
    return ServiceAccountIdentity(
        metadata["uid"], parse_time(deleted).timestamp() if deleted else None
    )
