"""Lazy decoding: the same objects as bulk decoding, each nested one when it is first read."""

import copy
import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Literal

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, TypeAdapter, field_validator

from apimachinery.lenient.bulk_decoding import bulk_decode_json
from apimachinery.lenient.lazy_decoding import lazy_decode_json
from apimachinery.lenient.lenient_construction import constructing_leniently
from apimachinery.lenient.shared_fields import MAX_BYTES, MAX_SETS, SharedFields
from apimachinery.meta.types import Object
from apimachinery.model.decoding import DecodeError
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Bytes, Int32, RawExtension
from tests.benchmarks.pods import PodV1, pod_document


class Part(Model):
    name: str
    size: int = 0


class Open(Model, extra="allow"):
    name: str = ""


class Ruled(Model):
    name: str = ""

    @field_validator("name")
    @classmethod
    def _upper(cls, name: str) -> str:
        return name.upper()


class Spec(Model):
    """A field of every form that a class may declare."""

    required: str
    text: str = field("x", max_length=3)
    number: Int32 = 1
    ratio: float = 0.5
    flag: bool | None = None
    word: Literal["a", "b"] = "a"
    port: IntOrString | None = None
    amounts: dict[str, Quantity] = field(default_factory=dict)
    at: Time | None = None
    exactly: MicroTime | None = None
    data: Bytes = b""
    raw: RawExtension = field(default_factory=dict)
    anything: Any = None
    names: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    part: Part | None = None
    own: Part = field(default_factory=lambda: Part(name="own"))
    parts: list[Part] = field(default_factory=list)
    by_name: dict[str, Part] = field(default_factory=dict)
    either: Part | bool | None = None
    open: Open = field(default_factory=Open)
    ruled: Ruled = field(default_factory=Ruled)
    upper: Annotated[str, AfterValidator(str.upper)] = ""


class Thing(Object):
    spec: Spec
    status: Part = field(default_factory=lambda: Part(name=""))


DOCUMENT = {
    "kind": "Thing",
    "metadata": {"name": "a", "creationTimestamp": "2030-01-01T00:00:00Z", "labels": {"b": "c"}},
    "spec": {
        "required": "r",
        "number": 7,
        "ratio": 2,
        "word": "b",
        "port": "http",
        "amounts": {"cpu": "500m"},
        "at": "2030-01-01T01:00:00+01:00",
        "exactly": "2030-01-01T00:00:00.123456Z",
        "data": "aGk=",
        "raw": {"x": [1, None]},
        "anything": [1.5],
        "names": ["n"],
        "labels": {"l": "m"},
        "part": {"name": "p", "size": 3},
        "parts": [{"name": "q"}, {"name": "r", "unknown": 1}],
        "byName": {"s": {"name": "s"}},
        "either": {"name": "e"},
        "open": {"name": "o", "more": [1]},
        "ruled": {"name": "lower"},
        "upper": "upper",
    },
}

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.sampled_from(["", "a", "long text", "1", "500m", "2030-01-01T00:00:00Z", "aGk="]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["name", "size", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)
SPECS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys([*DOCUMENT["spec"], "own", "text", "flag", "unknown"], VALUES)
)


def eager(data: bytes) -> Any:
    return bulk_decode_json(Thing, data)


def lazy(document: Any = DOCUMENT) -> Thing:
    return lazy_decode_json(Thing, orjson.dumps(document))


def outcome(decode: Any, data: bytes) -> Any:
    try:
        complete = decode(data).deep_copy()
        return complete.model_dump_json(), complete
    except DecodeError:
        return "refused"


def test_every_form_of_field_is_decoded_as_at_once() -> None:
    assert outcome(lambda data: lazy_decode_json(Thing, data), orjson.dumps(DOCUMENT)) == outcome(
        eager, orjson.dumps(DOCUMENT)
    )


@given(SPECS, st.fixed_dictionaries({}, optional={"name": VALUES, "labels": VALUES}) | VALUES)
def test_any_document_is_decoded_or_refused_as_at_once(spec: Any, metadata: Any) -> None:
    """Complete, it is refused if and only if it would be at once."""
    data = orjson.dumps({"metadata": metadata, "spec": spec})

    found = outcome(lambda data: lazy_decode_json(Thing, data), data)

    assert found == outcome(eager, data)


