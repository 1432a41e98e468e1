"""How stored objects look from outside."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apimachinery.codec import Codec
from apimachinery.meta.types import ObjectMeta, PartialObjectMetadata
from apimachinery.protobuf import Unframer
from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apimachinery.storage_codec import StorageCodec
from apis.gadgets import GROUP, register
from apis.gadgets.types import Gadget, GadgetSpec, Part
from apiserver.storage.interface import Record
from apiserver.views.resource_view import Form, ResourceView
from tests.apiserver.registry.world import (
    BETA_FORM,
    GADGET_FORM,
    NOTE_COLUMNS,
    NOTE_FORM,
    NOTES,
    NOTES_V1,
    FixedClock,
    Note,
    NoteSpec,
    NoteStatus,
    add_notes,
    document,
    gadget,
    note,
)

CLOCK = FixedClock()
KEY = "/registry/notes.example.io/notes/default/a"
PROTOBUF = replace(NOTE_FORM, media="protobuf")
PARTIAL = replace(NOTE_FORM, transform="partial")
TABLE = replace(NOTE_FORM, transform="table")
ROW = replace(NOTE_FORM, transform="row")


def notes_view(version: GroupVersion | None = None) -> tuple[ResourceView, StorageCodec]:
    scheme = Scheme()
    add_notes(scheme)
    storage = StorageCodec(scheme, version)
    view = ResourceView(
        Note,
        group=NOTES,
        codec=Codec(scheme),
        storage=storage,
        fields={"spec.text": "spec.text", "spec.pinned": "spec.pinned", "none": "spec.x.y"},
        columns=NOTE_COLUMNS,
        now=CLOCK,
    )
    return view, storage


def gadgets_view() -> tuple[ResourceView, StorageCodec]:
    scheme = Scheme()
    register.add_to_scheme(scheme)
    storage = StorageCodec(scheme)
    return ResourceView(Gadget, group=GROUP, codec=Codec(scheme), storage=storage), storage


VIEW, STORAGE = notes_view()


def stored(obj: Note, at: int = 7, storage: StorageCodec = STORAGE) -> Record:
    return Record(KEY, storage.encode(obj), at, at)


def sample() -> Note:
    made = note("a", text="hello", namespace="default", uid="u", labels={"x": "y"})
    made.metadata.creation_timestamp = CLOCK.at - timedelta(minutes=5)
    made.status = NoteStatus(readers=2)
    return made


def test_labels_and_fields_are_found_without_decoding() -> None:
    labels, fields = VIEW.selectable(stored(sample()))

    assert labels == {"x": "y"}
    assert fields == {
        "metadata.name": "a",
        "metadata.namespace": "default",
        "spec.text": "hello",
        "spec.pinned": "false",
        "none": "",
    }


def test_a_truth_value_is_selected_by_its_word() -> None:
    made = sample()
    made.spec.pinned = True

    assert VIEW.selectable(stored(made))[1]["spec.pinned"] == "true"


def test_fields_are_those_of_the_internal_object_whatever_is_stored() -> None:
    view, storage = notes_view(NOTES_V1)
    record = stored(sample(), storage=storage)

    assert record.value.startswith(b'{"kind":"Note","apiVersion":"notes.example.io/v1"')
    assert view.selectable(record)[1]["spec.text"] == "hello"


def test_a_document_has_its_kind_and_version() -> None:
    encoded = VIEW.encode(stored(sample()), NOTE_FORM)

    assert encoded.startswith(b'{"kind":"Note","apiVersion":"notes.example.io/v1",')
    assert document(encoded)["metadata"]["resourceVersion"] == "7"
    assert b"__internal" not in encoded


TEXT = st.text(max_size=20)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(
    metadata=st.builds(
        ObjectMeta,
        name=TEXT.filter(bool),
        annotations=st.dictionaries(TEXT, TEXT, max_size=3),
        finalizers=st.lists(TEXT, max_size=2),
    ),
    spec=st.builds(NoteSpec, text=TEXT),
    revision=st.integers(1, 2**63),
)
def test_the_short_way_and_the_long_one_give_the_same(
    metadata: ObjectMeta, spec: NoteSpec, revision: int
) -> None:
    made = Note(metadata=metadata, spec=spec)
    record = stored(made, revision)
    made = made.deep_copy()
    made.metadata.resource_version = str(revision)

    spliced = VIEW.encode(record, NOTE_FORM)

    assert document(spliced) == document(VIEW.encode_object(made, NOTE_FORM))


def test_an_object_without_a_name_has_the_one_in_its_key() -> None:
    view, storage = notes_view()

    encoded = view.encode(stored(Note(), storage=storage), NOTE_FORM)

    named = {"name": "a", "namespace": "default", "resourceVersion": "7"}
    assert document(encoded)["metadata"] == named


def test_an_object_stored_in_a_version_is_read_the_long_way() -> None:
    view, storage = notes_view(NOTES_V1)

    encoded = view.encode(stored(sample(), storage=storage), NOTE_FORM)

    assert document(encoded) == document(VIEW.encode(stored(sample()), NOTE_FORM))


def test_versions_are_views_of_one_object() -> None:
    view, storage = gadgets_view()
    made = gadget("lamp")
    made.spec = GadgetSpec(model="a1", replicas=3, parts=[Part(name="bulb")])
    record = Record(KEY, storage.encode(made), 7, 7)

    stable = document(view.encode(record, GADGET_FORM))
    beta = document(view.encode(record, BETA_FORM))

    assert stable["apiVersion"] == "gadgets.example.io/v1"
    assert stable["spec"]["timeoutSeconds"] == 60
    assert beta["spec"] == {"model": "a1", "count": 3, "timeout": "1m0s"}
    assert stable["metadata"]["resourceVersion"] == beta["metadata"]["resourceVersion"] == "7"
    assert list(beta["metadata"]["annotations"]) == ["gadgets.example.io/parts"]


def test_metadata_alone_is_that_of_the_version() -> None:
    view, storage = gadgets_view()
    made = gadget("lamp")
    made.spec.parts = [Part(name="bulb")]
    record = Record(KEY, storage.encode(made), 7, 7)

    beta = document(view.encode(record, replace(BETA_FORM, transform="partial")))

    assert (beta["kind"], beta["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert list(beta["metadata"]["annotations"]) == ["gadgets.example.io/parts"]


def test_metadata_alone() -> None:
    encoded = document(VIEW.encode(stored(sample()), PARTIAL))

    assert encoded == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {
            "name": "a",
            "namespace": "default",
            "uid": "u",
            "resourceVersion": "7",
            "creationTimestamp": "2030-01-01T11:55:00Z",
            "labels": {"x": "y"},
        },
    }


def test_a_table_has_one_row() -> None:
    table = document(VIEW.complete(VIEW.encode(stored(sample()), TABLE), TABLE))

    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert table["metadata"] == {"resourceVersion": "7"}
    assert [column["name"] for column in table["columnDefinitions"]] == [
        "Name",
        "Text",
        "Age",
        "Readers",
    ]
    assert table["columnDefinitions"][3]["priority"] == 1
    [row] = table["rows"]
    assert row["cells"] == ["a", "hello", "5m", 2]
    assert row["object"] == document(VIEW.encode(stored(sample()), PARTIAL))


def test_columns_are_not_defined_twice() -> None:
    later = replace(TABLE, columns=False)

    assert (
        document(VIEW.complete(VIEW.encode(stored(sample()), later), later))["columnDefinitions"]
        is None
    )


@pytest.mark.parametrize("include", ["Metadata", "Object", "None"])
def test_a_row_has_as_much_of_the_object_as_was_asked_for(include: Any) -> None:
    form = replace(ROW, include_object=include)
    record = stored(sample())

    row = document(VIEW.item(VIEW.encode(record, form), form))

    expected = {
        "Metadata": document(VIEW.encode(record, PARTIAL)),
        "Object": document(VIEW.encode(record, NOTE_FORM)),
        "None": None,
    }
    assert row["object"] == expected[include]


def test_an_age_is_of_the_moment_in_which_it_is_sent() -> None:
    """The cache keeps the encoded row; the age must not be kept with it."""
    kept = VIEW.encode(stored(sample()), ROW)
    clock = FixedClock(CLOCK.at)
    VIEW._now = clock
    try:
        first = document(VIEW.item(kept, ROW))["cells"][2]
        clock.at += timedelta(hours=5)
        second = document(VIEW.item(kept, ROW))["cells"][2]
        framed = document(VIEW.frame("ADDED", kept, ROW))["object"]["cells"][2]
    finally:
        VIEW._now = CLOCK

    assert (first, second, framed) == ("5m", "5h5m", "5h5m")


def test_a_frame_is_an_event() -> None:
    encoded = VIEW.encode(stored(sample()), NOTE_FORM)

    framed = VIEW.frame("ADDED", encoded, NOTE_FORM)

    assert framed == b'{"type":"ADDED","object":' + encoded + b"}\n"


def test_an_item_of_a_list_does_not_say_its_kind() -> None:
    encoded = VIEW.encode(stored(sample()), NOTE_FORM)

    item = document(VIEW.item(encoded, NOTE_FORM))

    assert item == {
        key: value for key, value in document(encoded).items() if key not in ("kind", "apiVersion")
    }


def test_protobuf_says_the_same() -> None:
    codec = VIEW._codec
    encoded = VIEW.encode(stored(sample()), PROTOBUF)

    envelope = codec.protobuf.read_envelope(encoded)
    read = codec.protobuf.decode(Note, envelope.raw)

    expected = sample()
    expected.metadata.resource_version = "7"
    assert (envelope.api_version, envelope.kind) == ("notes.example.io/v1", "Note")
    assert read == expected
    assert VIEW.item(encoded, PROTOBUF) == envelope.raw


def test_protobuf_frames_have_their_length() -> None:
    encoded = VIEW.encode(stored(sample()), PROTOBUF)

    [event] = Unframer().feed(VIEW.frame("DELETED", encoded, PROTOBUF))

    assert VIEW._codec.protobuf.decode_watch_event(event) == ("DELETED", encoded)


def test_metadata_alone_as_protobuf() -> None:
    protobuf = VIEW._codec.protobuf

    envelope = protobuf.read_envelope(
        VIEW.encode(stored(sample()), replace(PARTIAL, media="protobuf"))
    )

    assert (envelope.api_version, envelope.kind) == ("meta.k8s.io/v1", "PartialObjectMetadata")
    assert protobuf.decode(PartialObjectMetadata, envelope.raw).metadata.uid == "u"


@pytest.mark.parametrize("end", [False, True])
def test_a_bookmark_is_an_object_with_nothing_but_a_version(end: bool) -> None:
    encoded = VIEW.bookmark(9, NOTE_FORM, initial_events_end=end)

    metadata: dict[str, Any] = {"resourceVersion": "9"}
    if end:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    assert document(encoded) == {
        "kind": "Note",
        "apiVersion": "notes.example.io/v1",
        "metadata": metadata,
    }


def test_a_bookmark_comes_in_every_form() -> None:
    protobuf = VIEW._codec.protobuf

    partial = document(VIEW.bookmark(9, PARTIAL, initial_events_end=True))
    table = document(VIEW.bookmark(9, TABLE, initial_events_end=True))
    envelope = protobuf.read_envelope(VIEW.bookmark(9, PROTOBUF, initial_events_end=True))

    assert partial["kind"] == "PartialObjectMetadata"
    assert table["metadata"] == {"resourceVersion": "9"}
    assert table["rows"] == [{"cells": [None, None, None, None], "object": partial}]
    assert envelope.kind == "Note"
    assert protobuf.decode(Note, envelope.raw).metadata.annotations == {
        "k8s.io/initial-events-end": "true"
    }


def test_the_answer_to_a_write_reads_like_what_is_stored() -> None:
    made = sample()
    made.metadata.resource_version = "7"

    for form in (NOTE_FORM, PARTIAL, TABLE, PROTOBUF, replace(TABLE, include_object="Object")):
        read = VIEW.complete(VIEW.encode(stored(made), form), form)
        answered = VIEW.encode_object(made, form)
        if form.media == "json":
            assert document(answered) == document(read)
        else:
            assert answered == read


def test_the_answer_to_a_write_is_made_of_what_was_stored() -> None:
    made = sample()
    made.metadata.resource_version = "7"
    record = stored(sample())

    answered = VIEW.encode_written(made, record.value, NOTE_FORM)

    assert answered == VIEW.encode(record, NOTE_FORM)
    assert document(answered) == document(VIEW.encode_written(made, None, NOTE_FORM))


def test_what_was_not_stored_has_no_version() -> None:
    for form in (NOTE_FORM, PARTIAL, TABLE):
        answered = document(VIEW.encode_object(sample(), form))

        assert "resourceVersion" not in answered["metadata"]


@pytest.mark.parametrize("form", [GADGET_FORM, BETA_FORM])
def test_what_cannot_be_read_has_the_name_in_its_key(form: Form) -> None:
    view, _ = gadgets_view()
    record = Record(KEY, b'{"kind":"Gadget"', 7, 7)

    encoded = document(view.encode(record, form))

    name = KEY.rpartition("/")[2]
    assert encoded == {
        "kind": "Gadget",
        "apiVersion": str(form.version),
        "metadata": {"name": name, "namespace": "default", "resourceVersion": "7"},
    }
    assert list(view.problems) == [KEY]


@pytest.mark.parametrize("form", [NOTE_FORM, PARTIAL, ROW, PROTOBUF])
def test_of_what_is_cut_off_the_metadata_is_served(form: Form) -> None:
    view, record = notes_view()[0], stored(sample())
    cut = replace(record, value=record.value[:-5])
    view.selectable(cut)

    encoded = view.encode(cut, form)

    assert sample().metadata.name.encode() in encoded
    assert cut.key in view.problems


def test_an_object_that_is_written_again_or_deleted_is_no_problem_any_more() -> None:
    view, record = notes_view()[0], stored(sample())
    cut = replace(record, value=record.value[:-5])
    view.selectable(cut)
    assert len(view.problems) == 1

    view.selectable(replace(record, revision=record.revision + 1))
    assert len(view.problems) == 0

    view.selectable(cut)
    view.forget(cut.key)
    assert len(view.problems) == 0


def test_forms_are_values() -> None:
    one, other = Form(NOTES_V1), Form(GroupVersion(NOTES, "v1"))

    assert one == other
    assert hash(one) == hash(other)
    assert one != replace(one, columns=False)
    assert one != "v1"


def test_json_is_compact() -> None:
    encoded = VIEW.encode(stored(sample()), NOTE_FORM)

    assert len(encoded) == len(orjson.dumps(document(encoded)))
