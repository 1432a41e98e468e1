"""Large documents are decoded like small ones, but only the first invalid item is reported."""

import json
from typing import Any

import pytest

from apimachinery.meta.types import Object
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.fail_fast import LARGE, is_large
from apimachinery.model.model import Model, field


class Port(Model):
    port: int = field(ge=1, le=65535)
    name: str = ""
    tags: list[str] = field(default_factory=list)


class Machine(Object):
    ports: list[Port] = field(default_factory=list)
    by_name: dict[str, Port] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    owner: str | None = None
    anything: Any = None


def large(**fields: Any) -> str:
    return json.dumps({"names": {f"n{i}": "" for i in range(LARGE + 2)}, **fields})


def test_what_counts_as_large() -> None:
    assert is_large(large().encode())
    assert not is_large(b"x" * 10_000)
    assert not is_large(b"[1,2]")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"owner": None, "ports": None, "anything": [None]},
        {"ports": [None]},
        {"ports": [{"port": 1, "name": None, "tags": [None, "a"]}]},
        {"byName": {"a": {"port": 1, "tags": None}}},
        {"names": {f"n{i}": None for i in range(LARGE + 2)}},
    ],
)
def test_a_large_document_is_decoded_like_a_small_one(fields: Any) -> None:
    names = {f"n{i}": "" for i in range(LARGE + 2)}
    small = json.dumps({**fields, "names": {}})
    if fields.get("ports") == [None]:  # the zero value of a port lacks the number
        with pytest.raises(DecodeError, match=r"ports\[0\].port: Required value"):
            decode_json(Machine, large(**fields))
        return

    decoded = decode_json(Machine, large(**fields))

    assert decoded.unknown == ()
    assert decoded.object.names == names
    assert decoded.object == decode_json(Machine, small).object.model_copy(update={"names": names})


def test_the_first_invalid_item_of_each_list_is_reported() -> None:
    ports = [{"port": 1}, {"port": 0}, {"port": -1}]

    with pytest.raises(DecodeError) as refused:
        decode_json(Machine, large(ports=ports, byName={"a": {"port": 0}, "b": {"port": 0}}))

    assert [error.field for error in refused.value.fields] == ["ports[1].port", "byName.a.port"]


def test_a_wrong_type_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"cannot unmarshal number into .* Port.ports.name"):
        decode_json(Machine, large(ports=[{"port": 1, "name": 1}] * 3))


def test_unknown_fields_are_listed_up_to_a_limit() -> None:
    unknown = {f"x{i}": 1 for i in range(1000)}

    decoded = decode_json(Machine, large(ports=[{"port": 1, "unknown": 1}], **unknown))

    assert decoded.unknown[:2] == ("ports[0].unknown", "x0")
    assert len(decoded.unknown) == 100


@pytest.mark.parametrize("value", ["NaN", "[Infinity]", "-Infinity"])
def test_numbers_that_are_not_json_are_refused(value: str) -> None:
    for document in (f'{{"x": {value}}}', large()[:-1] + f', "x": {value}}}'):
        with pytest.raises(DecodeError, match="line 1 column"):
            decode_json(Machine, document, find_unknown=False)


def test_the_names_of_such_numbers_may_be_in_strings() -> None:
    assert decode_json(Machine, '{"owner": "NaN, Infinity"}').object.owner == "NaN, Infinity"
