"""Definition follower: serves the custom resources of the CustomResourceDefinitions in storage.

Every worker follows the definitions through its own watch cache, so it does not matter which worker
stored a definition, nor whether it existed before the start. A request for an unknown resource may
be for one that was defined a moment ago: before the server responds with 404, it refreshes the
definitions from the newest state of the store.
"""

import asyncio
import logging
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import orjson

from apimachinery.errors import APIError
from apimachinery.extras import MissingExtra
from apimachinery.meta.options import ListOptions
from apimachinery.schema import GroupVersionResource
from apiserver.install import Groups
from apiserver.registry.pagination import ObjectPage
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.views.resource_view import Form
from apiserver.workload import without_collection

if TYPE_CHECKING:
    from apiserver.extensions.custom_resource import ServedDefinition
    from apiserver.extensions.definition import Definition
    from apiserver.extensions.webhook_conversion import WebhookCalls

log = logging.getLogger(__name__)

DEFINITIONS: Final = GroupVersionResource("apiextensions.k8s.io", "v1", "customresourcedefinitions")

FILL_SECONDS: Final = 30.0
"""Seconds that the start waits for the objects of all custom resources to be listed."""
REFRESH_SECONDS: Final = 1.0
"""Seconds that a request waits for the newest definitions; then the cached ones are used."""
_RETRY_SECONDS: Final = 1.0
_SMALL_BYTES: Final = 4 * 1024
"""The size of definitions that are compiled on the event loop: a few dozen rules at most."""
_AS_CACHED: Final = ListOptions(resource_version="0")


class DefinitionFollower:
    """Installs and removes the custom resources of one server process."""

    def __init__(self, groups: Groups, webhooks: "WebhookCalls | None" = None) -> None:
        """*webhooks* calls the conversion webhooks of definitions."""
        self._groups = groups
        self._webhooks = webhooks
        self._revisions: dict[str, int] = {}
        """The revision at which each definition was last processed."""
        self._served: dict[str, ServedDefinition] = {}
        self._synced = 0
        """The revision of the last list of definitions."""
        self._syncing = asyncio.Lock()
        self._installed: set[str] = set()
        """The groups installed by this follower."""

    @property
    def _store(self) -> ResourceStore[Any]:
        return self._groups.store(DEFINITIONS.group_resource)

    async def start(self) -> None:
        """Serve the custom resources that are already defined."""
        await self.sync(await self._store.list(EntrySelection()))
        self._groups.refresh = self.refresh
        await self._groups.filled(seconds=FILL_SECONDS)

    async def run(self) -> None:
        """Follow the definitions until cancelled."""
        while True:
            try:
                async with self._store.watch(
                    EntrySelection(), Form(DEFINITIONS.group_version)
                ) as watcher:
                    async for _ in watcher:
                        await self.sync(await self._store.list(EntrySelection(), _AS_CACHED))
            except APIError as error:
                log.warning("failed to follow the definitions, retrying: %s", error)
            await asyncio.sleep(_RETRY_SECONDS)

    async def refresh(self) -> None:
        """Serve the newest definitions; keep the current ones if the store takes too long."""
        try:
            async with asyncio.timeout(REFRESH_SECONDS):
                await self.sync(await self._store.list(EntrySelection()))
        except (APIError, TimeoutError) as error:
            log.debug("failed to refresh the definitions: %s", error)

    async def sync(self, definitions: ObjectPage) -> None:
        """Serve the custom resources of these definitions, and no others.

        A list that is older than the last one is ignored.
        """
        async with self._syncing:
            if definitions.revision >= self._synced:
                entries = definitions.entries
                await self._sync({e.key.rpartition("/")[2]: e for e in entries})
                self._synced = definitions.revision

    async def _sync(self, entries: Mapping[str, Entry]) -> None:
        changed_groups: set[str] = set()
        for name in self._revisions.keys() - entries.keys():
            del self._revisions[name]
            deleted = self._served.pop(name, None)
            if deleted is not None:
                changed_groups.add(deleted.definition.group)
        try:
            for name, entry in entries.items():
                if self._revisions.get(name, 0) < entry.revision:
                    changed_groups |= await self._process(name, entry)
                    self._revisions[name] = entry.revision
        finally:  # also if the request that refreshes the definitions does not wait any longer
            for group in sorted(changed_groups):
                self._install(group)

    async def _process(self, name: str, entry: Entry) -> set[str]:
        """Parse a new or changed definition; return the groups to install again."""
        before = self._served.get(name)
        try:
            # A server without custom resources need not load what serves them; loading it takes
            # long enough to hold up other requests.
            await asyncio.to_thread(import_module, "apiserver.extensions.custom_group")
            from apiserver.extensions.definition import parse_definition

            definition = parse_definition(orjson.loads(entry.record.value))
            return await self._update(name, definition, before, entry.size)
        except (KeyError, TypeError, ValueError, MissingExtra):
            # An invalid definition must not affect the others.
            log.exception("definition %s cannot be parsed; its resource is not served", name)
            return {self._served.pop(name).definition.group} if before else set()

    async def _update(
        self, name: str, definition: "Definition", before: "ServedDefinition | None", size: int
    ) -> set[str]:
        if not definition.established:
            return {self._served.pop(name).definition.group} if before else set()
        if before is not None and before.definition.source == definition.source:
            changed = before.definition.terminating != definition.terminating
            before.definition = definition
            return {definition.group} if changed else set()
        self._served[name] = await _compile(definition, size, self._webhooks)
        if not self._is_built_in(definition.group):
            log.info("serving %s", name)
        return {definition.group}

    def _install(self, group: str) -> None:
        if self._is_built_in(group):
            log.warning("group %s is built in: no custom resources can be added to it", group)
            return
        definitions = [
            served for _, served in sorted(self._served.items()) if served.definition.group == group
        ]
        if definitions:
            from apiserver.extensions.custom_group import CustomGroup

            self._groups.replace(CustomGroup(group, definitions))
            self._installed.add(group)
        elif group in self._installed:
            self._groups.remove(group)
            self._installed.discard(group)

    def _is_built_in(self, group: str) -> bool:
        """Return whether a group is built in; definitions in such a group are ignored."""
        return group not in self._installed and any(
            installed.group.name == group for installed in self._groups
        )


async def _compile(
    definition: "Definition", size: int, webhooks: "WebhookCalls | None"
) -> "ServedDefinition":
    """Compile the schemas of a definition; in a thread if it is large, because that takes long."""
    from apiserver.extensions.custom_resource import ServedDefinition

    served = ServedDefinition(definition, webhooks)
    if size > _SMALL_BYTES:
        await asyncio.to_thread(without_collection, served.compile)
    else:
        served.compile()
    return served
