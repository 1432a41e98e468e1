"""Protobuf codec: the bytes that Kubernetes writes, and objects decoded from them."""

import struct
import threading
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NewType, Union

import pytest
from pydantic import ValidationError

from apimachinery.meta.discovery import APIResource
from apimachinery.meta.status import Status, StatusCause, StatusDetails
from apimachinery.meta.table import Table
from apimachinery.meta.types import (
    Condition,
    ListMeta,
    ManagedFieldsEntry,
    Object,
    ObjectList,
    ObjectMeta,
    PartialObjectMetadata,
    PartialObjectMetadataList,
    TypeMeta,
)
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.model import Model, field
from apimachinery.protobuf import Envelope, InvalidProtobuf, NoProtobufForm, ProtobufCodec
from apimachinery.scalars.quantity import Quantity
from tests.apimachinery.protobuf.protobuf_kinds import (
    ConfigMap,
    ControllerRevision,
    Dial,
    EmptyDirVolumeSource,
    Everything,
    HostPathVolumeSource,
    LeaseSpec,
    Panel,
    ResourceRequirements,
    Schema,
    ServicePort,
    UserInfo,
    Volume,
)

NOON = datetime(2024, 5, 6, 12, 0, 0, tzinfo=UTC)  # 1714996800 seconds

EMPTY_META = "0a00 1200 1a00 2200 2a00 3200 3800"


@pytest.fixture(scope="module")
def codec() -> ProtobufCodec:
    return ProtobufCodec()


def octets(text: str) -> bytes:
    return bytes.fromhex(text)


def test_a_config_map_has_the_bytes_that_kubernetes_writes(codec: ProtobufCodec) -> None:
    obj = ConfigMap(
        metadata=ObjectMeta(name="cm"), data={"b": "2", "a": ""}, binary_data={"k": b"\xff\x00"}
    )

    body = codec.encode(obj, api_version="v1", kind="ConfigMap")

    message = octets(
        "0a10 0a02636d 1200 1a00 2200 2a00 3200 3800"  # metadata: six empty texts, generation 0
        "1205 0a0161 1200"  # data, in the order of the keys
        "1206 0a0162 120132"
        "1a07 0a016b 1202ff00"  # binaryData; immutable is unset
    )
    envelope = (
        octets("6b387300 0a0f 0a027631 1209") + b"ConfigMap" + b"\x12" + bytes([len(message)])
    )
    assert body == envelope + message + octets("1a00 2200")


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        pytest.param(ObjectMeta(), EMPTY_META, id="zeros are written"),
        pytest.param(
            ObjectMeta(generation=-1, deletion_grace_period_seconds=0, creation_timestamp=NOON),
            "0a00 1200 1a00 2200 2a00 3200 38ffffffffffffffffff014208 08c08ce3b106 1000 5000",
            id="metadata",
        ),
        pytest.param(
            ManagedFieldsEntry(
                manager="m", operation="Apply", time=NOON, fields_v1={"f:b": {}, "f:a": {".": {}}}
            ),
            "0a016d 12054170706c79 1a00 2208 08c08ce3b106 1000 3200"
            "3a1b 0a19" + b'{"f:a":{".":{}},"f:b":{}}'.hex() + "4200",
            id="managed fields",
        ),
        pytest.param(
            Status(code=404, details=StatusDetails(causes=[StatusCause(field="f")])),
            "0a06 0a00 1200 1a00 1200 1a00 2200"
            "2a13 0a00 1200 1a00 2207 0a00 1200 1a0166 2800 3200 309403",
            id="status",
        ),
        pytest.param(
            APIResource(name="a", singular_name="", namespaced=True, kind="A", verbs=["get"]),
            "0a0161 1001 1a0141 2205 0a03676574 3200 4200 4a00 5200",
            id="a list in a message of its own",
        ),
        pytest.param(
            Volume(name="v", host_path=HostPathVolumeSource(path="/", type="")),
            "0a0176 1207 0a05 0a012f 1200",
            id="inlined",
        ),
        pytest.param(Volume(name="v"), "0a0176 1200", id="inlined and empty"),
        pytest.param(
            EmptyDirVolumeSource(size_limit=Quantity("1024Mi")),
            "0a00 1205 0a03314769",
            id="quantity in canonical form",
        ),
        pytest.param(
            ServicePort(port=80, target_port=8080),
            "0a00 1203544350 1850 2207 0800 10903f 1a00 2800",
            id="int or string: int",
        ),
        pytest.param(
            ServicePort(port=-1, protocol="", target_port="web"),
            "0a00 1200 18ffffffffffffffffff01 2209 0801 1000 1a03776562 2800",
            id="int or string: string",
        ),
        pytest.param(
            LeaseSpec(acquire_time=NOON.replace(microsecond=250_000)),
            "1a0b 08c08ce3b106 1080e59a77",
            id="micro time",
        ),
        pytest.param(
            UserInfo(extra={"scopes": ["a", "b"]}),
            "0a00 1200 2210 0a0673636f706573 1206 0a0161 0a0162",
            id="lists in a map",
        ),
        pytest.param(
            ResourceRequirements(limits={"cpu": Quantity("500m")}),
            "0a0d 0a03637075 1206 0a043530306d",
            id="quantities in a map",
        ),
    ],
)
def test_bytes(codec: ProtobufCodec, obj: Model, expected: str) -> None:
    message = codec.encode_raw(obj)

    assert message.hex(" ") == octets(expected).hex(" ")
    assert codec.decode(type(obj), message) == obj


