"""ConvertingStore: lists and watches of a custom kind whose versions a webhook converts.

Labels and selectable fields may differ between versions. So a selector is not applied to what is
stored, as for other resources: the objects of the namespace are converted, and then selected.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from apimachinery.meta.options import DeleteOptions, ListOptions
from apimachinery.structural.custom_kind import CustomResource
from apiserver.context import RequestContext
from apiserver.extensions.converted_watch import ConvertedWatch, Matcher
from apiserver.registry.pagination import ObjectPage
from apiserver.registry.storage_errors import api_error
from apiserver.registry.store import ResourceStore
from apiserver.storage.cache.entry import Entry, EntrySelection
from apiserver.storage.cache.event_log import OpenWatch, Watcher
from apiserver.storage.interface import StorageError
from apiserver.views.resource_view import Form


class ConvertingStore(ResourceStore[CustomResource]):
    """The objects of a custom kind, in one of its versions."""

    def match_by(self, matcher: Matcher) -> None:
        """Select objects by *matcher*; called once, when the store is built."""
        self._matcher = matcher

    async def list(
        self, selection: EntrySelection, options: ListOptions | None = None
    ) -> ObjectPage:
        if not selection.selective:
            return await super().list(selection, options)
        return await self._list_selected(selection, options or ListOptions())

    @asynccontextmanager
    async def watch(
        self, selection: EntrySelection, form: Form, options: ListOptions | None = None
    ) -> AsyncIterator[OpenWatch]:
        if not selection.selective:
            async with super().watch(selection, form, options) as watcher:
                yield watcher
            return
        async with super().watch(_by_key(selection), form, options) as watcher:
            assert isinstance(watcher, Watcher)
            yield ConvertedWatch(watcher, self._matcher, selection)

    def bookmark(self, watcher: OpenWatch) -> None:
        super().bookmark(watcher.watcher if isinstance(watcher, ConvertedWatch) else watcher)

    async def delete_collection(
        self,
        selection: EntrySelection,
        options: DeleteOptions | None,
        context: RequestContext,
        list_options: ListOptions | None = None,
    ) -> ObjectPage:
        """Delete the selected objects one by one; none if they cannot be converted."""
        page = await self.list(selection, list_options)
        try:
            await self._matcher.convert(page.entries, context.workload)
        except StorageError as error:
            raise api_error(error, self.rules.resource, "deletecollection") from error
        return await super().delete_collection(selection, options, context, list_options)

    async def _list_selected(self, selection: EntrySelection, options: ListOptions) -> ObjectPage:
        limit = max(options.limit, 0)
        query = options.model_copy()
        page = ObjectPage([], 0)
        selected: list[Entry] = []
        while True:
            if limit:
                # Never more than are wanted, so that the continue token is that of the last page.
                query.limit = limit - len(selected)
            page = await super().list(_by_key(selection), query)
            selected += await self._select(page, selection)
            if not page.continue_token or not limit or len(selected) >= limit:
                return replace(page, entries=selected, remaining=None)
            query = ListOptions(limit=limit, continue_=page.continue_token)

    async def _select(self, page: ObjectPage, selection: EntrySelection) -> Sequence[Entry]:
        try:
            return await self._matcher.select(page.entries, selection)
        except StorageError as error:
            raise api_error(error, self.rules.resource, "list") from error


def _by_key(selection: EntrySelection) -> EntrySelection:
    """Return the selection by namespace and name only."""
    return EntrySelection(namespace=selection.namespace, name=selection.name)
