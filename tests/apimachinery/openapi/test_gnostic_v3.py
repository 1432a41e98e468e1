"""OpenAPI v3 as protobuf, with gnostic's messages and field numbers."""

from typing import Any

import pytest

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apimachinery.openapi.documents import document_v3
from apimachinery.openapi.gnostic import GnosticEncoder
from apimachinery.openapi.gnostic_v3 import V3
from apimachinery.openapi.openapi_errors import InvalidDocument
from apimachinery.openapi.operations import ResourceDescription
from apimachinery.schema import GroupVersion
from tests.apimachinery.openapi.test_gnostic import varint, wire

ENCODER = GnosticEncoder(V3)
VERSION = GroupVersion("gadgets.example.io", "v1")


class Gadget(Object):
    """A gadget."""

    size: int = field(3, ge=1, le=9, doc="How large it is.")
    parts: list[str] = field(default_factory=list)


def definition(content: bytes) -> bytes:
    """Return the encoded document with one schema A."""
    named = wire(1, "A") + wire(2, wire(1, content))
    return wire(5, wire(1, wire(1, named)))


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"nullable": True}, wire(1, True)),
        ({"deprecated": True}, wire(8, True)),
        ({"title": "t"}, wire(9, "t")),
        ({"minimum": 1}, varint(13 << 3 | 1) + bytes.fromhex("000000000000f03f")),
        ({"maxLength": 300}, varint(15 << 3) + varint(300)),
        ({"pattern": "^a$"}, wire(17, "^a$")),
        ({"required": ["a", "b"]}, wire(23, "a") + wire(23, "b")),
        ({"enum": ["a"]}, wire(24, wire(2, '"a"\n'))),
        ({"type": "object"}, wire(25, "object")),
        ({"allOf": [{"$ref": "#/x"}]}, wire(26, wire(2, wire(1, "#/x")))),
        ({"oneOf": [{"title": "t"}]}, wire(27, wire(1, wire(9, "t")))),
        ({"not": {"title": "t"}}, wire(29, wire(9, "t"))),
        ({"items": {"$ref": "#/x"}}, wire(30, wire(1, wire(2, wire(1, "#/x"))))),
        ({"properties": {"p": {}}}, wire(31, wire(1, wire(1, "p") + wire(2, wire(1, b""))))),
        ({"additionalProperties": False}, wire(32, wire(2, False))),
        ({"additionalProperties": {"title": "t"}}, wire(32, wire(1, wire(1, wire(9, "t"))))),
        ({"default": "d"}, wire(33, wire(3, "d"))),
        ({"default": True}, wire(33, wire(2, True))),
        ({"default": 1}, wire(33, varint(1 << 3 | 1) + bytes.fromhex("000000000000f03f"))),
        ({"default": {}}, wire(33, b"")),
        ({"description": "d"}, wire(34, "d")),
        ({"format": "int64"}, wire(35, "int64")),
        ({"x-a": 1}, wire(36, wire(1, "x-a") + wire(2, wire(2, "1\n")))),
    ],
)  # fmt: skip
def test_a_schema_has_the_numbers_of_gnostic(document: dict[str, Any], expected: bytes) -> None:
    assert ENCODER.encode({"components": {"schemas": {"A": document}}}) == definition(expected)


def test_operations_have_the_numbers_of_gnostic() -> None:
    operation = {
        "operationId": "readA",
        "parameters": [{"name": "n", "in": "path", "required": True, "schema": {"type": "string"}}],
        "requestBody": {"content": {"*/*": {"schema": {"$ref": "#/x"}}}},
        "responses": {"200": {"description": "OK"}, "default": {"$ref": "#/y"}},
        "deprecated": True,
    }

    found = ENCODER.encode({"openapi": "3.0.0", "paths": {"/a": {"get": operation}}})

    parameter = (
        wire(1, "n") + wire(2, "path") + wire(4, True) + wire(10, wire(1, wire(25, "string")))
    )
    content = wire(1, wire(1, "*/*") + wire(2, wire(1, wire(2, wire(1, "#/x")))))
    code = wire(1, "200") + wire(2, wire(1, wire(1, "OK")))
    written = (
        wire(5, "readA")
        + wire(6, wire(1, parameter))
        + wire(7, wire(1, wire(2, content)))
        + wire(8, wire(1, wire(2, wire(1, "#/y"))) + wire(2, code))
        + wire(10, True)
    )
    item = wire(1, "/a") + wire(2, wire(4, written))
    assert found == wire(1, "3.0.0") + wire(4, wire(1, item))


def test_a_whole_document_can_be_written_and_read() -> None:
    document = document_v3(
        title="t",
        version="v",
        group_version=VERSION,
        resources=[ResourceDescription(plural="gadgets", kind="Gadget", cls=Gadget)],
    )

    read: Any = ENCODER.message_class()
    read = read.FromString(ENCODER.encode(document))

    names = [pair.name for pair in read.components.schemas.additional_properties]
    paths = [pair.name for pair in read.paths.path]
    assert names == list(document["components"]["schemas"])
    assert paths == list(document["paths"])
    gadget = read.components.schemas.additional_properties[
        names.index("io.example.gadgets.v1.Gadget")
    ]
    properties = {
        pair.name: pair.value.schema
        for pair in gadget.value.schema.properties.additional_properties
    }
    assert properties["size"].default.number == 3
    assert properties["size"].maximum == 9
    assert properties["parts"].items.schema_or_reference[0].schema.type == "string"


@pytest.mark.parametrize(
    "document",
    [{"swagger": "2.0"}, {"paths": []}, {"components": {"schemas": {"A": {"type": ["string"]}}}}],
)
def test_what_is_no_document_of_v3_is_refused(document: Any) -> None:
    with pytest.raises(InvalidDocument):
        ENCODER.encode(document)