def test_durations_are_nanoseconds(codec: ProtobufCodec) -> None:
    message = everything(wait=timedelta(milliseconds=-1500))

    assert octets("5a0b 08") + varint(-1_500_000_000) in codec.encode_raw(message)


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def everything(**values: Any) -> Everything:
    required: dict[str, Any] = {
        "text": "t",
        "number": 2**63 - 1,
        "small": -(2**31),
        "flag": True,
        "blob": b"\x00\xff",
        "at": NOON,
        "at_micro": NOON.replace(microsecond=1),
        "amount": Quantity("1.5"),
        "port": "http",
        "wait": timedelta(seconds=3),
        "document": {"b": [1, 2.5, None], "a": {}},
        "user": UserInfo(username="u"),
    }
    return Everything(**{**required, **values})


def test_every_form_survives_a_round_trip(codec: ProtobufCodec) -> None:
    obj = everything(
        numbers=[0, -1, 2**63 - 1],
        smalls=[0, -1],
        instants=[NOON, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)],
        amounts={"b": Quantity("2Ki"), "a": Quantity("-1m")},
        replicas=0,
        volumes=[Volume(name="v"), Volume(name="w", empty_dir=EmptyDirVolumeSource())],
        schemas={"s": Schema(properties={"x": Schema(not_=Schema(all_of=[Schema()]))})},
        anything=[1, {"k": None}],
    )

    assert codec.decode(Everything, codec.encode_raw(obj)) == obj


def test_fields_are_in_the_order_of_the_class_after_reading(codec: ProtobufCodec) -> None:
    """The order of fields in JSON depends on it."""
    obj = everything(metadata=ObjectMeta(name="n", labels={"b": "1", "a": "2"}))

    read = codec.decode(Everything, codec.encode_raw(obj))

    assert list(read.__dict__) == list(obj.__dict__)
    assert read.model_dump_json() == obj.model_dump_json()


@pytest.mark.parametrize(
    ("name", "zero"),
    [
        ("maybe_text", ""),
        ("maybe_number", 0),
        ("maybe_flag", False),
        ("maybe_blob", b""),
        ("maybe_amount", Quantity(0)),
        ("maybe_port", 0),
        ("maybe_wait", timedelta()),
        ("maybe_user", UserInfo()),
    ],
)
def test_zero_is_not_unset(codec: ProtobufCodec, name: str, zero: Any) -> None:
    unset = codec.encode_raw(everything())
    set_ = codec.encode_raw(everything(**{name: zero}))

    assert len(set_) > len(unset)
    assert getattr(codec.decode(Everything, set_), name) == zero
    assert getattr(codec.decode(Everything, unset), name) is None


@pytest.mark.parametrize("name", ["maybe_at", "maybe_document", "maybe_list"])
def test_an_empty_message_is_unset_where_json_has_null(codec: ProtobufCodec, name: str) -> None:
    number = {"maybe_at": 24, "maybe_document": 28, "maybe_list": 30}[name]
    empty = b"" if name == "maybe_list" else varint(number << 3 | 2) + b"\x00"

    assert getattr(codec.decode(Everything, empty), name) is None


def test_a_required_field_that_is_absent_has_its_zero_value(codec: ProtobufCodec) -> None:
    obj = codec.decode(Everything, b"")

    assert (obj.text, obj.number, obj.small, obj.flag, obj.blob) == ("", 0, 0, False, b"")
    assert obj.at == obj.at_micro == datetime(1, 1, 1, tzinfo=UTC)
    assert (obj.amount, obj.port, obj.wait, obj.document) == (Quantity(0), 0, timedelta(), {})
    assert obj.user == UserInfo()
    assert obj.metadata == ObjectMeta()
    assert obj.replicas == 1, "one that is not required has its default"


