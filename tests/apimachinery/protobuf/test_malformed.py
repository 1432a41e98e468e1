"""Malformed protobuf: rejected by an InvalidProtobuf that names the place and the rule."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apimachinery.meta.types import ObjectMeta
from apimachinery.model.model import Model
from apimachinery.protobuf import InvalidProtobuf, ProtobufCodec
from apimachinery.serialization.media_types import PROTOBUF
from tests.apimachinery.protobuf.protobuf_kinds import ConfigMap, Everything, Schema, Volume

CODEC = ProtobufCodec()
SAMPLES = (
    CODEC.encode_raw(
        ConfigMap(
            metadata=ObjectMeta(name="name", labels={"a": "b"}, finalizers=["x"]),
            data={"key": "value"},
            binary_data={"k": b"\x00"},
            immutable=True,
        )
    ),
    CODEC.encode_raw(CODEC.decode(Everything, b"")),
    CODEC.encode_raw(Schema(properties={"a": Schema(all_of=[Schema(default={"x": 1})])})),
)


def octets(text: str) -> bytes:
    return bytes.fromhex(text)


def body(message: str) -> bytes:
    return b"k8s\x00" + octets(message)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty data"),
        (b"k8s\x00", "empty body"),
        (
            b"k8",
            "provided data does not appear to be a protobuf message, "
            "expected prefix [107 56 115 0]",
        ),
        (
            b'{"kind": "ConfigMap"}',
            "provided data does not appear to be a protobuf message, "
            "expected prefix [107 56 115 0]",
        ),
        (
            b"k8s\x01\x0a\x00",
            "provided data does not appear to be a protobuf message, "
            "expected prefix [107 56 115 0]",
        ),
        (body("0a05"), "unexpected end of data: 5 bytes announced, 0 left"),
        (body("0801"), "typeMeta: wrong wire type 0, expected 2"),
        (body("0a03 0a01ff"), "typeMeta.apiVersion: a string must be valid UTF-8"),
        (body("1a04 677a6970"), "contentEncoding: unknown encoding 'gzip'"),
        (
            body("2210") + b"application/json",
            f"contentType: 'application/json' is not {PROTOBUF!r}",
        ),
    ],
)
def test_an_envelope_that_is_none(data: bytes, message: str) -> None:
    with pytest.raises(InvalidProtobuf) as caught:
        CODEC.read_envelope(data)

    assert str(caught.value) == message


def test_an_envelope_may_name_nothing() -> None:
    envelope = CODEC.read_envelope(body("1200"))

    assert (envelope.api_version, envelope.kind, envelope.raw) == ("", "", b"")


def test_an_envelope_may_name_its_own_content_type() -> None:
    data = body("1201 41 2223") + PROTOBUF.encode()

    assert CODEC.read_envelope(data).raw == b"A"


DEEP = b""
for _ in range(200):
    DEEP = (
        octets("e201")
        + (
            bytes([len(DEEP)])
            if len(DEEP) < 128
            else bytes([len(DEEP) & 127 | 128, len(DEEP) >> 7])
        )
        + DEEP
    )


@pytest.mark.parametrize(
    ("cls", "data", "message"),
    [
        (ConfigMap, octets("0a"), "unexpected end of data"),
        (ConfigMap, octets("0a04 0a01"), "unexpected end of data: 4 bytes announced, 2 left"),
        (
            ConfigMap,
            octets("0a02 0a01"),
            "metadata: unexpected end of data: 1 bytes announced, 0 left",
        ),
        (ConfigMap, octets("0aff"), "unexpected end of data"),
        (
            ConfigMap,
            octets("0affffffffffffffffff01"),
            "unexpected end of data: 18446744073709551615 bytes announced, 0 left",
        ),
        (ConfigMap, octets("20 ffffffffffffffffffff01"), "an integer has more than 64 bits"),
        (ConfigMap, octets("20 ffffffffffffffffff02"), "an integer has more than 64 bits"),
        (ConfigMap, octets("a306 ac06"), "group 100 ends as group 101"),
        (ConfigMap, octets("0000"), "illegal field number 0"),
        (ConfigMap, octets("0801"), "metadata: wrong wire type 0, expected 2"),
        (ConfigMap, octets("0a02 0801"), "metadata.name: wrong wire type 0, expected 2"),
        (ConfigMap, octets("0a03 3a0130"), "metadata.generation: wrong wire type 2, expected 0"),
        (ConfigMap, octets("25 00000000"), "immutable: wrong wire type 5, expected 0"),
        (ConfigMap, octets("26"), "illegal wire type 6"),
        (ConfigMap, octets("a406"), "illegal wire type 4"),
        (ConfigMap, octets("a306 0a00"), "unexpected end of data"),
        (ConfigMap, octets("0a03 0a01ff"), "metadata.name: a string must be valid UTF-8"),
        (ConfigMap, octets("1203 0a01ff"), "data.key: a string must be valid UTF-8"),
        (ConfigMap, octets("1202 0801"), "data.key: wrong wire type 0, expected 2"),
        (
            ConfigMap,
            octets("1205 0a0161 1801"),
            "data: a map entry has fields 1 (key) and 2 (value), but no field 3",
        ),
        (Volume, octets("1202 0801"), "hostPath: wrong wire type 0, expected 2"),
        (
            Volume,
            octets("1207 1205 12030a0178"),
            'emptyDir.sizeLimit: invalid quantity "x": quantities must match '
            "the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (Everything, octets("6a02 01ff"), "numbers: unexpected end of data"),
        (
            Everything,
            octets("4a05 0a03616263"),
            'amount: invalid quantity "abc": quantities must match the regular expression '
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            Everything,
            octets("5202 0802"),
            "port: type 2: must be 0 for an integer or 1 for a string",
        ),
        (
            Everything,
            octets("3a0a 08ffffffffffffffff7f"),
            "at: 9223372036854775807 seconds: the year is not between 1 and 9999",
        ),
        (Everything, octets("6203 0a0131"), "document: must be a JSON object, not a number"),
        (Everything, octets("6204 0a025b5d"), "document: must be a JSON object, not an array"),
        (Everything, octets("6204 0a022222"), "document: must be a JSON object, not a string"),
        (Everything, octets("6206 0a0474727565"), "document: must be a JSON object, not a boolean"),
        (
            Everything,
            octets("6207 0a054e614e0000"),
            "document: must be JSON: expected value at line 1 column 1",
        ),
        (Schema, DEEP, "not." * 100 + "not: messages are nested more than 100 deep"),
    ],
)
def test_a_message_that_is_none(cls: type[Model], data: bytes, message: str) -> None:
    with pytest.raises(InvalidProtobuf) as caught:
        CODEC.decode(cls, data)

    assert str(caught.value) == message


def test_a_document_in_a_list_names_its_field() -> None:
    bad = octets("fa01 0d 0a0161 1208 ca01 05 42030a017b")

    with pytest.raises(InvalidProtobuf) as caught:
        CODEC.decode(Everything, bad)

    assert caught.value.place == "schemas.allOf.default"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for cls in (ConfigMap, Everything, Schema):
        read_or_refuse(cls, data)


@given(
    st.sampled_from(list(zip((ConfigMap, Everything, Schema), SAMPLES, strict=True))),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=4),
    st.integers(0, 2000),
)
@example((ConfigMap, SAMPLES[0]), [], 5)
def test_damaged_bytes_are_read_or_refused(
    sample: tuple[type[Model], bytes], changes: list[tuple[int, int]], end: int
) -> None:
    cls, message = sample
    data = bytearray(message)
    for position, value in changes:
        data[position % len(data)] = value

    read_or_refuse(cls, bytes(data[: end or None]))


@given(st.binary(max_size=100))
def test_any_envelope_is_opened_or_refused(data: bytes) -> None:
    for whole in (data, b"k8s\x00" + data):
        try:
            CODEC.read_envelope(whole)
        except InvalidProtobuf as error:
            assert str(error)
    try:
        CODEC.decode_watch_event(data)
    except InvalidProtobuf as error:
        assert str(error)


def read_or_refuse(cls: type[Model], data: bytes) -> None:
    try:
        obj = CODEC.decode(cls, data)
    except InvalidProtobuf as error:
        assert str(error)
        return
    again = CODEC.encode_raw(obj)
    assert CODEC.decode(cls, again) == obj
    cls.model_validate_json(obj.model_dump_json())
