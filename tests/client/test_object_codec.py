"""ObjectCodec: the fast decoders return the same objects as the validating decoder."""

import gc
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.meta.types import ObjectMeta
from apimachinery.meta.unstructured import Unstructured, UnstructuredList
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.schema import GroupVersionKind
from apis.apps.v1 import ControllerRevision
from apis.gadgets import v1
from client import InvalidRequest
from client.object_codec import ObjectCodec, encode_document
from client.runtime.gc_pause import MIN_PAUSE_BYTES
from tests.client.fakes import gadget, gadget_list

FULL = {
    **gadget("a", labels={"b": "c"}, generation=3, creationTimestamp="2030-01-01T00:00:00Z"),
    "data": {"x": [1, 2.5, None, {"y": "z"}]},
}
FULL["metadata"]["managedFields"] = [
    {
        "manager": "m",
        "operation": "Apply",
        "time": "2030-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:replicas": {}}},
    }
]
FULL["metadata"]["ownerReferences"] = [
    {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": True}
]

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["metadata", "kind", "apiVersion", "name", "labels", "spec", "items"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


def careful(cls: Any, data: bytes) -> Any:
    try:
        return decode_json(cls, data, find_unknown=False).object
    except DecodeError as error:
        return str(error)


def test_an_untyped_object_is_decoded_as_by_its_model() -> None:
    data = orjson.dumps(FULL)

    decoded = ObjectCodec(Unstructured).decode(data)

    assert decoded == careful(Unstructured, data)
    assert orjson.loads(ObjectCodec(Unstructured).encode(decoded, None)) == orjson.loads(
        ObjectCodec(Unstructured).encode(careful(Unstructured, data), None)
    )


@given(VALUES)
def test_any_document_is_decoded_or_refused_as_by_its_model(document: Any) -> None:
    data = orjson.dumps(document)

    try:
        decoded: Any = ObjectCodec(Unstructured).decode(data)
    except DecodeError as error:
        decoded = str(error)

    assert decoded == careful(Unstructured, data)


@given(VALUES, st.lists(VALUES, max_size=3) | VALUES)
def test_any_list_is_decoded_or_refused_as_by_its_model(metadata: Any, items: Any) -> None:
    data = orjson.dumps({"kind": "XList", "metadata": metadata, "items": items})

    try:
        decoded: Any = ObjectCodec(Unstructured).decode_list(data).items
    except DecodeError as error:
        decoded = str(error)

    expected = careful(UnstructuredList, data)
    assert decoded == (expected.items if isinstance(expected, UnstructuredList) else expected)


@pytest.mark.parametrize("cls", [v1.Gadget, Unstructured])
def test_the_collector_runs_again_after_a_large_list(cls: Any) -> None:
    document = gadget_list(*(gadget(f"g{number}") for number in range(3000)))
    data = orjson.dumps(document)
    assert len(data) > MIN_PAUSE_BYTES

    page = ObjectCodec(cls).decode_list(data)
    with pytest.raises(DecodeError):
        ObjectCodec(cls).decode_list(data[:-1])

    assert len(page) == 3000
    assert gc.isenabled()


def test_writing_does_not_change_the_object() -> None:
    obj = v1.Gadget(metadata=ObjectMeta(name="a"), spec=v1.GadgetSpec(model="m"))
    kind = GroupVersionKind("gadgets.example.io", "v1", "Gadget")

    data = ObjectCodec(v1.Gadget).encode(obj, kind)

    assert orjson.loads(data)["apiVersion"] == "gadgets.example.io/v1"
    assert obj.kind == ""


def test_a_document_may_hold_times_and_models() -> None:
    moment = datetime(2030, 1, 1, tzinfo=UTC)

    data = encode_document({"at": moment, "meta": ObjectMeta(name="a", generate_name="b")})

    assert orjson.loads(data) == {
        "at": "2030-01-01T00:00:00Z",
        "meta": {"name": "a", "generateName": "b"},
    }


@pytest.mark.parametrize("value", [object(), {1: 2}, float, 2**70, "\ud800"])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidRequest, match="cannot be encoded as JSON"):
        encode_document({"x": value})


@pytest.mark.parametrize("cls", [ControllerRevision, Unstructured])
def test_integers_above_64_bits_are_written_back_as_they_were_read(cls: Any) -> None:
    codec: ObjectCodec[Any] = ObjectCodec(cls)
    item = b'"metadata":{"name":"a"},"data":{"big":123456789012345678901234567890},"revision":1}'
    data = b'{"kind":"ControllerRevision","apiVersion":"apps/v1",' + item

    (listed,) = codec.decode_list(b'{"metadata":{},"items":[%b]}' % data).items

    assert codec.encode(codec.decode(data), None) == data
    assert codec.encode(listed, None) == data