def test_objects_do_not_share_what_they_were_not_given(codec: ProtobufCodec) -> None:
    one, other = codec.decode(Everything, b""), codec.decode(Everything, b"")

    one.metadata.labels["a"] = "b"
    one.document["a"] = 1
    one.user.groups.append("g")
    one.numbers.append(1)

    assert other == codec.decode(Everything, b"")


def test_a_zero_instant_is_an_empty_message(codec: ProtobufCodec) -> None:
    zero = datetime(1, 1, 1, tzinfo=UTC)
    condition = Condition(type="", status="", last_transition_time=zero, reason="", message="")

    message = codec.encode_raw(condition)

    assert message == octets("0a00 1200 1800 2200 2a00 3200")
    assert codec.decode(Condition, message) == condition


def test_the_fraction_of_a_time_is_ignored_and_that_of_a_micro_time_is_cut(
    codec: ProtobufCodec,
) -> None:
    half = octets("08c08ce3b106") + b"\x10" + varint(500_000_999)
    message = b"\x3a" + bytes([len(half)]) + half + b"\x42" + bytes([len(half)]) + half

    obj = codec.decode(Everything, message)

    assert (obj.at, obj.at_micro) == (NOON, NOON.replace(microsecond=500_000))


@pytest.mark.parametrize(
    ("nanoseconds", "microseconds"), [(1, 1), (-1, -1), (1999, 1), (-1999, -1), (0, 0)]
)
def test_a_duration_is_cut_but_never_to_zero(
    codec: ProtobufCodec, nanoseconds: int, microseconds: int
) -> None:
    content = b"\x08" + varint(nanoseconds)

    obj = codec.decode(Everything, b"\x5a" + bytes([len(content)]) + content)

    assert obj.wait == timedelta(microseconds=microseconds)


def test_packed_and_expanded_lists_are_both_read_and_expanded_ones_written(
    codec: ProtobufCodec,
) -> None:
    packed, expanded = octets("6a03 010203"), octets("6801 6802 6803")

    assert codec.decode(Everything, packed).numbers == [1, 2, 3]
    assert codec.decode(Everything, expanded).numbers == [1, 2, 3]
    assert expanded in codec.encode_raw(everything(numbers=[1, 2, 3]))


def test_numbers_that_are_not_declared_are_ignored(codec: ProtobufCodec) -> None:
    """Newer clients send newer fields."""
    unknown = (
        octets("a806 01") + octets("aa06 03 616263") + octets("ad06 01020304") + octets("ab06 ac06")
    )

    obj = codec.decode(ConfigMap, octets("0a03 0a0161") + unknown + octets("2001"))

    assert obj == ConfigMap(metadata=ObjectMeta(name="a"), immutable=True)


def test_a_message_in_two_parts_is_merged(codec: ProtobufCodec) -> None:
    assert codec.decode(ConfigMap, octets("0a03 0a0161 0a03 1a0162")) == ConfigMap(
        metadata=ObjectMeta(name="a", namespace="b")
    )


def test_the_last_of_two_equal_keys_wins(codec: ProtobufCodec) -> None:
    twice = octets("1206 0a0161 120131") + octets("1206 0a0161 120132")

    assert codec.decode(ConfigMap, twice).data == {"a": "2"}


def test_a_map_entry_may_leave_out_its_key_and_value(codec: ProtobufCodec) -> None:
    assert codec.decode(ConfigMap, octets("1200 1203 0a0161")).data == {"": "", "a": ""}


def test_equal_objects_have_equal_bytes(codec: ProtobufCodec) -> None:
    one = ConfigMap(data={str(i): "" for i in range(100)})
    other = ConfigMap(data={str(i): "" for i in reversed(range(100))})

    assert codec.encode_raw(one) == codec.encode_raw(other)


def test_kind_and_version_travel_in_the_envelope(codec: ProtobufCodec) -> None:
    obj = ConfigMap(api_version="ignored", kind="ignored", metadata=ObjectMeta(name="a"))

    envelope = codec.read_envelope(codec.encode(obj, api_version="v1", kind="ConfigMap"))
    read = codec.decode(
        ConfigMap, envelope.raw, api_version=envelope.api_version, kind=envelope.kind
    )

    assert envelope == Envelope("v1", "ConfigMap", codec.encode_raw(obj))
    assert (read.api_version, read.kind, read.metadata.name) == ("v1", "ConfigMap", "a")
    assert codec.decode(ConfigMap, envelope.raw).kind == ""


