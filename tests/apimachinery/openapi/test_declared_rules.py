"""The rules that fields declare, as OpenAPI publishes them."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.openapi.definitions import Definitions, PublishedKind
from apimachinery.openapi.dialect import V2, V3, Dialect, Schema
from apimachinery.schema import GroupVersion

V1 = GroupVersion("lamps.example.io", "v1")
PREFIX = "io.example.lamps.v1."


class Shade(Model):
    size: int = 0


class LampSpec(Model):
    color: str = field("", known=("red", "green"), selectable=True)
    closed: str = field("", enum=("red", "green"))
    model: str = field("", immutable=True, doc="The model.")
    shade: Shade | None = field(None, immutable=True)
    size: int = 0


class Lamp(Object):
    spec: LampSpec = LampSpec()


def schema(name: str, dialect: Dialect = V3) -> Schema:
    kind = PublishedKind(V1.with_kind("Lamp"), Lamp, "LampList")
    return Definitions(dialect, [kind]).schemas()[PREFIX + name]


def test_known_values_are_published_like_allowed_ones() -> None:
    for dialect in (V2, V3):
        properties = schema("LampSpec", dialect)["properties"]

        assert properties["color"] == properties["closed"]
        assert properties["color"] == {
            "description": 'Possible enum values:\n - `"green"`\n - `"red"`',
            "type": "string",
        }


def test_an_immutable_field_has_a_validation_rule_in_v3() -> None:
    rule = [{"rule": "self == oldSelf", "message": "field is immutable"}]
    properties = schema("LampSpec")["properties"]

    assert properties["model"] == {
        "description": "The model.",
        "type": "string",
        "x-kubernetes-validations": rule,
    }
    assert properties["shade"]["x-kubernetes-validations"] == rule
    assert properties["size"] == {"format": "int64", "type": "integer"}
    assert "x-kubernetes-validations" not in schema("LampSpec", V2)["properties"]["model"]


def test_selectable_fields_are_published_with_their_kind() -> None:
    for dialect in (V2, V3):
        selectable = schema("Lamp", dialect)["x-kubernetes-selectable-fields"]

        assert selectable == [{"fieldPath": "spec.color"}]
        assert "x-kubernetes-selectable-fields" not in schema("LampSpec", dialect)
        assert "x-kubernetes-selectable-fields" not in schema("LampList", dialect)
