"""Field numbers are those of Kubernetes, and an independent decoder reads our bytes.

The facts are the public definitions (proto2). The protobuf library builds messages from them,
independent of the code under test; each side must decode what the other encoded.
"""

import inspect
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st

from apimachinery.meta import discovery, status, types
from apimachinery.meta.status import Status, StatusCause, StatusDetails
from apimachinery.meta.types import ManagedFieldsEntry, ObjectMeta, OwnerReference
from apimachinery.model.class_fields import ModelField, TypeInfo, fields_of
from apimachinery.model.model import Model
from apimachinery.protobuf import ProtobufCodec
from apimachinery.scalars.time import format_time
from tests.apimachinery.protobuf.protobuf_kinds import (
    ConfigMap,
    HostPathVolumeSource,
    ServicePort,
    UserInfo,
    Volume,
)

FACTS = """
Quantity
    1 string string
IntOrString
    1 type int64
    2 intVal int32
    3 strVal string
RawExtension
    1 raw bytes
FieldsV1
    1 Raw bytes
Time
    1 seconds int64
    2 nanos int32
MicroTime
    1 seconds int64
    2 nanos int32
Verbs
    1 items repeated string
OwnerReference
    1 kind string
    3 name string
    4 uid string
    5 apiVersion string
    6 controller bool
    7 blockOwnerDeletion bool
ManagedFieldsEntry
    1 manager string
    2 operation string
    3 apiVersion string
    4 time Time
    6 fieldsType string
    7 fieldsV1 FieldsV1
    8 subresource string
ObjectMeta
    1 name string
    2 generateName string
    3 namespace string
    4 selfLink string
    5 uid string
    6 resourceVersion string
    7 generation int64
    8 creationTimestamp Time
    9 deletionTimestamp Time
    10 deletionGracePeriodSeconds int64
    11 labels map string
    12 annotations map string
    13 ownerReferences repeated OwnerReference
    14 finalizers repeated string
    17 managedFields repeated ManagedFieldsEntry
ShardInfo
    1 selector string
ListMeta
    1 selfLink string
    2 resourceVersion string
    3 continue string
    4 remainingItemCount int64
    5 shardInfo ShardInfo
PartialObjectMetadata
    1 metadata ObjectMeta
PartialObjectMetadataList
    1 metadata ListMeta
    2 items repeated PartialObjectMetadata
LabelSelectorRequirement
    1 key string
    2 operator string
    3 values repeated string
LabelSelector
    1 matchLabels map string
    2 matchExpressions repeated LabelSelectorRequirement
Condition
    1 type string
    2 status string
    3 observedGeneration int64
    4 lastTransitionTime Time
    5 reason string
    6 message string
WatchEvent
    1 type string
    2 object RawExtension
Preconditions
    1 uid string
    2 resourceVersion string
StatusCause
    1 reason string
    2 message string
    3 field string
StatusDetails
    1 name string
    2 group string
    3 kind string
    4 causes repeated StatusCause
    5 retryAfterSeconds int32
    6 uid string
Status
    1 metadata ListMeta
    2 status string
    3 message string
    4 reason string
    5 details StatusDetails
    6 code int32
ServerAddressByClientCIDR
    1 clientCIDR string
    2 serverAddress string
APIVersions
    1 versions repeated string
    2 serverAddressByClientCIDRs repeated ServerAddressByClientCIDR
GroupVersionForDiscovery
    1 groupVersion string
    2 version string
APIGroup
    1 name string
    2 versions repeated GroupVersionForDiscovery
    3 preferredVersion GroupVersionForDiscovery
    4 serverAddressByClientCIDRs repeated ServerAddressByClientCIDR
APIGroupList
    1 groups repeated APIGroup
APIResource
    1 name string
    2 namespaced bool
    3 kind string
    4 verbs Verbs
    5 shortNames repeated string
    6 singularName string
    7 categories repeated string
    8 group string
    9 version string
    10 storageVersionHash string
APIResourceList
    1 groupVersion string
    2 resources repeated APIResource
GroupVersionKind
    1 group string
    2 version string
    3 kind string
APISubresourceDiscovery
    1 subresource string
    2 responseKind GroupVersionKind
    3 acceptedTypes repeated GroupVersionKind
    4 verbs repeated string
APIResourceDiscovery
    1 resource string
    2 responseKind GroupVersionKind
    3 scope string
    4 singularResource string
    5 verbs repeated string
    6 shortNames repeated string
    7 categories repeated string
    8 subresources repeated APISubresourceDiscovery
APIVersionDiscovery
    1 version string
    2 resources repeated APIResourceDiscovery
    3 freshness string
APIGroupDiscovery
    1 metadata ObjectMeta
    2 versions repeated APIVersionDiscovery
APIGroupDiscoveryList
    1 metadata ListMeta
    2 items repeated APIGroupDiscovery
ConfigMap
    1 metadata ObjectMeta
    2 data map string
    3 binaryData map bytes
    4 immutable bool
HostPathVolumeSource
    1 path string
    2 type string
VolumeSource
    1 hostPath HostPathVolumeSource
Volume
    1 name string
    2 volumeSource VolumeSource
ServicePort
    1 name string
    2 protocol string
    3 port int32
    4 targetPort IntOrString
    5 nodePort int32
    6 appProtocol string
ExtraValue
    1 items repeated string
UserInfo
    1 username string
    2 uid string
    3 groups repeated string
    4 extra map ExtraValue
"""

