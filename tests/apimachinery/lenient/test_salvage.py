"""What decodes of an object that does not."""

import copy
import json
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BeforeValidator

from apimachinery.codec import dump_json
from apimachinery.fieldpath import Path
from apimachinery.lenient.lenient_decoding import decode_leniently, salvage
from apimachinery.meta.types import Object
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apimachinery.scalars.wire_types import Bytes
from apimachinery.schema import GroupVersionKind
from apimachinery.testing import objects
from tests.apis.filled import filled
from tests.apis.test_roundtrip import SCHEME

ALL = [(kind, cls) for kind, cls in SCHEME.all_kinds().items() if issubclass(cls, Object)]


class Port(Model):
    port: int
    name: str = ""


class Spec(Model):
    timeout: Duration
    replicas: int = field(1, ge=1)
    ports: list[Port] = field(default_factory=list)
    by_name: dict[str, Port] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    key: Bytes = b""
    extra: Any = None


class Machine(Object):
    spec: Spec


def salvaged(spec: Any) -> tuple[str, tuple[str, ...]]:
    obj, messages = salvage(Machine, {"metadata": {"name": "a"}, "spec": spec})
    assert obj.metadata.name == "a"
    return json.dumps(json.loads(dump_json(obj))["spec"]), messages


@pytest.mark.parametrize(
    ("spec", "rest", "messages"),
    [
        ({"timeout": "5s", "replicas": 0}, {"timeout": "5s", "replicas": 0}, ()),
        (
            {"timeout": 5},
            {"timeout": "0s", "replicas": 1},
            ("spec.timeout: must be a duration string such as 1h30m0s",),
        ),
        (
            {"timeout": "5s", "replicas": "2"},
            {"timeout": "5s", "replicas": 1},
            (
                "spec.replicas: cannot unmarshal string into Go struct field Spec.spec.replicas"
                " of type int64",
            ),
        ),
        (
            {"words": ["a", 1, "b", None]},
            {"timeout": "0s", "replicas": 1, "words": ["a", "b", ""]},
            (
                "spec.words[1]: cannot unmarshal number into Go struct field Spec.spec.words"
                " of type string",
            ),
        ),
        (
            {"ports": [{"port": "x", "name": "a"}, 7, {"port": 2}], "byName": {"a": [], "b": {}}},
            {
                "timeout": "0s",
                "replicas": 1,
                "ports": [{"port": 0, "name": "a"}, {"port": 2}],
                "byName": {"b": {"port": 0}},
            },
            (
                "spec.ports[0].port: cannot unmarshal string into Go struct field"
                " Port.spec.ports.port of type int64",
                "spec.ports[1]: cannot unmarshal number into Go struct field Spec.spec.ports"
                " of type test_salvage.Port",
                "spec.byName.a: cannot unmarshal array into Go struct field Spec.spec.byName"
                " of type test_salvage.Port",
            ),
        ),
        (
            {"key": "?", "timeout": "1s"},
            {"timeout": "1s", "replicas": 1},
            ("spec.key: illegal base64 data",),
        ),
        (
            "nothing",
            {"timeout": "0s", "replicas": 1},
            (
                "spec: cannot unmarshal string into Go struct field Machine.spec"
                " of type test_salvage.Spec",
            ),
        ),
    ],
)
def test_the_deepest_wrong_value_is_left_out(
    spec: Any, rest: dict[str, Any], messages: tuple[str, ...]
) -> None:
    assert salvaged(spec) == (json.dumps(rest), messages)


def test_the_document_is_not_changed() -> None:
    document = {"spec": {"words": [1, {"a": [None]}], "replicas": "x"}, "metadata": 5}
    before = copy.deepcopy(document)

    salvage(Machine, document)

    assert document == before


@pytest.mark.parametrize(
    ("extra", "reported"),
    [
        (float("nan"), True),
        (2**70, False),
        (10**400, True),
        ("\ud800", True),
        ({1, 2}, True),
        ([b"a"], True),
        ({"a": float("inf")}, True),
    ],
)
def test_what_is_not_json_is_left_out(extra: Any, reported: bool) -> None:
    obj, messages = salvage(Machine, {"spec": {"extra": extra, "words": ["a"]}})

    assert obj.spec.words == ["a"]
    assert any(message.startswith("spec.extra") for message in messages) == reported


