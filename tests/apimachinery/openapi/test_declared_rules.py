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
    published: list[str] = field(default_factory=list, known=("red", "green"), publish_enum=True)
    by_room: dict[str, str] = field(default_factory=dict, enum=("red",))
    unpublished: str = field("", enum=("red", "green"), publish_enum=False)
    model: str = field("", immutable=True, doc="The model.")
    shade: Shade | None = field(None, immutable=True)
    size: int = 0


class Lamp(Object):
    spec: LampSpec = LampSpec()


def schema(name: str, dialect: Dialect = V3) -> Schema:
    kind = PublishedKind(V1.with_kind("Lamp"), Lamp, "LampList")
    return Definitions(dialect, [kind]).schemas()[PREFIX + name]


POSSIBLE = 'Possible enum values:\n - `"green"`\n - `"red"`'


def test_allowed_values_are_published_as_an_enum() -> None:
    for dialect in (V2, V3):
        properties = schema("LampSpec", dialect)["properties"]

        assert properties["closed"] == {
            "description": POSSIBLE,
            "enum": ["green", "red"],
            "type": "string",
        }
        assert properties["byRoom"]["additionalProperties"] == {"enum": ["red"], "type": "string"}


def test_known_values_are_only_described_because_clients_enforce_an_enum() -> None:
    for dialect in (V2, V3):
        properties = schema("LampSpec", dialect)["properties"]

        assert properties["color"] == {"description": POSSIBLE, "type": "string"}


def test_a_field_says_whether_its_values_are_published() -> None:
    for dialect in (V2, V3):
        properties = schema("LampSpec", dialect)["properties"]

        assert properties["published"]["items"] == {"enum": ["green", "red"], "type": "string"}
        assert properties["unpublished"] == {"description": POSSIBLE, "type": "string"}


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
