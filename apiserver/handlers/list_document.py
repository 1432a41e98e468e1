"""List documents: join encoded objects into one list, slice by slice.

The cache has encoded every item already; a list is its head, the items, and its end. Slices let the
sender yield to other requests between them.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from apimachinery.codec import dump_json
from apimachinery.protobuf import ProtobufCodec
from apiserver.registry.pagination import ObjectPage
from apiserver.storage.cache.entry import Entry
from apiserver.views.resource_view import META, Form, ResourceView

SLICE: Final = 500
"""Items per slice."""


def list_document(
    page: ObjectPage, view: ResourceView, form: Form, *, protobuf: ProtobufCodec
) -> Iterator[bytes]:
    """Encode a page in the form of its items: a list, a Table, or a list of metadata."""
    if form.media == "protobuf":
        yield _protobuf(page, view, form, protobuf)
        return
    metadata = dump_json(page.metadata)
    if form.transform == "row":
        head = _head("Table", f"{META}/{form.meta}", metadata)
        yield b'%b"columnDefinitions":%b,"rows":[' % (head, view.column_definitions)
    else:
        yield _head(*_kind(view, form), metadata) + b'"items":['
    yield from _slices(page.entries, view, form)
    yield b"]}"


def _slices(entries: list[Entry], view: ResourceView, form: Form) -> Iterator[bytes]:
    remaining = iter(entries)
    separator = b""
    while items := [view.item(entry.encode(form), form) for entry in islice(remaining, SLICE)]:
        yield separator + b",".join(items)
        separator = b","


def _protobuf(page: ObjectPage, view: ResourceView, form: Form, protobuf: ProtobufCodec) -> bytes:
    kind, api_version = _kind(view, form)
    items = (view.item(entry.encode(form), form) for entry in page.entries)
    return protobuf.encode_list(page.metadata, items, api_version=api_version, kind=kind)


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
