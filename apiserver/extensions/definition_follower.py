"""Extensions: keeps what is served in step with the definitions that are stored.

Every worker follows the definitions through its own watch cache, so it does not matter which of
them a definition was written through, nor whether it was there before the start. A request for
something unknown may be for what was defined a moment ago: before it is refused, the newest state
is looked at once more.
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
"""How long a start waits until the objects of all custom resources are listed."""
REFRESH_SECONDS: Final = 1.0
"""How long a request waits for the newest definitions before it is answered by those known."""
_RETRY_SECONDS: Final = 1.0
_AS_CACHED: Final = ListOptions(resource_version="0")


class DefinitionFollower:
    """The custom resources of one server process."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._revisions: dict[str, int] = {}
        """The revision at which each definition was last looked at."""
        self._served: dict[str, ServedDefinition] = {}
        self._installed: set[str] = set()
        """The groups that are ours."""

    @property
    def _store(self) -> ResourceStore[Any]:
        return self._groups.store(DEFINITIONS.group_resource)

    async def start(self) -> None:
        """Serve what is defined already."""
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
        """Serve what is defined in the newest state, as far as the store can tell it soon."""
        try:
            async with asyncio.timeout(REFRESH_SECONDS):
                self.sync((await self._store.list(EntrySelection())).entries)
        except (APIError, TimeoutError) as error:
            log.debug("the newest definitions are not known: %s", error)

    def sync(self, entries: Iterable[Entry]) -> None:
        """Serve what these definitions define, and nothing else."""
        present: set[str] = set()
        touched: set[str] = set()
        for entry in entries:
            name = entry.record.key.rpartition("/")[2]
            present.add(name)
            if self._revisions.get(name, 0) < entry.record.revision:
                self._revisions[name] = entry.record.revision
                touched |= self._take(name, entry)
        for name in self._revisions.keys() - present:
            del self._revisions[name]
            gone = self._served.pop(name, None)
            if gone is not None:
                touched.add(gone.definition.group)
        for group in sorted(touched):
            self._serve(group)

    def _take(self, name: str, entry: Entry) -> set[str]:
        """Look at a definition that has changed; returns the groups that change with it."""
        before = self._served.get(name)
        try:
            return self._changed(name, parse_definition(orjson.loads(entry.record.value)), before)
        except (KeyError, TypeError, ValueError, MissingExtra):
            # Whatever is wrong with it, it is the only one that is not served.
            log.exception("definition %s cannot be read; what it defines is not served", name)
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
        ours = [each for each in served if each.definition.group == group]
        if ours:
            self._groups.replace(CustomGroup(group, ours))
            self._installed.add(group)
        elif group in self._installed:
            self._groups.remove(group)
            self._installed.discard(group)

    def _is_built_in(self, group: str) -> bool:
        """Whether others serve a group; what is defined in it is left alone."""
        return group not in self._installed and any(
            found.group.name == group for found in self._groups
        )