def test_a_nested_object_is_decoded_when_it_is_read() -> None:
    thing = lazy({"spec": {"required": "r", "part": {"name": "p"}}})
    assert type(thing.spec) is not Spec
    assert isinstance(thing.spec, Spec)

    assert thing.spec.part is not None

    assert type(thing.spec) is Spec
    assert type(thing.spec.part) is not Part


def test_no_class_is_compiled_to_read_plain_fields() -> None:
    class Inner(Model):
        names: list[str] = field(default_factory=list)

    class Outer(Object):
        spec: Inner = field(default_factory=Inner)

    obj = lazy_decode_json(Outer, b'{"metadata":{"name":"a"},"spec":{"names":["b"]}}')

    assert obj.spec.names == ["b"]
    assert not Outer.__pydantic_complete__
    assert not Inner.__pydantic_complete__


@pytest.mark.parametrize(
    "document",
    [
        {"metadata": {"labels": 5}, "spec": {"required": "r"}},
        {"metadata": 5, "spec": {"required": "r"}},
        {"metadata": {}, "spec": 5},
        {"kind": 5},
        5,
    ],
)
def test_errors_of_an_object_and_its_metadata_are_raised_at_once(document: Any) -> None:
    with pytest.raises(DecodeError):
        lazy(document)


class Raw(Object):
    raw: RawExtension = field(default_factory=dict)
    part: Spec | None = None


