"""Cache entries over the real view: what they serve, and how little they keep for it."""

import asyncio
import gc
import tracemalloc
from dataclasses import replace
from typing import Final

import pytest

from apiserver.storage.cache.entry import Entry, EntrySelection, LabelSets, make_entry
from apiserver.storage.cache.watch_cache import WatchCache
from apiserver.storage.interface import Record
from apiserver.storage.keys import ResourceKeys
from apiserver.storage.sqlite.backend import open_sqlite
from apiserver.views.resource_view import Form, ResourceView
from tests.apiserver.registry.world import NOTE_FORM, NOTES, Note, document
from tests.apiserver.views.test_resource_view import (
    PARTIAL,
    PROTOBUF,
    ROW,
    TABLE,
    notes_view,
    sample,
    stored,
)

KEYS: Final = ResourceKeys(NOTES, "notes")
OBJECTS: Final = 500
OBJECT_BYTES: Final = 1024
BOUND: Final = 1430
"""Bytes per cached object of a kilobyte, with the form in which most clients read it."""


def entry_of(view: ResourceView, record: Record) -> Entry:
    return make_entry(record, view)


@pytest.mark.parametrize("form", [NOTE_FORM, PARTIAL, PROTOBUF, TABLE, ROW])
def test_an_entry_serves_what_its_view_encodes(form: Form) -> None:
    view, _ = notes_view()
    record = stored(sample())

    entry = entry_of(view, record)

    assert entry.encode(form) == view.encode(record, form)
    assert entry.encode(form) == view.encode(record, form), "also if it is kept"
    assert entry.record == record
    assert entry.size == len(record.value)


def test_the_items_of_a_list_are_composed_as_they_would_be_encoded() -> None:
    view, _ = notes_view()
    entries = [entry_of(view, stored(sample(), revision)) for revision in (7, 8, 123456)]

    items = view.stored_items(entries, NOTE_FORM)

    assert items == [view.item(view.encode(each.record, NOTE_FORM), NOTE_FORM) for each in entries]


@pytest.mark.parametrize("form", [PARTIAL, PROTOBUF, TABLE, ROW])
def test_items_of_other_forms_are_not_composed(form: Form) -> None:
    view, _ = notes_view()

    assert view.stored_items([entry_of(view, stored(sample()))], form) is None


def test_one_object_of_another_head_has_all_items_encoded() -> None:
    view, _ = notes_view()
    entries = [entry_of(view, stored(sample())), entry_of(view, stored(Note()))]
    assert not entries[1].head, "an object without metadata has no place for its version"

    assert view.stored_items(entries, NOTE_FORM) is None


def test_an_object_that_cannot_be_decoded_is_served_without_what_cannot_be() -> None:
    view, _ = notes_view()
    record = stored(sample())
    broken = replace(record, value=record.value.replace(b'"text":"hello"', b'"text":["hello"]'))
    entry = entry_of(view, broken)
    entry.encode(ROW)
    assert entry.key in view.problems, "a row decodes the object"

    served = document(entry.encode(NOTE_FORM))

    assert "text" not in served["spec"]
    assert view.stored_items([entry], NOTE_FORM) is None


def test_fields_that_the_key_names_are_read_from_it() -> None:
    view, _ = notes_view()
    plain = ResourceView(Note, group=NOTES, codec=view._codec, storage=view._storage)
    record = stored(sample())
    expected = {"metadata.name": "a", "metadata.namespace": "default"}

    entry = entry_of(plain, record)
    later = make_entry(replace(record, revision=8), plain, previous=entry)

    assert entry.selectable_fields() == expected
    assert EntrySelection(fields=lambda fields: fields == expected).matches(entry)
    assert make_entry(record, plain, previous=entry).fields == expected
    assert later.fields == entry.fields == expected


def test_fields_are_shared_with_the_previous_state_once_they_were_read() -> None:
    view, _ = notes_view()
    for resource_view in (view, ResourceView(Note, group=NOTES, codec=view._codec,
                                             storage=view._storage)):  # fmt: skip
        first = entry_of(resource_view, stored(sample()))
        fields = first.fields

        second = make_entry(stored(sample(), 8), resource_view, previous=first)

        assert second.fields is fields
        assert second.labels is first.labels


def test_equal_labels_are_one_mapping() -> None:
    view, _ = notes_view()
    sets = LabelSets()

    first, second = (make_entry(stored(sample(), n), view, label_sets=sets) for n in (7, 8))

    assert first.labels == {"x": "y"}
    assert first.labels is second.labels


def record_of(number: int) -> Record:
    """An object of OBJECT_BYTES bytes, in one of ten namespaces."""
    made = sample()
    made.metadata.name, made.metadata.namespace = f"note-{number:06d}", f"ns-{number % 10}"
    missing = OBJECT_BYTES - len(stored(made).value)
    made.spec.text += "x" * missing
    value = stored(made).value
    assert len(value) == OBJECT_BYTES
    return Record(KEYS.object_key(made.metadata.name, namespace=made.metadata.namespace), value,
                  1, 1)  # fmt: skip


async def test_a_cached_object_of_a_kilobyte_needs_little_more() -> None:
    """Its bytes are kept once, though they are stored and served with different heads."""
    view = ResourceView(Note, group=NOTES, codec=notes_view()[0]._codec, storage=notes_view()[1])
    backend = await open_sqlite("sqlite://:memory:")
    records = [record_of(number) for number in range(OBJECTS)]
    await asyncio.gather(*(backend.create(record.key, record.value) for record in records))
    del records
    gc.collect()
    tracemalloc.start()
    cache = WatchCache(backend)
    notes = cache.register(KEYS, view)
    try:
        async with cache:
            await notes.collection.filled.wait()
            # When the cache has this one, it holds no change of the others any more.
            last = record_of(OBJECTS)
            await backend.create(last.key, last.value)
            for entry in (await notes.list(EntrySelection())).entries:
                entry.encode(NOTE_FORM)
            del entry
            gc.collect()
            held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        await backend.close()

    assert OBJECT_BYTES < held / OBJECTS < BOUND
