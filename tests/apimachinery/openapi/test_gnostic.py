"""OpenAPI v2 as protobuf, with gnostic's messages and field numbers."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apimachinery.openapi.documents import document_v2
from apimachinery.openapi.gnostic import GnosticEncoder
from apimachinery.openapi.openapi_errors import InvalidDocument
from apimachinery.openapi.operations import ResourceDescription
from apimachinery.schema import GroupVersion

ENCODER = GnosticEncoder()


class Gadget(Object):
    """A gadget."""

    sizes: dict[str, int] = field(default_factory=dict)


def varint(number: int) -> bytes:
    head, rest = number & 0x7F, number >> 7
    return bytes([head | 0x80]) + varint(rest) if rest else bytes([head])


def wire(number: int, content: bytes | str | bool) -> bytes:
    """Return a field of a message as protobuf encodes it."""
    if isinstance(content, bool):
        return varint(number << 3) + varint(int(content))
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def schema(document: dict[str, Any]) -> bytes:
    """Return the encoded document with one definition A."""
    return ENCODER.encode({"definitions": {"A": document}})


def definition(content: bytes) -> bytes:
    return wire(9, wire(1, wire(1, "A") + wire(2, content)))


def test_document_begins_with_version_and_info() -> None:
    found = ENCODER.encode({"swagger": "2.0", "info": {"title": "t", "version": "v"}})

    assert found == wire(1, "2.0") + wire(2, wire(1, "t") + wire(2, "v"))


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"$ref": "#/definitions/B"}, wire(1, "#/definitions/B")),
        ({"format": "int32"}, wire(2, "int32")),
        ({"description": "d"}, wire(4, "d")),
        ({"default": {"a": 1}}, wire(5, wire(2, '{"a": 1}\n'))),
        ({"minimum": 1}, varint(9 << 3 | 1) + bytes.fromhex("000000000000f03f")),
        ({"exclusiveMinimum": True}, wire(10, True)),
        ({"maxLength": 300}, varint(11 << 3) + varint(300)),
        ({"pattern": "^a$"}, wire(13, "^a$")),
        ({"required": ["a", "b"]}, wire(19, "a") + wire(19, "b")),
        ({"enum": ["a"]}, wire(20, wire(2, '"a"\n'))),
        ({"additionalProperties": {"title": "t"}}, wire(21, wire(1, wire(3, "t")))),
        ({"additionalProperties": False}, wire(21, wire(2, False))),
        ({"type": "object"}, wire(22, wire(1, "object"))),
        ({"type": ["string", "null"]}, wire(22, wire(1, "string") + wire(1, "null"))),
        ({"items": {}}, wire(23, wire(1, b""))),
        ({"allOf": [{"title": "t"}]}, wire(24, wire(3, "t"))),
        ({"properties": {"p": {}}}, wire(25, wire(1, wire(1, "p") + wire(2, b"")))),
        ({"x-a": True}, wire(31, wire(1, "x-a") + wire(2, wire(2, "true\n")))),
    ],
)  # fmt: skip
def test_schema_has_the_numbers_of_gnostic(document: dict[str, Any], expected: bytes) -> None:
    assert schema(document) == definition(expected)


def test_operation_has_the_numbers_of_gnostic() -> None:
    operation = {
        "operationId": "o",
        "consumes": ["c"],
        "produces": ["p"],
        "parameters": [
            {"in": "body", "name": "body", "required": True, "schema": {"title": "t"}},
            {"in": "query", "name": "q", "type": "string"},
            {"in": "path", "name": "n", "required": True, "type": "string"},
            {"$ref": "#/parameters/p"},
        ],
        "responses": {"200": {"description": "OK", "schema": {"title": "t"}}},
        "x-kubernetes-action": "get",
    }

    found = ENCODER.encode({"paths": {"/p": {"get": operation}}})

    body = wire(2, "body") + wire(3, "body") + wire(4, True) + wire(5, wire(3, "t"))
    query = wire(2, "query") + wire(4, "q") + wire(6, "string")
    path = wire(1, True) + wire(2, "path") + wire(4, "n") + wire(5, "string")
    response = wire(1, "OK") + wire(2, wire(1, wire(3, "t")))
    expected = (
        wire(5, "o")
        + wire(6, "p")
        + wire(7, "c")
        + wire(8, wire(1, wire(1, body)))
        + wire(8, wire(1, wire(2, wire(3, query))))
        + wire(8, wire(1, wire(2, wire(4, path))))
        + wire(8, wire(2, wire(1, "#/parameters/p")))
        + wire(9, wire(1, wire(1, "200") + wire(2, wire(1, response))))
        + wire(13, wire(1, "x-kubernetes-action") + wire(2, wire(2, '"get"\n')))
    )
    assert found == wire(8, wire(2, wire(1, "/p") + wire(2, wire(2, expected))))


def test_security_has_the_numbers_of_gnostic() -> None:
    found = ENCODER.encode(
        {
            "security": [{"BearerToken": []}],
            "securityDefinitions": {
                "BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}
            },
        }
    )

    key = wire(1, "apiKey") + wire(2, "authorization") + wire(3, "header")
    assert found == wire(12, wire(1, wire(1, "BearerToken") + wire(2, b""))) + wire(
        13, wire(1, wire(1, "BearerToken") + wire(2, wire(2, key)))
    )


def test_whole_document_survives() -> None:
    version = GroupVersion("gadgets.example.io", "v1")
    resource = ResourceDescription(plural="gadgets", kind="Gadget", cls=Gadget)
    document = document_v2(title="t", version="v", versions={version: [resource]})

    found: Any = ENCODER.message_class.FromString(ENCODER.encode(document))

    definitions = {each.name: each.value for each in found.definitions.additional_properties}
    gadget = definitions["io.example.gadgets.v1.Gadget"]
    extensions = {each.name: yaml.safe_load(each.value.yaml) for each in gadget.vendor_extension}
    assert list(definitions) == list(document["definitions"])
    assert [each.name for each in found.paths.path] == list(document["paths"])
    assert gadget.description == "A gadget."
    assert extensions["x-kubernetes-group-version-kind"] == [
        {"group": "gadgets.example.io", "kind": "Gadget", "version": "v1"}
    ]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda held: st.lists(held) | st.dictionaries(st.text(), held),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_extension_is_yaml_of_its_value(value: Any) -> None:
    found: Any = ENCODER.message_class.FromString(schema({"x-any": value}))

    (extension,) = found.definitions.additional_properties[0].value.vendor_extension
    assert yaml.safe_load(extension.value.yaml) == value


KEYS = st.sampled_from(
    ["definitions", "paths", "info", "security", "properties", "items", "type", "in", "/p", "get",
     "parameters", "responses", "200", "schema", "additionalProperties", "enum", "minimum", "x-a"]
) | st.text(max_size=3)  # fmt: skip
DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=5),
    lambda held: st.lists(held, max_size=3) | st.dictionaries(KEYS, held, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, DOCUMENTS))
def test_any_document_is_encoded_alike_twice_or_refused(document: dict[str, Any]) -> None:
    try:
        found = ENCODER.encode(document)
    except InvalidDocument:
        return
    assert ENCODER.encode(document) == found


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"swagger": 2}, r"\$\.swagger: must be a string"),
        ({"paths": []}, r"\$\.paths: must be an object"),
        ({"definitions": {"A": {"minimum": True}}}, r"\$\.definitions\.A\.minimum: must be a num"),
        ({"definitions": {"A": {"required": "a"}}}, r"A\.required: must be a list"),
        ({"definitions": {"A": {"oneOf": []}}}, r"A\.oneOf: Schema has no such field"),
        ({"definitions": {"A": {"maxLength": 2**63}}}, r"A\.maxLength: must be a 64-bit integer"),
        ({"definitions": {"A": {"title": "\ud800"}}}, r"A\.title: must be valid Unicode"),
        ({"definitions": {"A": {"x-a": float("nan")}}}, r"A\.x-a: is not JSON"),
        ({"definitions": {1: {}}}, r"\$\.definitions: has key 1: keys must be strings"),
        ({"parameters": {"p": {"in": "cookie"}}}, r"\$\.parameters\.p\.in: must be body, formDa"),
        ({"securityDefinitions": {"s": {"type": "magic"}}}, r"s\.type: must be basic, apiKey, or"),
    ],
)
def test_what_is_not_openapi_is_refused_by_its_place(
    document: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidDocument, match=message):
        ENCODER.encode(document)


@pytest.mark.parametrize("levels", [80, 1000, 100_000])
def test_bottomless_schema_is_refused(levels: int) -> None:
    document: dict[str, Any] = {}
    for _ in range(levels):
        document = {"properties": {"a": document}}

    with pytest.raises(InvalidDocument, match="must not be nested deeper than 150 levels"):
        schema(document)


def test_deep_schema_is_written() -> None:
    document: dict[str, Any] = {}
    for _ in range(70):
        document = {"properties": {"a": document}}

    assert schema(document)
