"""List documents: join encoded objects into one list, part by part.

The cache keeps the bytes of every item; a list is its head, the items, and its end. A part is what
can be encoded without keeping the event loop, and what one write should send: other requests run
between two parts, however many objects a list has and however large they are. Indented JSON and
YAML are rendered item by item, too.
"""

import re
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from apimachinery.codec import dump_json
from apimachinery.serialization.media_types import YAML
from apimachinery.serialization.serializer import write_json_pretty, write_yaml
from apiserver.handlers.entry_encoding import encode_apart, is_light
from apiserver.http.negotiation import PLAIN, Accepted
from apiserver.http.response import LARGE, render
from apiserver.registry.pagination import ObjectPage
from apiserver.storage.cache.entry import Entry
from apiserver.time_slices import RestingSlices
from apiserver.views.resource_view import META, Form, ResourceView
from apiserver.workload import LIGHT_BYTES, Workload

if TYPE_CHECKING:
    from apimachinery.protobuf import ProtobufCodec

SLICE: Final = 500
"""The maximum number of items in a part."""
GLANCE: Final = 100
"""Items taken from the cache before the time is checked."""
MAX_JOINED: Final = 4 * LARGE
"""The size in bytes of items that are taken from the cache at once."""

_LINE: Final = re.compile(rb"\n(?=[^\n])")


async def list_parts(
    page: ObjectPage,
    view: ResourceView,
    form: Form,
    accepted: Accepted = PLAIN,
    *,
    protobuf: "Callable[[], ProtobufCodec]",
    workload: Workload,
) -> AsyncIterator[bytes]:
    """Encode a page in the form of its items: a list, a Table, or a list of metadata."""
    if form.media == "protobuf":
        items = _Items(page.entries, view, form, None, workload)
        async for part in _protobuf_parts(page, view, form, items, protobuf()):
            yield part
        return
    empty, field = _empty_list(page, view, form)
    if not page.entries:
        yield render(empty, accepted)
        return
    layout = _layout(empty, accepted, field)
    items = _Items(page.entries, view, form, layout.render, workload)
    yield layout.head
    is_first = True
    while batch := await items.take():
        if not is_first:
            batch.insert(0, b"")
        yield layout.separator.join(batch)
        is_first = False
    yield layout.end


class _Items:
    """The encoded items of a list, in the order of its entries."""

    def __init__(
        self,
        entries: Iterable[Entry],
        view: ResourceView,
        form: Form,
        render_item: Callable[[bytes], bytes] | None,
        workload: Workload,
    ) -> None:
        self._remaining = iter(entries)
        self._waiting: deque[Entry] = deque()
        self._view = view
        self._form = form
        self._render = render_item
        self._workload = workload

    async def take(self) -> list[bytes]:
        """Return the items of the next part, none at the end."""
        items: list[bytes] = []
        size, time = 0, RestingSlices()
        while len(items) < SLICE and size < LARGE and not (items and time.is_over):
            added = self._kept_items() or await self._next_item()
            if not added:
                break
            items += added
            size += sum(map(len, added))
        return items

    def _kept_items(self) -> list[bytes]:
        """Return some items that the cache has kept; none if the next ones must be encoded."""
        if self._render is not None or self._waiting:
            return []
        view, form = self._view, self._form
        entries = list(islice(self._remaining, GLANCE))
        if sum(entry.size for entry in entries) <= MAX_JOINED:
            stored = view.stored_items(entries, form)
            if stored is not None:
                return stored
        encoded = cast(list[bytes], [entry.encoded(form) for entry in entries])
        try:
            if sum(map(len, encoded)) <= MAX_JOINED:
                return [view.item(each, form) for each in encoded]
        except TypeError:
            pass  # None has no length; to look for it would take longer
        self._waiting.extend(entries)
        return []

    async def _next_item(self) -> list[bytes]:
        entry = self._waiting.popleft() if self._waiting else next(self._remaining, None)
        if entry is None:
            return []
        encoded = entry.encoded(self._form)
        if encoded is None:
            encoded = await self._encode(entry)
        item = self._view.item(encoded, self._form)
        return [item if self._render is None else await self._rendered(item, self._render)]

    async def _encode(self, entry: Entry) -> bytes:
        if is_light(entry, self._form):
            return entry.encode(self._form)
        return await encode_apart(self._view, entry, self._form, self._workload)

    async def _rendered(self, item: bytes, render_item: Callable[[bytes], bytes]) -> bytes:
        if len(item) <= LIGHT_BYTES:
            return render_item(item)
        self._workload.add(item)
        return await self._workload.run(render_item, item)


@dataclass(frozen=True, slots=True)
class _Layout:
    """What is written around the items of a list that has any."""

    head: bytes
    separator: bytes
    end: bytes
    render: Callable[[bytes], bytes] | None = None
    """Renders an item, which is JSON."""


def _layout(empty: bytes, accepted: Accepted, items: bytes) -> _Layout:
    """Return the layout of a list, given the one without items; *items* names their field."""
    if accepted.media_type == YAML:
        document, mark = write_yaml(empty), b"\n%b: []\n" % items
        # Nothing but a field of the list itself is at the beginning of a line.
        before, _, after = document.partition(mark)
        return _Layout(b"%b\n%b:\n" % (before, items), b"", after, _yaml_item)
    if accepted.pretty:
        before = write_json_pretty(empty).removesuffix(b"]\n}")
        return _Layout(before + b"\n    ", b",\n    ", b"\n  ]\n}", _pretty_item)
    return _Layout(empty.removesuffix(b"]}"), b",", b"]}\n")


def _yaml_item(item: bytes) -> bytes:
    return b"- %b\n" % _LINE.sub(b"\n  ", write_yaml(item)[:-1])


def _pretty_item(item: bytes) -> bytes:
    # JSON has no line breaks inside of strings.
    return write_json_pretty(item).replace(b"\n", b"\n    ")


def _empty_list(page: ObjectPage, view: ResourceView, form: Form) -> tuple[bytes, bytes]:
    """Return the list without its items as JSON, and the name of their field."""
    metadata = dump_json(page.metadata)
    if form.transform == "row":
        head = _head("Table", f"{META}/{form.meta}", metadata)
        return b'%b"columnDefinitions":%b,"rows":[]}' % (head, view.column_definitions), b"rows"
    return _head(*_kind(view, form), metadata) + b'"items":[]}', b"items"


async def _protobuf_parts(
    page: ObjectPage, view: ResourceView, form: Form, items: _Items, protobuf: "ProtobufCodec"
) -> AsyncIterator[bytes]:
    """Encode the items first: the envelope of a list begins with its size."""
    encoded: deque[bytes] = deque()
    time = RestingSlices()
    while batch := await items.take():
        encoded.append(protobuf.encode_items(batch))
        await time.yield_loop()
    kind, api_version = _kind(view, form)
    head, end = protobuf.enclose_list(
        page.metadata, sum(map(len, encoded)), api_version=api_version, kind=kind
    )
    yield head
    while encoded:
        yield encoded.popleft()
    yield end


def _kind(view: ResourceView, form: Form) -> tuple[str, str]:
    if form.transform == "partial":
        return "PartialObjectMetadataList", f"{META}/{form.meta}"
    return view.list_kind, str(form.version)


def _head(kind: str, api_version: str, metadata: bytes) -> bytes:
    return b'{"kind":"%b","apiVersion":"%b","metadata":%b,' % (
        kind.encode(),
        api_version.encode(),
        metadata,
    )
