"""Which service accounts and secrets there are, for whoever must know whether a token still holds.

It is asked with every request of such a token, so what an object says of itself is read once and
remembered until the object changes.
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

REMEMBERED: Final = 4096
"""Objects whose identity is kept; then everything is forgotten and read again."""

_ACCOUNTS: Final = GroupResource("", "serviceaccounts")
_SECRETS: Final = GroupResource("", "secrets")


class StoredIdentities:
    """Implements `Identities` by the stores of a server, which exist only when it runs."""

    def __init__(self, store_of: Callable[[GroupResource], ResourceStore[Any]]) -> None:
        self._store_of = store_of
        self._known: dict[str, tuple[int, ServiceAccountIdentity]] = {}

    async def account(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        """The service account that has this name."""
        return await self._find(_ACCOUNTS, namespace, name, newest=newest)

    async def secret(
        self, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        """The secret that has this name."""
        return await self._find(_SECRETS, namespace, name, newest=newest)

    async def _find(
        self, resource: GroupResource, namespace: str, name: str, *, newest: bool
    ) -> ServiceAccountIdentity | None:
        at = Freshness.NEWEST if newest else Freshness.ANY
        try:
            entry = await self._store_of(resource).get(name, namespace=namespace, at=at)
        except (NotFound, KeyError):
            return None  # a core group of somebody's own need not have the resource at all
        return self._identity(entry)

    def _identity(self, entry: Entry) -> ServiceAccountIdentity:
        record = entry.record
        known = self._known.get(record.key)
        if known is not None and known[0] == record.revision:
            return known[1]
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        found = _identity(record.value)
        self._known[record.key] = record.revision, found
        return found


def _identity(value: bytes) -> ServiceAccountIdentity:
    metadata = orjson.loads(value)["metadata"]
    deleted = metadata.get("deletionTimestamp")
    return ServiceAccountIdentity(
        metadata["uid"], parse_time(deleted).timestamp() if deleted else None
    )
