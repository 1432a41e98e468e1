"""Objects of kinds no class was written for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.codec import dump_json
from apimachinery.meta.types import ObjectMeta
from apimachinery.meta.unstructured import Unstructured, UnstructuredList
from apimachinery.model.decoding import decode_json

BODY = b'{"kind":"K","apiVersion":"x/v1","metadata":{"name":"a"},"spec":{"b":1,"a":[{"c":2}]}}'


@pytest.fixture
def obj() -> Unstructured:
    return decode_json(Unstructured, BODY).object


def test_metadata_is_typed_and_the_rest_is_reached_by_key(obj: Unstructured) -> None:
    assert obj.metadata.name == "a"
    assert obj["spec"]["b"] == 1
    assert "spec" in obj
    assert "status" not in obj
    assert obj.get("status", 5) == 5


def test_content_can_be_changed(obj: Unstructured) -> None:
    obj["status"] = {"ready": True}
    del obj["spec"]
    obj.content["more"] = 1

    assert obj.to_dict() == {
        "kind": "K",
        "apiVersion": "x/v1",
        "metadata": {"name": "a"},
        "status": {"ready": True},
        "more": 1,
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec", "a", 0, "c"), 2),
        (("spec", "a", 5), None),
        (("spec", "b", "c"), None),
        (("spec", "nope"), None),
        (("nope", 0), None),
    ],
)
def test_nested_values_are_found_or_missing(
    obj: Unstructured, path: tuple[str | int, ...], value: Any
) -> None:
    assert obj.nested(*path) == value


def test_an_object_made_in_python_can_be_filled() -> None:
    made = Unstructured(kind="K", api_version="v1", metadata=ObjectMeta(name="a"))

    made["data"] = {"z": 1, "a": 2}

    assert dump_json(made) == (
        b'{"kind":"K","apiVersion":"v1","metadata":{"name":"a"},"data":{"a":2,"z":1}}'
    )


def test_a_field_may_be_called_like_an_attribute_of_python() -> None:
    body = b'{"kind":"K","apiVersion":"v1","metadata":{},"api_version":5,"content":1}'

    obj = decode_json(Unstructured, body).object

    assert obj.api_version == "v1"
    assert obj["api_version"] == 5
    assert obj["content"] == 1


def test_a_deep_copy_shares_nothing(obj: Unstructured) -> None:
    copy = obj.deep_copy()

    copy["spec"]["a"][0]["c"] = 3

    assert obj["spec"]["a"] == [{"c": 2}]
    assert copy != obj


def test_a_list_is_iterated_over_its_items() -> None:
    found = decode_json(
        UnstructuredList, b'{"kind":"KList","apiVersion":"v1","items":[%b]}' % BODY
    ).object

    assert [item.metadata.name for item in found] == ["a"]
    assert found.items[0]["spec"]["b"] == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(json_values)
def test_any_content_survives_the_wire_and_is_written_one_way(value: Any) -> None:
    obj = Unstructured(kind="K", api_version="v1")
    obj["spec"] = value

    data = dump_json(obj)
    back = decode_json(Unstructured, data).object

    assert back == obj
    assert dump_json(back) == data
