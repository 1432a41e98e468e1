"""Reading in great numbers gives what careful decoding gives, without the notes of pydantic."""

import copy
import json
import pickle
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, model_validator

from apimachinery.codec import dump_json
from apimachinery.lenient.bulk_decoding import bulk_decode_document, bulk_decode_json
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import (
    DecodeError,
    has_untyped_parts,
    reject_non_finite_numbers,
)
from apimachinery.model.model import Model, field, new_model
from apimachinery.scalars.time import MicroTime
from apimachinery.scalars.wire_types import Bytes, RawExtension
from apimachinery.scheme import list_class
from apimachinery.testing.strategies import objects
from tests.benchmarks.pods import PodV1, pod_document


class Box(Model):
    """Holds boxes."""

    label: str = ""
    inner: "list[Box]" = field(default_factory=list)
    by_name: "dict[str, Box]" = field(default_factory=dict)
    best: "Box | None" = None


class Open(Model):
    model_config = ConfigDict(extra="allow")

    name: str = ""


class Checked(Model):
    low: int = 0
    high: int = 0

    @model_validator(mode="after")
    def _in_order(self) -> "Checked":
        if self.low > self.high:
            raise ValueError("low is above high")
        return self


class Odd(Object):
    """One of everything that is not a model of plain fields."""

    secret: Bytes = b""
    at: MicroTime | None = None
    raw: RawExtension = field(default_factory=dict)
    open_: Open = field(default_factory=Open)
    checked: Checked = field(default_factory=Checked)
    box: Box = field(default_factory=Box)
    size: int = field(1, ge=1, le=9)


def models_in(value: Any) -> Iterator[Model]:
    if isinstance(value, Model):
        yield value
    parts = value.__dict__ if isinstance(value, BaseModel) else value
    if isinstance(parts, dict):
        parts = list(parts.values())
    if isinstance(parts, list):
        for part in parts:
            yield from models_in(part)


def outcome(read: Any, cls: type[Model], data: bytes) -> tuple[str, Any]:
    try:
        return "read", read(cls, data)
    except DecodeError as error:
        return str(error), error.fields


def carefully(cls: type[Model], data: bytes) -> Model:
    if has_untyped_parts(cls):
        reject_non_finite_numbers(data)
    return decode_leniently(cls, data)


@settings(max_examples=25)
@given(st.data())
@pytest.mark.parametrize("cls", [PodV1, Odd, list_class(Odd)])
def test_what_is_read_is_what_is_decoded(cls: type[Model], data: st.DataObject) -> None:
    written = dump_json(data.draw(objects(cls)))

    word, read = outcome(bulk_decode_json, cls, written)

    assert (word, read) == outcome(carefully, cls, written)
    if word == "read":
        assert dump_json(read) == written


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "label", "best", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(["kind", "metadata", "size", "box", "raw", "checked", "open", "secret"]),
        JSON,
    )
)
def test_what_cannot_be_read_is_refused_in_the_same_words(document: dict[str, Any]) -> None:
    data = json.dumps(document).encode()

    assert outcome(bulk_decode_json, Odd, data) == outcome(carefully, Odd, data)


@pytest.mark.parametrize(
    "text",
    [
        b"[]",
        b"null",
        b'"a"',
        b"{",
        b'{"metadata": []}',
        b'{"metadata": ["a", "b"]}',
        b'{"metadata": null, "box": {"inner": null, "byName": {"a": null}}}',
        b'{"metadata": {"name": "a", "name": "b"}}',
        b'{"size": 10}',
        b'{"size": "1"}',
        b'{"checked": {"low": 2, "high": 1}}',
        b'{"raw": {"a": NaN}}',
        b'{"open_": {"name": "a"}, "by_name": {}}',
        b'{"open": {"name": "a", "other": 1}, "unknown": {"a": [1]}}',
    ],
)
def test_odd_documents_are_read_as_they_are_decoded(text: bytes) -> None:
    assert outcome(bulk_decode_json, Odd, text) == outcome(carefully, Odd, text)


def test_no_notes_are_taken() -> None:
    """If this fails, pydantic has found another way to use what it has compiled already."""
    pods = [pod_document("a"), pod_document("b")]
    listed = {"metadata": {"resourceVersion": "1"}, "items": pods}

    read = bulk_decode_json(list_class(PodV1), orjson.dumps(listed))

    notes = BaseModel.__dict__["__pydantic_fields_set__"]
    found = list(models_in(read))
    assert len(found) > 30
    for model in found:
        with pytest.raises(AttributeError):
            notes.__get__(model)


def made_without_notes() -> PodV1:
    return bulk_decode_json(PodV1, orjson.dumps(pod_document("a")))


def test_an_object_without_notes_is_as_good_as_any() -> None:
    pod = made_without_notes()

    assert pod.model_fields_set == set()
    assert (pod.model_extra, pod.metadata.model_extra) == (None, None)
    assert repr(pod) == repr(carefully(PodV1, orjson.dumps(pod_document("a"))))
    with pytest.raises(AttributeError, match="nothing"):
        _ = pod.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "copied",
    [
        lambda pod: pod.deep_copy(),
        lambda pod: pod.model_copy(),
        lambda pod: pod.model_copy(deep=True, update={"kind": "Pod"}),
        copy.copy,
        copy.deepcopy,
        lambda pod: pickle.loads(pickle.dumps(pod)),
        lambda pod: new_model(type(pod), dict(pod.__dict__)),
    ],
)
def test_an_object_without_notes_can_be_copied_and_changed(copied: Any) -> None:
    pod = made_without_notes()

    other = copied(pod)

    assert other == pod
    other.kind = "Other"
    assert (pod.kind, other.kind) == ("Pod", "Other")
    assert made_without_notes().model_fields_set == set()


def test_a_copy_keeps_what_nobody_declared() -> None:
    found = bulk_decode_json(Unstructured, b'{"kind":"A","spec":{"a":[1]}}')

    copied = found.deep_copy()
    copied["spec"]["a"].append(2)

    assert (found["spec"], copied["spec"]) == ({"a": [1]}, {"a": [1, 2]})
    assert found != copied


def test_parsed_json_is_read_too() -> None:
    document = pod_document("a")["metadata"]

    assert bulk_decode_document(ObjectMeta, document) == carefully(
        ObjectMeta, orjson.dumps(document)
    )
    with pytest.raises(ValueError, match="name"):
        bulk_decode_document(ObjectMeta, {"name": 1})