CODEC = ProtobufCodec()
NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)

OTHER_NAMES = {"DiscoveredKind": "GroupVersionKind"}
"""Classes that have another name in Kubernetes."""

WITHOUT_NUMBERS = {"TypeMeta"}
"""The envelope holds it."""

OWN = {"Object", "ObjectList"}
"""Base classes, which are not messages themselves."""


def read_facts() -> dict[str, dict[int, tuple[str, str]]]:
    """Message -> number -> name and type."""
    found: dict[str, dict[int, tuple[str, str]]] = {}
    message = ""
    for line in FACTS.strip().splitlines():
        if line.startswith(" "):
            number, name, kind = line.split(maxsplit=2)
            found[message][int(number)] = (name, kind)
        else:
            message = line
            found[message] = {}
    return found


MESSAGES = read_facts()


def models() -> list[type[Model]]:
    return [
        found
        for module in (types, status, discovery)
        for _, found in inspect.getmembers(module, inspect.isclass)
        if issubclass(found, Model)
        and found.__module__ == module.__name__
        and found.__name__ not in WITHOUT_NUMBERS | OWN
        and "[" not in found.__name__
    ]


def described(field: ModelField) -> tuple[tuple[int, ...], str, str]:
    """Return the number, name and type of a field in the notation of the facts."""
    number = field.markers.proto
    assert number is not None, field.name
    path = (number,) if isinstance(number, int) else number
    return path, field.wire, kind_of(field.type)


def kind_of(info: TypeInfo) -> str:
    names = {"time": "Time", "micro-time": "MicroTime", "raw": "RawExtension"}
    names |= {"int32": "int32", "fields-v1": "FieldsV1"}
    for part in info.metadata:
        if getattr(part, "name", None) in names:
            return names[str(part.name)]
    if info.category == "model":
        name = str(info.python.__name__)
        return OTHER_NAMES.get(name, name)
    if info.item is not None:
        return f"{'repeated' if info.category == 'list' else 'map'} {kind_of(info.item)}"
    scalars: dict[Any, str] = {str: "string", int: "int64", bool: "bool"}
    return scalars[info.python]


@pytest.mark.parametrize("cls", models(), ids=lambda cls: cls.__name__)
def test_numbers_and_types_are_those_of_kubernetes(cls: type[Model]) -> None:
    facts = MESSAGES[OTHER_NAMES.get(cls.__name__, cls.__name__)]

    ours = [described(field) for field in fields_of(cls) if field.markers.proto is not None]

    expected = {
        ((number,), name, kind) if kind != "Verbs" else ((number, 1), name, MESSAGES["Verbs"][1][1])
        for number, (name, kind) in facts.items()
    }
    assert set(ours) == expected
    assert CODEC.supports(cls)


def test_the_classes_of_the_table_are_all_there() -> None:
    """Ensure that the test above does not pass on an empty table."""
    assert len(models()) >= 28


def other_messages() -> dict[str, type[Message]]:
    """Return messages built from the facts alone, in proto2."""
    file = FileDescriptorProto(name="facts.proto", package="facts", syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, (field_name, kind) in fields.items():
            field = message.field.add(name=field_name, json_name=field_name, number=number)
            field.label = FieldDescriptorProto.LABEL_OPTIONAL
            if kind.startswith(("repeated ", "map ")):
                field.label = FieldDescriptorProto.LABEL_REPEATED
            if kind.startswith("map "):
                entry = message.nested_type.add(
                    name=f"{field_name[0].upper()}{field_name[1:]}Entry"
                )
                entry.options.map_entry = True
                key = entry.field.add(name="key", number=1, label=field_one())
                set_kind(key, "string")
                set_kind(entry.field.add(name="value", number=2, label=field_one()), kind[4:])
                set_kind(field, f"{name}.{entry.name}")
            else:
                set_kind(field, kind.removeprefix("repeated "))
    pool = DescriptorPool()
    pool.Add(file)
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"facts.{name}")) for name in MESSAGES}


def field_one() -> Any:
    return FieldDescriptorProto.LABEL_OPTIONAL


def set_kind(field: FieldDescriptorProto, kind: str) -> None:
    scalars = {
        "string": FieldDescriptorProto.TYPE_STRING,
        "bytes": FieldDescriptorProto.TYPE_BYTES,
        "bool": FieldDescriptorProto.TYPE_BOOL,
        "int32": FieldDescriptorProto.TYPE_INT32,
        "int64": FieldDescriptorProto.TYPE_INT64,
    }
    if kind in scalars:
        field.type = scalars[kind]
    else:
        field.type = FieldDescriptorProto.TYPE_MESSAGE
        field.type_name = f".facts.{kind}"


THEIRS = other_messages()