def test_a_generic_list_is_metadata_and_items(codec: ProtobufCodec) -> None:
    items = [ConfigMap(metadata=ObjectMeta(name=name)) for name in ("a", "b" * 200)]
    whole = ObjectList[ConfigMap](metadata=ListMeta(resource_version="7"), items=items)

    message = codec.encode_raw(whole)

    assert message.startswith(octets("0a07 0a00 120137 1a00 12"))
    assert codec.decode(ObjectList[ConfigMap], message) == whole


def test_a_list_of_encoded_items_has_the_bytes_of_the_whole(codec: ProtobufCodec) -> None:
    items = [ConfigMap(metadata=ObjectMeta(name=name)) for name in ("a", "b" * 200, "c" * 20000)]
    whole = ObjectList[ConfigMap](metadata=ListMeta(resource_version="7"), items=items)

    joined = codec.encode_list(
        whole.metadata, map(codec.encode_raw, items), api_version="v1", kind="ConfigMapList"
    )

    assert joined == codec.encode(whole, api_version="v1", kind="ConfigMapList")


def test_partial_metadata_has_a_form_of_its_own(codec: ProtobufCodec) -> None:
    items = [PartialObjectMetadata(metadata=ObjectMeta(name="a"))]
    whole = PartialObjectMetadataList(items=items)

    assert codec.decode(PartialObjectMetadataList, codec.encode_raw(whole)) == whole


def test_a_watch_event_has_no_envelope_but_its_object_does(codec: ProtobufCodec) -> None:
    body = codec.encode(ConfigMap(), api_version="v1", kind="ConfigMap")

    event = codec.encode_watch_event("ADDED", body)

    assert event.startswith(octets("0a05 4144444544 12") + bytes([len(body) + 2, 0x0A, len(body)]))
    assert codec.decode_watch_event(event) == ("ADDED", body)


def test_kinds_of_one_name_are_kept_apart(codec: ProtobufCodec) -> None:
    def gadget(number: int) -> Model:
        class Gadget(Model):
            size: int = field(proto=number)

        return Gadget(size=5)

    assert codec.encode_raw(gadget(1)) == octets("0805")
    assert codec.encode_raw(gadget(2)) == octets("1005")


def test_threads_may_share_a_codec() -> None:
    codec, obj, results = ProtobufCodec(), everything(), []
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        results.append(codec.encode_raw(obj))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(results) == 4
    assert len(set(results)) == 1


def test_what_breaks_a_rule_of_the_class_is_refused_like_json(codec: ProtobufCodec) -> None:
    bad = octets("1202 0801") + octets("1216 086d 1202 7878 19") + struct.pack("<d", float("nan"))
    bad += octets("2205") + b"a b c"

    with pytest.raises(ValidationError) as caught:
        codec.decode(Panel, bad)

    found = {error["loc"]: error["type"] for error in caught.value.errors()}
    assert found == {
        ("dials", 1, "percent"): "less_than_equal",
        ("dials", 1, "mode"): "literal_error",
        ("dials", 1, "ratio"): "finite_number",
        ("dials", 1, "label"): "value_error",
    }


def test_what_obeys_the_rules_of_the_class_is_read(codec: ProtobufCodec) -> None:
    panel = Panel(dials=[Dial(percent=100, mode="fast", ratio=0.5, label="x")])

    assert codec.decode(Panel, codec.encode_raw(panel)) == panel


class Speed(StrEnum):
    SLOW = "Slow"
    FAST = "Fast"


Name = NewType("Name", str)


class Motor(TypeMeta):
    kind: str = field("", proto=1)
    speed: Speed = field(Speed.SLOW, proto=2)
    name: Name = field(Name(""), proto=3)
    grid: list[list[int]] = field(default_factory=list, proto=4)
    deep: list[str] = field(default_factory=list, proto=(5, 6, 7))
    near: int | None = field(None, proto=(5, 1))


def test_enums_new_types_lists_of_lists_and_long_paths(codec: ProtobufCodec) -> None:
    motor = Motor(
        kind="electric",
        speed=Speed.FAST,
        name=Name("m"),
        grid=[[1, 2], [], [3]],
        deep=["d"],
        near=0,
    )

    message = codec.encode_raw(motor)

    assert message == octets(
        "0a08 656c656374726963 1204 46617374 1a016d"
        "2204 08010802 2200 2202 0803 2a07 0800 3203 3a0164"
    )
    assert codec.decode(Motor, message, kind="not the envelope's") == motor
    assert codec.decode(Motor, b"") == Motor()


