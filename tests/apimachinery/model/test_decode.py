"""Bytes into Models: what is accepted, and how the rest is refused."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.decoding import DecodeError, decode_json, unknown_fields
from apimachinery.model.model import Model, field
from apis.gadgets import v1


class Port(Model):
    port: int = field(ge=1, le=65535)
    name: str = ""


class Machine(Object):
    ports: list[Port] = field(default_factory=list)
    by_name: dict[str, Port] = field(default_factory=dict)
    owner: str


@pytest.mark.parametrize(
    "document",
    [
        '{"owner": "me", "ports": null, "byName": null, "metadata": null}',
        '{"owner": "me", "metadata": {"creationTimestamp": null, "labels": null}}',
        '{"owner": "me", "ports": [{"port": 1, "name": null}]}',
    ],
)
def test_null_means_absent(document: str) -> None:
    decoded = decode_json(Machine, document)

    assert decoded.object.owner == "me"
    assert decoded.unknown == ()


def test_null_in_a_list_or_map_is_the_zero_of_its_type() -> None:
    """As in the original: `labels: {a: null}` is a label without a value."""
    body = '{"owner": "me", "metadata": {"labels": {"a": null}, "finalizers": ["x", null]}}'

    decoded = decode_json(Machine, body)

    assert decoded.object.metadata.labels == {"a": ""}
    assert decoded.object.metadata.finalizers == ["x", ""]


def test_null_for_a_whole_element_lacks_what_the_element_requires() -> None:
    with pytest.raises(DecodeError, match=r"ports\[0\].port: Required value"):
        decode_json(Machine, '{"owner": "me", "ports": [null]}')


def test_null_in_an_untyped_part_stays() -> None:
    decoded = decode_json(Unstructured, '{"metadata": {"labels": null}, "spec": {"a": null}}')

    assert decoded.object["spec"] == {"a": None}


def test_every_unknown_field_is_named_with_its_path() -> None:
    decoded = decode_json(
        Machine,
        '{"owner": "me", "x": null, "ports": [{"port": 1}, {"port": 2, "y": {}}],'
        ' "byName": {"k": {"port": 3, "z": 1}}, "metadata": {"nam": "a", "labels": null}}',
    )

    assert decoded.unknown == ("x", "ports[1].y", "byName.k.z", "metadata.nam")


def test_unknown_fields_of_an_open_type_are_content_but_not_in_its_metadata() -> None:
    decoded = decode_json(Unstructured, '{"spec": {"any": 1}, "metadata": {"nam": "a"}}')

    assert decoded.object["spec"] == {"any": 1}
    assert decoded.unknown == ("metadata.nam",)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            '{"owner": 5}',
            "cannot unmarshal number into Go struct field Machine.owner of type string",
        ),
        (
            '{"owner": "a", "ports": {}}',
            "cannot unmarshal object into Go struct field Machine.ports of type []",
        ),
        (
            '{"owner": "a", "ports": [{"port": "1"}]}',
            "cannot unmarshal string into Go struct field Port.ports.port of type int",
        ),
        (
            '{"owner": "a", "metadata": {"generation": 99999999999999999999}}',
            "cannot unmarshal number 99999999999999999999 into Go struct field"
            " ObjectMeta.metadata.generation of type int64",
        ),
        (
            '{"owner": "a", "metadata": {"creationTimestamp": "now"}}',
            'parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
        ),
        ("[]", "cannot unmarshal array into Go value"),
        ("null", "cannot unmarshal null into Go value"),
        ("{", "EOF while parsing"),
        ("", "EOF while parsing"),
        ('{"owner": "a"} x', "trailing characters"),
        ("[" * 10_000, "recursion limit"),
        ('{"a":' * 10_000, "recursion limit"),
        ('{"owner": "a", "metadata": {"generation": %s}}' % ("9" * 5000), ""),
        ('{"owner": "\\ud800"}', ""),
    ],
)
def test_what_has_not_the_types_of_the_class_is_a_decode_error(document: str, message: str) -> None:
    with pytest.raises(DecodeError, match=None) as refused:
        decode_json(Machine, document)

    assert message in str(refused.value)
    assert refused.value.fields == ()


def test_bytes_that_are_not_utf8_are_a_decode_error() -> None:
    with pytest.raises(DecodeError, match="unicode"):
        decode_json(Machine, b'{"owner": "\xff"}')


def test_broken_constraints_and_missing_fields_are_field_errors_all_at_once() -> None:
    with pytest.raises(DecodeError) as refused:
        decode_json(Machine, '{"ports": [{"port": 0}, {}, {"port": 70000}]}')

    assert [str(error) for error in refused.value.fields] == [
        "ports[0].port: Invalid value: 0: ports[0].port in body should be greater than or equal to"
        " 1",
        "ports[1].port: Required value",
        "ports[2].port: Invalid value: 70000: ports[2].port in body should be less than or equal to"
        " 65535",
        "owner: Required value",
    ]


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
gadget_like = st.fixed_dictionaries(
    {},
    optional={
        "metadata": json_values,
        "spec": st.fixed_dictionaries(
            {}, optional=dict.fromkeys(("model", "replicas", "parts", "junk"), json_values)
        ),
        "status": json_values,
    },
)


@given(gadget_like | json_values)
def test_any_json_is_decoded_or_refused_with_a_decode_error(document: Any) -> None:
    try:
        decoded = decode_json(v1.Gadget, json.dumps(document))
    except DecodeError:
        return
    assert set(decoded.unknown) == set(unknown_fields(document, v1.Gadget))


@given(st.binary(max_size=50))
def test_any_bytes_are_decoded_or_refused_with_a_decode_error(data: bytes) -> None:
    with suppress(DecodeError):
        decode_json(v1.Gadget, data)