def theirs(obj: Model) -> Any:
    """Decode our bytes by the independent decoder; no field may be unknown to it."""
    data = CODEC.encode_raw(obj)
    message = THEIRS[type(obj).__name__].FromString(data)
    message.DiscardUnknownFields()
    assert message.SerializeToString(deterministic=True) == data
    return json_format.MessageToDict(message)


def test_another_decoder_reads_metadata() -> None:
    meta = ObjectMeta(
        name="web",
        labels={"app": "web"},
        creation_timestamp=NOON,
        generation=2**40,
        owner_references=[
            OwnerReference(api_version="v1", kind="K", name="n", uid="u", controller=False)
        ],
        managed_fields=[ManagedFieldsEntry(manager="m", fields_v1={"f:a": {}})],
    )

    read = theirs(meta)

    assert read["name"] == "web"
    assert read["labels"] == {"app": "web"}
    assert read["generation"] == str(2**40)
    assert read["creationTimestamp"] == {"seconds": "1714996800", "nanos": 0}
    assert read["ownerReferences"] == [
        {"kind": "K", "name": "n", "uid": "u", "apiVersion": "v1", "controller": False}
    ]
    assert read["managedFields"][0]["fieldsV1"] == {"Raw": "eyJmOmEiOnt9fQ=="}


def test_another_decoder_reads_inlined_messages_and_unions() -> None:
    volume = Volume(name="v", host_path=HostPathVolumeSource(path="/x"))

    assert theirs(volume)["volumeSource"] == {"hostPath": {"path": "/x"}}
    assert theirs(ServicePort(port=1, target_port="web"))["targetPort"] == {
        "type": "1",
        "intVal": 0,
        "strVal": "web",
    }
    assert theirs(UserInfo(extra={"a": ["b"]}))["extra"] == {"a": {"items": ["b"]}}


TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
MAPS = st.dictionaries(TEXT, TEXT, max_size=3)
TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 31), timezones=st.just(UTC)).map(
    lambda found: found.replace(microsecond=0)
)
METAS = st.builds(
    ObjectMeta,
    name=TEXT,
    namespace=TEXT,
    generation=st.integers(-(2**63), 2**63 - 1),
    creation_timestamp=st.none() | TIMES,
    deletion_grace_period_seconds=st.none() | st.integers(-(2**63), 2**63 - 1),
    labels=MAPS,
    annotations=MAPS,
    finalizers=st.lists(TEXT, max_size=3),
    owner_references=st.lists(
        st.builds(
            OwnerReference,
            api_version=TEXT,
            kind=TEXT,
            name=TEXT,
            uid=TEXT,
            controller=st.none() | st.booleans(),
            block_owner_deletion=st.none() | st.booleans(),
        ),
        max_size=2,
    ),
)
CONFIG_MAPS = st.builds(
    ConfigMap,
    kind=st.just(""),
    api_version=st.just(""),
    metadata=METAS,
    immutable=st.none() | st.booleans(),
    data=MAPS,
    binary_data=st.dictionaries(TEXT, st.binary(max_size=8), max_size=3),
)
STATUSES = st.builds(
    Status,
    kind=st.just(""),
    api_version=st.just(""),
    message=TEXT,
    code=st.integers(-(2**31), 2**31 - 1),
    details=st.none()
    | st.builds(
        StatusDetails,
        name=TEXT,
        retry_after_seconds=st.integers(-(2**31), 2**31 - 1),
        causes=st.lists(st.builds(StatusCause, reason=TEXT, message=TEXT, field=TEXT), max_size=3),
    ),
)
SERVICE_PORTS = st.builds(
    ServicePort,
    name=TEXT,
    protocol=TEXT,
    app_protocol=st.none() | TEXT,
    port=st.integers(-(2**31), 2**31 - 1),
    target_port=st.none() | TEXT | st.integers(-(2**31), 2**31 - 1),
)


@settings(max_examples=60)
@given(CONFIG_MAPS | STATUSES | SERVICE_PORTS)
def test_objects_survive_both_codecs(obj: Model) -> None:
    data = CODEC.encode_raw(obj)
    other = THEIRS[type(obj).__name__].FromString(data).SerializeToString()

    assert CODEC.decode(type(obj), data) == obj
    assert CODEC.decode(type(obj), other) == obj


@settings(max_examples=60)
@given(CONFIG_MAPS | STATUSES | SERVICE_PORTS)
def test_protobuf_and_json_tell_the_same(obj: Model) -> None:
    read = CODEC.decode(type(obj), CODEC.encode_raw(obj))

    assert read == type(obj).model_validate_json(obj.model_dump_json())
    assert read.model_dump_json() == obj.model_dump_json()


@settings(max_examples=30)
@given(METAS)
def test_another_decoder_sees_the_values_of_json(meta: ObjectMeta) -> None:
    read = theirs(meta)

    assert read["name"] == meta.name
    assert read.get("labels", {}) == meta.labels
    assert read.get("finalizers", []) == meta.finalizers
    seconds = int(read.get("creationTimestamp", {}).get("seconds", "0"))
    if meta.creation_timestamp is not None:
        moment = datetime.fromtimestamp(seconds, UTC)
        assert format_time(moment) == format_time(meta.creation_timestamp)