@pytest.mark.parametrize("depth", [197, 198, 199, 200, 5000])
def test_what_is_nested_too_deeply_is_left_out(depth: int) -> None:
    nested: Any = []
    for _ in range(depth - 1):
        nested = [nested]

    obj, messages = salvage(Machine, {"spec": {"extra": nested, "words": ["a"]}})

    assert obj.spec.words == ["a"]
    assert bool(messages) == (depth > 198)


def test_where_a_part_is_not_enough_its_parent_is_left_out() -> None:
    def checked(value: Any) -> Any:
        return value if value.get("good") else 5

    class Inner(Model):
        good: bool = False
        name: str = ""

    class Holder(Model):
        inner: Annotated[Inner, BeforeValidator(checked)] = field(default_factory=Inner)
        other: str = ""

    obj, messages = salvage(Holder, {"inner": {"good": "?"}, "other": "a"})

    assert (obj.inner, obj.other) == (Inner(), "a")
    assert [message.split(":")[0] for message in messages] == ["inner.good", "inner"]


def test_positions_are_those_of_the_document() -> None:
    class Holder(Model):
        items: list[int | Port]

    obj, messages = salvage(Holder, {"items": ["x", {"port": "y", "name": 5}, 3, None]})

    assert obj.items == [Port(port=0), 3, 0]
    assert {message.split(":")[0] for message in messages} == {
        "items[0]",
        "items[1].port",
        "items[1].name",
    }


def test_an_object_without_a_class_is_salvaged() -> None:
    obj, messages = salvage(Unstructured, {"metadata": {"name": 5, "uid": "u"}, "spec": {"a": 1}})

    assert (obj.metadata.uid, obj["spec"]) == ("u", {"a": 1})
    assert len(messages) == 1


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "spec", "metadata", "items"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(["kind", "metadata", "spec", "x"]), JSON))
def test_any_object_is_salvaged(document: dict[str, Any]) -> None:
    obj, _ = salvage(Machine, document)

    assert decode_leniently(Machine, dump_json(obj)) == obj


def locations(value: Any, prefix: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for step, item in items:
        yield (*prefix, step)
        if isinstance(item, dict | list):
            yield from locations(item, (*prefix, step))


@pytest.mark.parametrize(("kind", "cls"), ALL, ids=[str(kind) for kind, _ in ALL])
def test_what_is_not_corrupted_survives(kind: GroupVersionKind, cls: type[Object]) -> None:
    check_corruptions(cls, 4)


@pytest.mark.torture
@pytest.mark.parametrize(("kind", "cls"), ALL, ids=[str(kind) for kind, _ in ALL])
def test_what_is_not_corrupted_survives_often(kind: GroupVersionKind, cls: type[Object]) -> None:
    check_corruptions(cls, 100)


def check_corruptions(cls: type[Object], count: int) -> None:
    @settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))
    @given(obj=st.one_of(st.just(filled(cls)), objects(cls)), data=st.data())
    def check(obj: Object, data: st.DataObject) -> None:
        document = json.loads(dump_json(obj))
        location = data.draw(st.sampled_from(list(locations(document))))
        *parents, last = location
        corrupted = copy.deepcopy(document)
        parent = corrupted
        for step in parents:
            parent = parent[step]
        parent[last] = data.draw(JSON)

        read, messages = salvage(cls, corrupted)

        path = str(path_of(location))
        assert all(message.startswith(path) for message in messages)
        field = location[: next((i for i, s in enumerate(location) if isinstance(s, int)), None)]
        expected = json.loads(dump_json(decode_leniently(cls, dump_json(obj))))
        assert pruned(json.loads(dump_json(read)), field) == pruned(expected, field)

    check()


def path_of(location: tuple[int | str, ...]) -> Path:
    path = Path()
    for step in location:
        path = path.index(step) if isinstance(step, int) else path.child(step)
    return path


def pruned(document: Any, field: tuple[int | str, ...]) -> Any:
    """Return the document without a field, and without the objects that are empty without it."""
    first, *rest = field
    if rest and isinstance(document.get(first), dict):
        inner = pruned(document[first], tuple(rest))
    else:
        inner = None
    others = {key: value for key, value in document.items() if key != first}
    return {**others, first: inner} if inner else others