def test_a_text_that_is_no_member_of_an_enum_is_refused(codec: ProtobufCodec) -> None:
    with pytest.raises(ValidationError) as caught:
        codec.decode(Motor, octets("1201 78"))

    assert [error["loc"] for error in caught.value.errors()] == [("speed",)]


class Numberless(Model):
    named: str = field(proto=1)
    nameless: str = ""


class Holder(Object):
    spec: list[Numberless] = field(default_factory=list, proto=2)


class Twice(Model):
    a: str = field("", proto=1)
    b: str = field("", proto=1)


class Through(Model):
    a: str = field("", proto=2)
    b: str = field("", proto=(2, 1))


class Illegal(Model):
    a: str = field("", proto=19000)


class Strange(Model):
    a: complex = field(proto=1)


class MapOfMaps(Model):
    a: dict[str, dict[str, str]] = field(default_factory=dict, proto=1)


class Either(Model):
    a: int | bool = field(0, proto=1)


@pytest.mark.parametrize(
    ("cls", "reason"),
    [
        (Table, "metadata declares no protobuf field number"),
        (Numberless, "nameless declares no protobuf field number"),
        (Holder, "spec.nameless declares no protobuf field number"),
        (ObjectList[Holder], "items.spec.nameless declares no protobuf field number"),
        (Unstructured, "Unstructured keeps undeclared fields"),
        (Twice, "b has the protobuf field number of a"),
        (Through, "b has the protobuf field number of a"),
        (Illegal, "a has an illegal protobuf field number: (19000,)"),
        (Strange, "a has a type without protobuf form: <class 'complex'>"),
        (MapOfMaps, "a has a type without protobuf form: <class 'dict'>"),
        (Either, f"a has a type without protobuf form: {Union[int, bool]}"),  # noqa: UP007
    ],
)
def test_a_class_without_protobuf_form_says_why(
    codec: ProtobufCodec, cls: type[Model], reason: str
) -> None:
    assert not codec.supports(cls)
    for _ in range(2):
        with pytest.raises(NoProtobufForm) as caught:
            codec.decode(cls, b"")
        assert str(caught.value) == f"{cls.__name__} has no protobuf form: {reason}"


def test_a_class_with_numbers_is_supported(codec: ProtobufCodec) -> None:
    assert codec.supports(Everything)
    assert codec.supports(ObjectList[ConfigMap])


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"small": 2**31}, "Everything.small: Value out of range"),
        ({"text": "\ud800"}, "Everything.text: "),
        ({"text": 5}, "Everything.text: "),
        ({"user": UserInfo.model_construct(groups=[1])}, "Everything.user"),
        ({"at": datetime(2024, 1, 1)}, "Everything.at: "),
        ({"wait": timedelta(days=200_000)}, "Everything.wait.duration: Value out of range"),
        ({"anything": {"a": object()}}, "Everything.anything: "),
        ({"volumes": [Volume.model_construct(name=1)]}, "Everything.volumes"),
    ],
)
def test_what_a_class_would_not_allow_cannot_be_written(
    codec: ProtobufCodec, change: dict[str, Any], place: str
) -> None:
    obj = everything()
    for name, value in change.items():
        setattr(obj, name, value)

    with pytest.raises(InvalidProtobuf) as caught:
        codec.encode_raw(obj)

    assert str(caught.value).startswith(place)


def nested(depth: int) -> Schema:
    schema = Schema()
    for _ in range(depth):
        schema = Schema.model_construct(**{**Schema().__dict__, "not_": schema})
    return schema


def test_messages_may_nest_a_hundred_deep(codec: ProtobufCodec) -> None:
    message = codec.encode_raw(nested(99))

    assert codec.encode_raw(codec.decode(Schema, message)) == message
    with pytest.raises(InvalidProtobuf, match="nested more than 100 deep"):
        codec.decode(Schema, codec.encode_raw(nested(101)))


def test_an_object_too_deep_to_write_is_refused(codec: ProtobufCodec) -> None:
    with pytest.raises(InvalidProtobuf, match="Schema: messages are nested too deep"):
        codec.encode_raw(nested(5000))


def test_integers_of_more_than_64_bits_survive_in_documents(codec: ProtobufCodec) -> None:
    obj = ControllerRevision(data={"b": 2**70, "a": 1}, revision=1)

    message = codec.encode_raw(obj)

    assert b'{"a":1,"b":1180591620717411303424}' in message
    assert codec.decode(ControllerRevision, message) == obj
