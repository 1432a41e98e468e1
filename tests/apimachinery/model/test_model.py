"""The rules of the wire that hold for every Model."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from apimachinery.meta.types import (
    LabelSelector,
    ManagedFieldsEntry,
    Object,
    ObjectList,
    ObjectMeta,
    OwnerReference,
)
from apimachinery.model.class_fields import fields_of, shape_of
from apimachinery.model.decoding import decode_json
from apimachinery.model.model import Model, assign, deep_copy, field, new_model
from apimachinery.model.type_shape import ListShape, MapShape, Scalar, StructShape
from apimachinery.model.wire_rules import wire_name
from apimachinery.openapi.properties import is_required
from apimachinery.scalars.duration import Duration
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Bytes, Int32, RawExtension
from apimachinery.testing import objects
from apis.gadgets import v1


class Inner(Model):
    name: str
    size: int = 0


class Everything(Model):
    required_text: str
    required_list: list[str]
    text: str = ""
    number: int = 0
    flag: bool = False
    unset_number: int | None = None
    unset_flag: bool | None = None
    replicas: int = 1
    items: list[Inner] = field(default_factory=list)
    unset_items: list[Inner] | None = None
    by_name: dict[str, Inner] = field(default_factory=dict)
    inner: Inner | None = None
    nested: ObjectMeta = ObjectMeta()
    at: Time | None = None
    at_micro: MicroTime | None = None
    data: dict[str, Bytes] = field(default_factory=dict)
    raw: RawExtension | None = None
    anything: Any = None
    small: Int32 = 0
    pod_ip: str = field("", wire="podIP")
    choice: Literal["a", "b"] = "a"
    self_again: "Everything | None" = None


def minimal(**values: Any) -> Everything:
    return Everything(required_text="", required_list=[], **values)


def wire(model: Model) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(model.model_dump_json())
    return document


ALWAYS = {"requiredText": "", "requiredList": [], "replicas": 1, "nested": {}, "choice": "a"}


@pytest.mark.parametrize(
    ("name", "on_the_wire"),
    [
        ("name", "name"),
        ("ready_replicas", "readyReplicas"),
        ("a_b_c", "aBC"),
        ("continue_", "continue"),
        ("fields_v1", "fieldsV1"),
        ("", ""),
    ],
)
def test_snake_case_becomes_camel_case(name: str, on_the_wire: str) -> None:
    assert wire_name(name) == on_the_wire


@given(st.from_regex(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", fullmatch=True))
def test_wire_names_are_total_and_have_no_underscores(name: str) -> None:
    assert "_" not in wire_name(name)


def test_exceptions_to_the_rule_are_declared_on_the_field() -> None:
    assert wire(minimal(pod_ip="10.0.0.1"))["podIP"] == "10.0.0.1"


def test_empty_optional_values_are_left_out_and_required_ones_are_not() -> None:
    assert wire(minimal()) == ALWAYS


@pytest.mark.parametrize(
    ("values", "written"),
    [
        ({"unset_number": 0}, {"unsetNumber": 0}),
        ({"unset_flag": False}, {"unsetFlag": False}),
        ({"number": 0, "flag": False, "text": ""}, {}),
        ({"replicas": 0}, {"replicas": 0}),
        ({"unset_items": []}, {}),
        ({"raw": {}}, {"raw": {}}),
        ({"inner": Inner(name="")}, {"inner": {"name": ""}}),
        ({"items": [Inner(name="a")]}, {"items": [{"name": "a"}]}),
        ({"anything": {"z": None, "a": [1]}}, {"anything": {"a": [1], "z": None}}),
    ],
)
def test_unset_is_kept_apart_from_zero(values: dict[str, Any], written: dict[str, Any]) -> None:
    assert wire(minimal(**values)) == {**ALWAYS, **written}


def test_creation_timestamp_null_never_appears() -> None:
    assert "creationTimestamp" not in Object().model_dump_json()


def test_instants_are_written_in_utc_to_the_precision_of_their_type() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)

    written = wire(minimal(at=moment, at_micro=moment))

    assert written["at"] == "2026-01-02T03:04:05Z"
    assert written["atMicro"] == "2026-01-02T03:04:05.678901Z"


@pytest.mark.parametrize(
    "document",
    [
        '{"number": "5"}',
        '{"number": 5.0}',
        '{"number": true}',
        '{"number": 9223372036854775808}',
        '{"small": 2147483648}',
        '{"flag": 1}',
        '{"flag": "true"}',
        '{"text": 5}',
        '{"items": {}}',
        '{"byName": []}',
        '{"inner": "x"}',
        '{"at": 5}',
        '{"at": "2026-01-02"}',
        '{"at": "2026-01-02 03:04:05Z"}',
        '{"at": "2026-13-02T03:04:05Z"}',
        '{"data": {"k": "not base64!"}}',
        '{"choice": "c"}',
    ],
)
def test_types_are_strict(document: str) -> None:
    whole = document[:-1] + ', "requiredText": "", "requiredList": []}'
    with pytest.raises(ValidationError):
        Everything.model_validate_json(whole)


def test_python_names_are_not_accepted_on_the_wire() -> None:
    found = Everything.model_validate_json(
        '{"requiredText": "", "requiredList": [], "pod_ip": "x"}', by_alias=True, by_name=False
    )
    assert found.pod_ip == ""


def test_maps_are_written_in_the_order_of_their_keys() -> None:
    one = ObjectMeta(labels={"b": "1", "a": "2"})
    other = ObjectMeta(labels={"a": "2", "b": "1"})

    assert one.model_dump_json() == other.model_dump_json()
    assert minimal(raw={"b": {"d": 1, "c": 2}, "a": 0}).model_dump_json().index('"c"') > 0
    assert (
        '"raw":{"a":0,"b":{"c":2,"d":1}}'
        in minimal(raw={"b": {"d": 1, "c": 2}, "a": 0}).model_dump_json()
    )


everything = objects(Everything, {(Everything, "self_again"): st.none()})


@given(everything)
def test_what_is_written_reads_back_equal(model: Everything) -> None:
    again = Everything.model_validate_json(model.model_dump_json())

    # Reading turns an empty list that may be unset into an unset one: the wire has only one.
    again.unset_items = again.unset_items or model.unset_items
    assert again.model_dump_json() == model.model_dump_json()


@given(objects(v1.Gadget))
def test_gadgets_read_back_equal(gadget: v1.Gadget) -> None:
    assert v1.Gadget.model_validate_json(gadget.model_dump_json()) == gadget


def test_equality_is_of_the_same_class_and_content() -> None:
    class Other(Inner):
        pass

    assert Inner(name="a") == Inner(name="a", size=0)
    assert Inner(name="a") != Inner(name="b")
    assert Inner(name="a") != Other(name="a")
    assert Inner(name="a") != "a"


@given(everything)
def test_a_deep_copy_is_equal(model: Everything) -> None:
    assert model.deep_copy() == model


def test_a_deep_copy_shares_nothing_that_can_change() -> None:
    model = minimal(
        items=[Inner(name="a")],
        by_name={"k": Inner(name="b")},
        raw={"list": [{"deep": 1}]},
        nested=ObjectMeta(labels={"a": "1"}, finalizers=["x"]),
        anything=[{}],
        self_again=minimal(),
    )

    copy = model.deep_copy()
    copy.items[0].name = copy.by_name["k"].name = "changed"
    copy.raw["list"][0]["deep"] = 2  # type: ignore[index]
    copy.nested.labels["a"] = "2"
    copy.nested.finalizers.append("y")
    copy.anything[0]["new"] = 1
    copy.self_again.text = "changed"  # type: ignore[union-attr]
    copy.required_list.append("new")

    assert model == minimal(
        items=[Inner(name="a")],
        by_name={"k": Inner(name="b")},
        raw={"list": [{"deep": 1}]},
        nested=ObjectMeta(labels={"a": "1"}, finalizers=["x"]),
        anything=[{}],
        self_again=minimal(),
    )


def test_copies_share_the_sets_of_owned_fields() -> None:
    entry = ManagedFieldsEntry(manager="m", fields_v1={"f:spec": {"f:size": {}}})

    copy = entry.deep_copy()
    copy.fields_v1 = {"f:spec": {}}

    assert entry.deep_copy().fields_v1 is entry.fields_v1
    assert entry.fields_v1 == {"f:spec": {"f:size": {}}}


def test_pydantic_copies_the_same_way() -> None:
    model = minimal(items=[Inner(name="a")])

    assert model.model_copy(deep=True).items[0] is not model.items[0]
    assert deep_copy([model])[0] is not model


def test_defaults_are_not_shared_between_objects() -> None:
    one, other = v1.Gadget(spec=v1.GadgetSpec(model="a")), v1.Gadget(spec=v1.GadgetSpec(model="a"))
    one.status.ready_replicas = 5
    one.metadata.labels["a"] = "1"

    assert other.status.ready_replicas == 0
    assert other.metadata.labels == {}


def test_a_repr_shows_what_is_set() -> None:
    assert repr(ObjectMeta(name="a")) == "ObjectMeta(name='a')"


def test_the_repr_of_a_class_that_is_not_compiled_shows_what_is_set() -> None:
    class Sized(Model):
        name: str
        size: int = 0
        labels: dict[str, str] = field(default_factory=dict)
        always: bool = field(False, omit_empty=False)

    sized = new_model(Sized, {"name": "a", "size": 0, "labels": {}, "always": False})

    assert repr(sized) == "Sized(name='a', always=False)"
    assert not Sized.__pydantic_complete__


def test_the_kind_of_a_class_is_its_name_unless_it_says_otherwise() -> None:
    class Widget(Object):
        pass

    class WidgetV2(Object, kind="Widget"):
        pass

    assert (Widget.__kind__, WidgetV2.__kind__) == ("Widget", "Widget")


def test_a_list_writes_its_items_even_when_there_are_none() -> None:
    assert ObjectList[v1.Gadget]().model_dump_json() == '{"metadata":{},"items":[]}'


def test_fields_tell_name_wire_name_type_and_markers() -> None:
    owners = next(found for found in fields_of(ObjectMeta) if found.name == "owner_references")

    assert (owners.wire, owners.type.category) == ("ownerReferences", "list")
    assert owners.markers.list_map_keys == ("uid",)
    assert owners.markers.proto == 13
    assert owners.type.model is not None


def test_the_shape_has_what_patches_must_know() -> None:
    metadata = shape_of(v1.Gadget).fields["metadata"]
    assert isinstance(metadata, StructShape)
    owners, finalizers = metadata.fields["ownerReferences"], metadata.fields["finalizers"]
    labels = metadata.fields["labels"]

    assert isinstance(owners, ListShape)
    assert (owners.type, owners.keys, owners.patch_merge_key) == ("map", ("uid",), "uid")
    assert isinstance(finalizers, ListShape)
    assert finalizers.type == "set"
    assert labels == MapShape(Scalar("string"))


class Address(Model, map_type="atomic"):
    street: str = ""


class Home(Model):
    address: Address = Address()
    open_address: Address = field(Address(), map_type="granular")
    former: list[Address] = field(default_factory=list)


def test_a_class_can_be_owned_as_a_whole_wherever_it_stands() -> None:
    fields = shape_of(Home).fields
    former = fields["former"]

    assert isinstance(fields["address"], StructShape)
    assert fields["address"].atomic
    assert isinstance(former, ListShape)
    assert isinstance(former.items, StructShape)
    assert former.items.atomic
    assert shape_of(OwnerReference).atomic
    assert shape_of(LabelSelector).atomic
    assert not shape_of(Home).atomic


class Envelope(Model):
    content: RawExtension | None = None
    labels: dict[str, str] = field(default_factory=dict)


def test_a_raw_document_is_owned_as_a_whole() -> None:
    content, labels = shape_of(Envelope).fields.values()

    assert isinstance(content, MapShape) and content.atomic
    assert isinstance(labels, MapShape) and not labels.atomic


def test_a_field_can_say_otherwise_than_its_class() -> None:
    shape = shape_of(Home).fields["openAddress"]

    assert isinstance(shape, StructShape)
    assert not shape.atomic


class Bounded(Model):
    small: Int32 = field(1, ge=1)
    short: Int32 = field(1, le=7)
    wait: Duration = field(timedelta(seconds=5), ge=timedelta(seconds=1))
    code: Bytes = field(b"", max_length=2)


@pytest.mark.parametrize(
    "document",
    [
        '{"small": 0}',
        '{"small": 2147483648}',
        '{"short": 8}',
        '{"short": -2147483649}',
        '{"wait": "0s"}',
        '{"code": "aGVsbG8="}',
    ],
)
def test_constraints_hold_for_types_that_have_bounds_of_their_own(document: str) -> None:
    with pytest.raises(ValidationError):
        Bounded.model_validate_json(document)


def test_constrained_fields_are_written_as_the_wire_wants_them() -> None:
    text = '{"small":2,"short":7,"wait":"1s","code":"aGU="}'

    assert Bounded.model_validate_json(text).model_dump_json() == text


def test_shapes_of_recursive_types_end() -> None:
    assert shape_of(Everything).fields["selfAgain"] is shape_of(Everything)


def test_key_defaults_of_keyed_lists_come_from_the_element() -> None:
    class Port(Model):
        port: int
        protocol: str = "TCP"
        host: str = field("", omit_empty=False)
        zone: str = ""

    class Ports(Model):
        ports: list[Port] = field(
            default_factory=list, list_map_keys=("port", "protocol", "host", "zone")
        )

    ports = shape_of(Ports).fields["ports"]

    assert isinstance(ports, ListShape)
    assert ports.key_defaults == {"port": 0, "protocol": "TCP", "host": ""}


def test_models_are_plain_pydantic_models() -> None:
    assert issubclass(Model, BaseModel)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Inner(name="a"))


def test_several_threads_may_be_the_first_to_use_a_class() -> None:
    class Late(Object):
        parts: list[Inner] = field(default_factory=list)

    together = Barrier(4)

    def read(_: int) -> Late:
        together.wait()
        return Late.model_validate_json(b'{"metadata":{"name":"a"},"parts":[{"name":"b"}]}')

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(read, range(4)))

    expected = Late(metadata=ObjectMeta(name="a"), parts=[Inner(name="b")])
    assert found == [expected] * 4


class Shelf(Model):
    books: list[str] = field(default_factory=list, null_when_empty=True, required=False)
    boxes: list[str] = field(default_factory=list, null_when_empty=True)
    width: int = field(0, omit_empty=False, required=False)


def test_an_empty_list_can_be_written_as_null() -> None:
    assert Shelf().model_dump_json() == '{"books":null,"boxes":null,"width":0}'
    assert Shelf(books=["a"], boxes=["b"]).model_dump(mode="json")["books"] == ["a"]
    assert decode_json(Shelf, b'{"books":null,"boxes":null}').object == Shelf()


def test_a_field_that_is_always_written_can_be_documented_as_optional() -> None:
    required = {found.name for found in fields_of(Shelf) if is_required(found)}

    assert required == {"boxes"}


def test_several_fields_are_assigned_at_once() -> None:
    meta = ObjectMeta(name="a", generation=1)

    assign(meta, uid="u", generation=0)

    assert meta == ObjectMeta(name="a", uid="u")
