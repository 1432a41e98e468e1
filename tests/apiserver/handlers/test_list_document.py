"""Lists as they are sent."""

from dataclasses import replace
from typing import Any

import pytest

from apimachinery.meta.options import ListOptions
from apimachinery.meta.types import ObjectList, PartialObjectMetadataList
from apimachinery.serialization.media_types import JSON, YAML
from apiserver.handlers import list_document as documents
from apiserver.handlers.list_document import list_parts
from apiserver.http.negotiation import PLAIN, Accepted
from apiserver.http.response import render
from apiserver.storage.cache.entry import EntrySelection
from apiserver.views.resource_view import Form, Transform
from apiserver.workload import Workload
from tests.apiserver.registry.world import NOTE_FORM, Note, World, document, note, put


async def listed(here: World, form: Form, limit: int = 0, *, accepted: Accepted = PLAIN) -> bytes:
    page = await here.notes.list(EntrySelection(), ListOptions(limit=limit))
    parts = list_parts(
        page,
        here.notes.view,
        form,
        accepted,
        protobuf=lambda: here.codec.protobuf,
        workload=Workload(),
    )
    return b"".join([part async for part in parts])


async def names(here: World, form: Form) -> list[Any]:
    return [item["metadata"]["name"] for item in document(await listed(here, form))["items"]]


async def test_a_list_has_a_kind_and_its_items_have_none(here: World) -> None:
    await put(here, note("a"), note("b"))

    found = document(await listed(here, NOTE_FORM, limit=1))

    assert (found["kind"], found["apiVersion"]) == ("NoteList", "notes.example.io/v1")
    assert sorted(found["metadata"]) == ["continue", "remainingItemCount", "resourceVersion"]
    assert found["metadata"]["remainingItemCount"] == 1
    assert [sorted(item) for item in found["items"]] == [["metadata", "spec", "status"]]


async def test_an_empty_list_has_an_empty_list_of_items(here: World) -> None:
    assert document(await listed(here, NOTE_FORM))["items"] == []


@pytest.mark.parametrize("size", [1, 2, 3, 100])
async def test_slices_do_not_show(here: World, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "SLICE", size)
    await put(here, note("a"), note("b"), note("c"))

    assert await names(here, NOTE_FORM) == ["a", "b", "c"]


@pytest.mark.parametrize("accepted", [Accepted(JSON, pretty=True), Accepted(YAML)], ids=str)
@pytest.mark.parametrize("transform", ["", "row", "partial"])
@pytest.mark.parametrize("count", [0, 1, 3])
async def test_items_that_are_rendered_one_by_one_look_like_a_list_that_is_rendered_whole(
    here: World, accepted: Accepted, transform: Transform, count: int
) -> None:
    text = "items: []\n\n  indented\n\n"
    await put(here, *(note(name, text=text) for name in "abc"[:count]))
    form = replace(NOTE_FORM, transform=transform)

    rendered = await listed(here, form, accepted=accepted)

    whole = (await listed(here, form)).removesuffix(b"\n")
    assert rendered == render(whole, accepted)


@pytest.mark.parametrize("count", [0, 1, 300])
async def test_a_list_in_parts_is_the_same_message(here: World, count: int) -> None:
    await put(here, *(note(f"note-{number:03}") for number in range(count)))
    form, protobuf = replace(NOTE_FORM, media="protobuf"), here.codec.protobuf
    page = await here.notes.list(EntrySelection())

    items = [protobuf.read_envelope(entry.encode(form)).raw for entry in page.entries]
    kind = {"api_version": "notes.example.io/v1", "kind": "NoteList"}

    assert await listed(here, form) == protobuf.encode_list(page.metadata, items, **kind)


async def test_a_list_of_metadata_says_the_kind_of_each(here: World) -> None:
    await put(here, note("a"))

    found = document(await listed(here, replace(NOTE_FORM, transform="partial")))

    assert found["kind"] == "PartialObjectMetadataList"
    assert found["apiVersion"] == "meta.k8s.io/v1"
    assert [item["kind"] for item in found["items"]] == ["PartialObjectMetadata"]


async def test_a_table_has_a_row_for_each(here: World) -> None:
    await put(here, note("a", text="x"), note("b"))

    found = document(await listed(here, replace(NOTE_FORM, transform="row")))

    assert found["kind"] == "Table"
    assert len(found["columnDefinitions"]) == 4
    assert [row["cells"] for row in found["rows"]] == [["a", "x", "0s", 0], ["b", "", "0s", 0]]


async def test_a_list_as_protobuf(here: World) -> None:
    await put(here, note("a"), note("b"))
    protobuf = here.codec.protobuf

    plain = protobuf.read_envelope(await listed(here, replace(NOTE_FORM, media="protobuf")))
    form = replace(NOTE_FORM, media="protobuf", transform="partial")
    partial = protobuf.read_envelope(await listed(here, form))

    assert (plain.kind, partial.kind) == ("NoteList", "PartialObjectMetadataList")
    read = protobuf.decode(ObjectList[Note], plain.raw)
    assert [item.metadata.name for item in read.items] == ["a", "b"]
    metadata = protobuf.decode(PartialObjectMetadataList, partial.raw)
    assert [item.metadata.name for item in metadata.items] == ["a", "b"]