def nested(levels: int) -> Any:
    document: Any = {}
    for _ in range(levels // 2):
        document = {"a": [document]}
    return document


@pytest.mark.parametrize("levels", [210, 300, 900])
def test_a_document_that_is_nested_too_deeply_is_refused_at_once(levels: int) -> None:
    """It could not be encoded again."""
    data = json.dumps({"metadata": {}, "raw": nested(levels)})

    with pytest.raises(DecodeError):
        lazy_decode_json(Raw, data)


@pytest.mark.parametrize("levels", [210, 300, 900])
@pytest.mark.parametrize("name", ["raw", "anything"])
def test_a_nested_object_that_is_nested_too_deeply_is_refused_when_read(
    name: str, levels: int
) -> None:
    part = {"required": "r", name: nested(levels)}
    obj = lazy_decode_json(Raw, json.dumps({"metadata": {}, "part": part}))

    with pytest.raises(DecodeError):
        _ = obj.part.required  # type: ignore[union-attr]


@pytest.mark.parametrize("form", ['{"f:a":', '{"f:a":['])
@pytest.mark.parametrize("levels", [210, 300, 900])
def test_managed_fields_that_are_nested_too_deeply_are_refused_when_read(
    levels: int, form: str
) -> None:
    count = levels // (2 if "[" in form else 1)
    fields = form * count + "{}" + ("]}" if "[" in form else "}") * count
    obj = lazy_decode_json(Raw, f'{{"metadata":{{"managedFields":[{{"fieldsV1":{fields}}}]}}}}')

    with pytest.raises(DecodeError):
        _ = obj.metadata.managed_fields[0].manager


def test_a_document_that_is_nested_deeply_is_decoded_and_encoded() -> None:
    data = json.dumps({"metadata": {}, "raw": nested(150)}, separators=(",", ":"))

    assert lazy_decode_json(Raw, data).model_dump_json() == data


def test_errors_of_nested_objects_are_raised_whenever_they_are_read() -> None:
    thing = lazy({"metadata": {"name": "a"}, "spec": {"required": 5}})
    assert thing.metadata.name == "a"

    for _ in range(2):
        with pytest.raises(DecodeError):
            _ = thing.spec.names


@pytest.mark.parametrize(
    "use",
    [
        lambda spec: spec.__dict__,
        lambda spec: vars(spec),
        lambda spec: spec.__class__,
        lambda spec: spec == spec,
        repr,
        dict,
        copy.copy,
        copy.deepcopy,
        pickle.dumps,
        lambda spec: spec.model_copy(),
        lambda spec: spec.model_dump_json(),
        lambda spec: TypeAdapter(Spec).dump_json(spec),
        lambda spec: setattr(spec, "text", "x"),
        lambda spec: setattr(spec, "__dict__", dict(spec.__dict__)),
        lambda spec: delattr(spec, "text"),
        lambda spec: spec.__pydantic_private__,
    ],
)
def test_whatever_is_done_with_a_nested_object_decodes_it(use: Any) -> None:
    spec = lazy().spec

    use(spec)

    assert type(spec) is Spec
    assert spec.required == "r"


def test_objects_are_equal_whichever_side_was_read() -> None:
    expected = eager(orjson.dumps(DOCUMENT))

    assert lazy().spec == expected.spec
    assert expected.spec == lazy().spec
    assert lazy() == lazy()
    assert lazy().spec != lazy().spec.part
    assert copy.copy(lazy().spec) == expected.spec
    assert pickle.loads(pickle.dumps(lazy())) == expected


@pytest.mark.parametrize(
    "create",
    [
        lambda cls: cls(required="r"),
        lambda cls: cls.model_construct(required="r"),
        lambda cls: cls.model_validate({"required": "r"}),
    ],
)
def test_the_type_of_an_unread_object_creates_ordinary_objects(create: Any) -> None:
    unread = type(lazy().spec)
    assert unread is not Spec

    created = create(unread)

    assert type(created) is Spec
    assert created == create(Spec)
    assert created.required == "r"


def test_the_type_of_an_unread_object_creates_objects_leniently_in_conversions() -> None:
    with constructing_leniently():
        created: Any = type(lazy().spec)(required="r", text="too long")

    assert type(created) is Spec
    assert created.text == "too long"


def test_a_class_with_code_or_unknown_fields_is_decoded_at_once() -> None:
    class Special(Object):
        open: Open = field(default_factory=Open)
        ruled: Ruled = field(default_factory=Ruled)

    data = b'{"metadata":{},"open":{"name":"o","more":[1]},"ruled":{"name":"lower"}}'

    obj = lazy_decode_json(Special, data)

    assert type(obj.open) is Open
    assert obj.open.model_extra == {"more": [1]}
    assert obj.ruled.name == "LOWER"


def test_a_change_is_kept() -> None:
    thing = lazy()

    thing.spec.labels["x"] = "y"
    thing.spec.parts[0].size = 4
    thing.spec.own.size = 5

    written = orjson.loads(thing.model_dump_json())["spec"]
    assert written["labels"] == {"l": "m", "x": "y"}
    assert written["parts"][0]["size"] == 4
    assert written["own"]["size"] == 5


def test_threads_that_read_one_object_see_the_same_values() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            for _ in range(50):
                spec = lazy().spec
                parts = list(threads.map(lambda spec: spec.part, [spec] * 16))
                assert all(part is spec.part for part in parts)
    finally:
        sys.setswitchinterval(before)


FORK_WHILE_DECODING = """
import os, signal, sys
from threading import Event, Thread
from apimachinery.lenient.lazy_decoding import lazy_decode_json
from apimachinery.lenient.young_objects import YoungObjects
from tests.benchmarks.pods import PodV1

one, other = (lazy_decode_json(PodV1, b'{"metadata":{},"spec":{"nodeName":"n"}}') for _ in "12")
decoding, forked, settle = Event(), Event(), YoungObjects.settle

def wait(_):
    YoungObjects.settle = settle
    decoding.set()
    forked.wait()

YoungObjects.settle = wait
thread = Thread(target=lambda: one.spec.node_name)
thread.start()
decoding.wait()
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(0 if (one.spec.node_name, other.spec.node_name) == ("n", "n") else 1)
forked.set()
thread.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_process_that_is_forked_while_a_thread_decodes_can_decode() -> None:
    finished = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK_WHILE_DECODING])

    assert finished.returncode == 0


def test_objects_share_equal_sets_of_managed_fields() -> None:
    entry = {"manager": "m", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    document = pod_document()
    document["metadata"]["managedFields"] = [entry]

    one, other = (lazy_decode_json(PodV1, orjson.dumps(document)) for _ in range(2))

    (first,), (second,) = one.metadata.managed_fields, other.metadata.managed_fields
    assert first.fields_v1 is second.fields_v1
    assert first.fields_v1 == entry["fieldsV1"]


def owned_pod() -> PodV1:
    document = pod_document()
    fields: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
    document["metadata"]["managedFields"] = [{"manager": "m", "fieldsV1": fields}]
    return lazy_decode_json(PodV1, orjson.dumps(document))


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields.update({"f:x": {}}),
        lambda fields: fields["f:spec"].update({"f:x": {}}),
        lambda fields: fields.clear(),
        lambda fields: fields.pop("f:spec"),
        lambda fields: fields.popitem(),
        lambda fields: fields.setdefault("f:x", {}),
        lambda fields: fields.__setitem__("f:x", {}),
        lambda fields: fields.__delitem__("f:spec"),
        lambda fields: fields.__ior__({"f:x": {}}),
    ],
)
@pytest.mark.parametrize("copied", [lambda pod: pod, lambda pod: pod.deep_copy()])
def test_a_shared_set_of_managed_fields_cannot_be_changed(change: Any, copied: Any) -> None:
    """The change would appear in unrelated objects."""
    (entry,) = copied(owned_pod()).metadata.managed_fields

    with pytest.raises(TypeError):
        change(entry.fields_v1)

    (later,) = owned_pod().metadata.managed_fields
    assert later.fields_v1 == {"f:spec": {"f:replicas": {}}}


def test_a_set_of_managed_fields_is_replaced_by_a_changed_copy() -> None:
    pod = owned_pod()
    (entry,) = pod.metadata.managed_fields

    changed: Any = copy.deepcopy(entry.fields_v1)
    changed["f:spec"]["f:x"] = {}
    entry.fields_v1 = changed

    assert b'"fieldsV1":{"f:spec":{"f:replicas":{},"f:x":{}}}' in pod.model_dump_json().encode()
    assert (
        type(pickle.loads(pickle.dumps(owned_pod().metadata.managed_fields[0].fields_v1))) is dict
    )


def test_a_malformed_set_that_could_be_changed_is_not_shared() -> None:
    shared = SharedFields()

    assert shared.share({"f:x": [1]}) is not shared.share({"f:x": [1]})


def test_the_shared_sets_are_bounded() -> None:
    shared = SharedFields()
    large: dict[str, Any] = {"f:" + "x" * MAX_BYTES: {}}
    kept = shared.share({"f:first": {}})
    assert shared.share({"f:first": {}}) is kept

    for number in range(MAX_SETS):
        shared.share({f"f:{number}": {}})

    assert shared.share({"f:first": {}}) is not kept
    assert shared.share(dict(large)) is not shared.share(dict(large))


def sets_document(*texts: str, spec: str = "{}") -> bytes:
    ends = ("}", ',"subresource":"status"}')
    entries = ",".join(
        f'{{"manager":"m{number}","fieldsType":"FieldsV1","fieldsV1":{text}{ends[number % 2]}'
        for number, text in enumerate(texts)
    )
    return (
        f'{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"a","managedFields":'
        f'[{entries}]}},"spec":{spec}}}'
    ).encode()


SET, OTHER = '{"f:spec":{"f:a":{}}}', '{"f:status":{".":{},"k:{\\"type\\":\\"x\\"}":{}}}'


@pytest.mark.parametrize(
    "data",
    [
        sets_document(SET),
        sets_document(SET, OTHER),
        sets_document(OTHER, SET, OTHER),
        sets_document(SET, "{}", OTHER),
        sets_document(SET, spec=f'{{"fieldsV1":{SET}}}'),
        sets_document(spec=f'{{"fieldsV1":{SET}}}'),
        sets_document(SET, spec=f'{{"metadata":{{"managedFields":[{{"fieldsV1":{SET}}}]}}}}'),
        sets_document("0", spec=f'{{"fieldsV1":{SET}}}'),
        sets_document("[]", "null", SET),
        sets_document(SET, spec='{"text":"\\"fieldsV1\\":{}","\\"fieldsV1":{}}'),
        b'{"fieldsV1":' + SET.encode() + b"}",
        b'{"metadata":{"managedFields":{"fieldsV1":' + SET.encode() + b"}}}",
        b'{"metadata":[{"fieldsV1":' + SET.encode() + b"}]}",
    ],
)
def test_known_sets_of_managed_fields_are_loaded_without_being_parsed(data: bytes) -> None:
    shared = SharedFields()
    for text in (SET, OTHER):
        shared.share(orjson.loads(text))

    assert shared.load(data) == orjson.loads(data)


def test_known_sets_are_shared_between_documents() -> None:
    shared = SharedFields()
    known = shared.share(orjson.loads(SET))

    document = shared.load(sets_document(OTHER, SET))

    assert document["metadata"]["managedFields"][1]["fieldsV1"] == known
    (first, second) = shared.load(sets_document(SET, SET))["metadata"]["managedFields"]
    assert first["fieldsV1"] is second["fieldsV1"] is known
