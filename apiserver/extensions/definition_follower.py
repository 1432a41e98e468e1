"""DefinitionFollower: serves the custom resources whose definitions are stored.

Every worker follows the definitions through its own watch cache, so it does not matter which worker
wrote a definition, nor whether it existed before the start. A request for an unknown resource may
be for one that was defined a moment ago: the newest definitions are read before it is refused.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Final

import orjson

from apimachinery.errors import APIError
from apimachinery.extras import MissingExtra
from apimachinery.meta.options import ListOptions
from apiserver.extensions.custom_group import CustomGroup
from apiserver.extensions.custom_resource import ServedDefinition
from apiserver.extensions.definition import DEFINITIONS, Definition, parse_definition
from apiserver.install import Groups
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.views.resource_view import Form

log = logging.getLogger(__name__)

FILL_SECONDS: Final = 30.0
"""Seconds that a start waits until the objects of all custom resources are listed."""
REFRESH_SECONDS: Final = 1.0
"""Seconds that a request waits for the newest definitions before the known ones decide."""
_RETRY_SECONDS: Final = 1.0
_AS_CACHED: Final = ListOptions(resource_version="0")


class DefinitionFollower:
    """The custom resources of one server process."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._revisions: dict[str, int] = {}
        """Name of each definition -> the revision that was last parsed."""
        self._served: dict[str, ServedDefinition] = {}
        self._installed: set[str] = set()
        """The groups that consist of custom resources."""

    @property
    def _store(self) -> ResourceStore[Any]:
        return self._groups.store(DEFINITIONS.group_resource)

    async def start(self) -> None:
        """Serve the definitions that exist, and wait until their objects are cached."""
        self.sync((await self._store.list(EntrySelection())).entries)
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
                        self.sync((await self._store.list(EntrySelection(), _AS_CACHED)).entries)
            except APIError as error:
                log.warning("following the definitions failed: %s; starting over", error)
            await asyncio.sleep(_RETRY_SECONDS)

    async def refresh(self) -> None:
        """Serve the newest definitions, if the store returns them in time."""
        try:
            async with asyncio.timeout(REFRESH_SECONDS):
                self.sync((await self._store.list(EntrySelection())).entries)
        except (APIError, TimeoutError) as error:
            log.debug("the newest definitions are not known: %s", error)

    def sync(self, entries: Iterable[Entry]) -> None:
        """Serve the resources of these definitions, and no other custom resources."""
        present: set[str] = set()
        touched: set[str] = set()
        for entry in entries:
            name = entry.record.key.rpartition("/")[2]
            present.add(name)
            if self._revisions.get(name, 0) < entry.record.revision:
                self._revisions[name] = entry.record.revision
                touched |= self._parse(name, entry)
        for name in self._revisions.keys() - present:
            del self._revisions[name]
            removed = self._served.pop(name, None)
            if removed is not None:
                touched.add(removed.definition.group)
        for group in sorted(touched):
            self._serve(group)

    def _parse(self, name: str, entry: Entry) -> set[str]:
        """Parse a definition that has changed; return the groups that change with it."""
        before = self._served.get(name)
        try:
            return self._changed(name, parse_definition(orjson.loads(entry.record.value)), before)
        except (KeyError, TypeError, ValueError, MissingExtra):
            # A definition that cannot be parsed must not keep the others from being served.
            log.exception("definition %s cannot be read; its resource is not served", name)
            return {self._served.pop(name).definition.group} if before else set()

    def _changed(
        self, name: str, definition: Definition, before: ServedDefinition | None
    ) -> set[str]:
        if not definition.established:
            return {self._served.pop(name).definition.group} if before else set()
        if before is not None and before.definition.source == definition.source:
            changed = before.definition.terminating != definition.terminating
            before.definition = definition
            return {definition.group} if changed else set()
        self._served[name] = ServedDefinition(definition)
        if not self._is_built_in(definition.group):
            log.info("serving %s", name)
        return {definition.group}

    def _serve(self, group: str) -> None:
        if self._is_built_in(group):
            log.warning("group %s is built in: no custom resources can be added to it", group)
            return
        served = [self._served[name] for name in sorted(self._served)]
        of_group = [entry for entry in served if entry.definition.group == group]
        if of_group:
            self._groups.replace(CustomGroup(group, of_group))
            self._installed.add(group)
        elif group in self._installed:
            self._groups.remove(group)
            self._installed.discard(group)

    def _is_built_in(self, group: str) -> bool:
        """Return whether the server has the group itself; definitions cannot add to it."""
        return group not in self._installed and any(
            installed.group.name == group for installed in self._groups
        )
