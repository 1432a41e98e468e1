"""Model classes as OpenAPI definitions, in both versions."""

from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, Generic, Literal, NewType, TypeVar

import pytest
from pydantic import ConfigDict, Field

from apimachinery.meta.types import Condition, Object, ObjectList
from apimachinery.meta.unstructured import Unstructured
from apimachinery.model.model import Model, field
from apimachinery.openapi.definition_names import VersionIndex
from apimachinery.openapi.definitions import Definitions, PublishedKind
from apimachinery.openapi.dialect import V2, V3, Dialect, Schema
from apimachinery.openapi.openapi_errors import UnpublishableType
from apimachinery.scalars.duration import Duration
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity, parse_quantity
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Bytes, FieldsV1, Int32, OpaqueType, RawExtension
from apimachinery.schema import GroupVersion

V1 = GroupVersion("gadgets.example.io", "v1")
PREFIX = "io.example.gadgets.v1."
META = "io.k8s.apimachinery.pkg.apis.meta.v1."

Port = NewType("Port", int)
Item = TypeVar("Item")


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


class Page(Model, Generic[Item]):
    """A page of something."""

    entries: list[Item] = field(default_factory=list)


class Part(Model):
    """One part.

    Parts can have parts,
    to any depth:

    - small ones
    - large ones
    """

    name: str = field(doc="What it is called.")
    parts: "list[Part]" = field(
        default_factory=list,
        list_map_keys=("name",),
        patch_strategy="merge,retainKeys",
        patch_merge_key="name",
    )


class GadgetSpec(Model):
    """How the gadget should run."""

    text: str = ""
    size: int = field(1, ge=0, le=100, doc="How many.")
    small: Int32 = 0
    positive: Int32 = field(5, gt=0)
    ratio: float = field(0.5, lt=1)
    enabled: bool = True
    data: Bytes = b""
    started: Time | None = None
    exact: MicroTime | None = field(None, doc="To the microsecond.")
    wait: Duration = timedelta(minutes=1)
    memory: Quantity = parse_quantity("64Mi")
    surge: IntOrString = "25%"
    raw: RawExtension | None = None
    owned: FieldsV1 | None = None
    anything: Any = None
    mode: Literal["slow", "fast"] = "fast"
    color: Color | None = None
    phase: str = field("", enum=("Running", "Pending"), doc="Where it is.")
    code: str = field("", pattern="^[a-z]+$", min_length=1, max_length=9)
    tags: list[str] = field(default_factory=list, list_type="set", max_length=3)
    limits: dict[str, Quantity] = field(default_factory=dict, map_type="atomic")
    weights: list[Annotated[int, Field(ge=1)]] = field(default_factory=list)
    holes: list[str | None] = field(default_factory=list)
    either: int | bool | None = None
    port: Port = Port(80)
    part: Part | None = field(None, doc="The first part.")
    pages: Page[Part] | None = None
    always: list[str] = field(default_factory=list, omit_empty=False)


class GadgetStatus(Model):
    conditions: list[Condition] = field(default_factory=list, list_map_keys=("type",))


class Gadget(Object):
    """A Gadget does one thing."""

    spec: GadgetSpec = field(default_factory=GadgetSpec, doc="What is wanted.")
    status: GadgetStatus = field(default_factory=GadgetStatus)


def schemas(dialect: Dialect = V3, cls: type[Model] = Gadget) -> dict[str, Schema]:
    kind = PublishedKind(V1.with_kind("Gadget"), cls, "GadgetList")
    return Definitions(dialect, [kind]).schemas()


def spec_property(name: str, dialect: Dialect = V3) -> Schema:
    found: Schema = schemas(dialect)[f"{PREFIX}GadgetSpec"]["properties"][name]
    return found


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for held in value.values():
            yield from references(held)
    elif isinstance(value, list):
        for held in value:
            yield from references(held)


def v3(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def v2(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("text", {"type": "string"}),
        (
            "size",
            {
                "type": "integer",
                "format": "int64",
                "minimum": 0,
                "maximum": 100,
                "default": 1,
                "description": "How many.",
            },
        ),
        ("small", {"type": "integer", "format": "int32"}),
        (
            "positive",
            {
                "type": "integer",
                "format": "int32",
                "minimum": 0,
                "exclusiveMinimum": True,
                "default": 5,
            },
        ),
        (
            "ratio",
            {
                "type": "number",
                "format": "double",
                "maximum": 1,
                "exclusiveMaximum": True,
                "default": 0.5,
            },
        ),
        ("enabled", {"type": "boolean", "default": True}),
        ("data", {"type": "string", "format": "byte"}),
        ("started", v3(f"{META}Time")),
        ("exact", {"allOf": [v3(f"{META}MicroTime")], "description": "To the microsecond."}),
        ("wait", {"allOf": [v3(f"{META}Duration")], "default": "1m0s"}),
        (
            "memory",
            {
                "allOf": [v3("io.k8s.apimachinery.pkg.api.resource.Quantity")],
                "default": "64Mi",
            },
        ),
        (
            "surge",
            {
                "allOf": [v3("io.k8s.apimachinery.pkg.util.intstr.IntOrString")],
                "default": "25%",
            },
        ),
        ("raw", v3("io.k8s.apimachinery.pkg.runtime.RawExtension")),
        ("owned", v3(f"{META}FieldsV1")),
        ("anything", {"x-kubernetes-preserve-unknown-fields": True}),
        (
            "mode",
            {
                "type": "string",
                "enum": ["fast", "slow"],
                "default": "fast",
                "description": 'Possible enum values:\n - `"fast"`\n - `"slow"`',
            },
        ),
        (
            "color",
            {
                "type": "string",
                "enum": ["blue", "red"],
                "description": 'Possible enum values:\n - `"blue"`\n - `"red"`',
            },
        ),
        (
            "phase",
            {
                "enum": ["Pending", "Running"],
                "type": "string",
                "description": "Where it is.\n\n"
                'Possible enum values:\n - `"Pending"`\n - `"Running"`',
            },
        ),
        ("code", {"type": "string", "pattern": "^[a-z]+$", "minLength": 1, "maxLength": 9}),
        (
            "tags",
            {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 3,
                "x-kubernetes-list-type": "set",
            },
        ),
        (
            "limits",
            {
                "type": "object",
                "additionalProperties": v3("io.k8s.apimachinery.pkg.api.resource.Quantity"),
                "x-kubernetes-map-type": "atomic",
            },
        ),
        (
            "weights",
            {"type": "array", "items": {"type": "integer", "format": "int64", "minimum": 1}},
        ),
        ("holes", {"type": "array", "items": {"type": "string", "nullable": True}}),
        ("either", {"oneOf": [{"type": "integer", "format": "int64"}, {"type": "boolean"}]}),
        ("port", {"type": "integer", "format": "int64", "default": 80}),
        ("part", {"allOf": [v3(f"{PREFIX}Part")], "description": "The first part."}),
        ("pages", v3(f"{PREFIX}PagePart")),
    ],
)
def test_field_is_published_in_v3(name: str, expected: Schema) -> None:
    assert spec_property(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wait", v2(f"{META}Duration")),
        ("part", {**v2(f"{PREFIX}Part"), "description": "The first part."}),
        ("enabled", {"type": "boolean"}),
        ("holes", {"type": "array", "items": {"type": "string"}}),
        ("either", {"x-kubernetes-preserve-unknown-fields": True}),
    ],
)
def test_v2_has_no_defaults_alternatives_or_wrapped_references(name: str, expected: Schema) -> None:
    assert spec_property(name, V2) == expected


def test_kind_is_described_with_its_marker_and_standard_fields() -> None:
    found = schemas()[f"{PREFIX}Gadget"]

    properties = found["properties"]
    assert found["description"] == "A Gadget does one thing."
    assert found["type"] == "object"
    assert "required" not in found
    assert found["x-kubernetes-group-version-kind"] == [
        {"group": "gadgets.example.io", "version": "v1", "kind": "Gadget"}
    ]
    assert list(properties) == ["apiVersion", "kind", "metadata", "spec", "status"]
    assert properties["metadata"]["allOf"] == [v3(f"{META}ObjectMeta")]
    assert properties["spec"] == {
        "allOf": [v3(f"{PREFIX}GadgetSpec")],
        "default": {},
        "description": "What is wanted.",
    }
    assert "apps/v1" in properties["apiVersion"]["description"]
    assert "CamelCase" in properties["kind"]["description"]


def test_list_of_a_kind_requires_its_items() -> None:
    found = schemas()[f"{PREFIX}GadgetList"]

    assert found["required"] == ["items"]
    assert found["properties"]["items"]["items"] == v3(f"{PREFIX}Gadget")
    assert found["properties"]["metadata"]["allOf"] == [v3(f"{META}ListMeta")]
    assert found["x-kubernetes-group-version-kind"][0]["kind"] == "GadgetList"


def test_field_of_a_list_class_means_the_list_of_the_kind() -> None:
    class Archive(Model):
        gadgets: ObjectList[Gadget] | None = None

    archive = PublishedKind(V1.with_kind("Archive"), Archive)
    gadget = PublishedKind(V1.with_kind("Gadget"), Gadget, "GadgetCollection")

    found = Definitions(V3, [archive, gadget]).schemas()

    held = found[f"{PREFIX}Archive"]["properties"]["gadgets"]
    assert held == v3(f"{PREFIX}GadgetCollection")
    assert f"{PREFIX}GadgetList" not in found


def test_recursive_type_refers_to_itself() -> None:
    found = schemas()[f"{PREFIX}Part"]

    assert found["required"] == ["name"]
    assert found["properties"]["parts"] == {
        "type": "array",
        "items": v3(f"{PREFIX}Part"),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "x-kubernetes-patch-strategy": "merge,retainKeys",
        "x-kubernetes-patch-merge-key": "name",
    }


def test_paragraphs_of_a_docstring_are_joined_and_lists_kept() -> None:
    found = schemas()[f"{PREFIX}Part"]

    assert found["description"] == (
        "One part.\n\nParts can have parts, to any depth:\n\n- small ones\n- large ones"
    )


def test_class_without_docstring_inherits_no_description() -> None:
    assert "description" not in schemas()[f"{PREFIX}GadgetStatus"]


def test_field_that_is_written_even_if_empty_is_required() -> None:
    assert schemas()[f"{PREFIX}GadgetSpec"]["required"] == ["always"]


def test_generic_class_is_described_per_argument() -> None:
    found = schemas()[f"{PREFIX}PagePart"]

    assert found["description"] == "A page of something."
    assert found["properties"]["entries"]["items"] == v3(f"{PREFIX}Part")


@pytest.mark.parametrize(
    ("name", "in_v3", "in_v2"),
    [
        (
            "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
            {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
            {"format": "int-or-string", "type": "string"},
        ),
        (
            "io.k8s.apimachinery.pkg.api.resource.Quantity",
            {"oneOf": [{"type": "string"}, {"type": "number"}]},
            {"type": "string"},
        ),
        (f"{META}Time", *([{"format": "date-time", "type": "string"}] * 2)),
        (f"{META}Duration", *([{"type": "string"}] * 2)),
        (f"{META}FieldsV1", *([{"type": "object"}] * 2)),
    ],
)
def test_named_scalar_has_its_definition(name: str, in_v3: Schema, in_v2: Schema) -> None:
    for dialect, expected in ((V3, in_v3), (V2, in_v2)):
        found = schemas(dialect)[name]

        assert found.pop("description")
        assert found == expected


def test_object_meta_has_the_markers_of_kubernetes() -> None:
    properties = schemas()[f"{META}ObjectMeta"]["properties"]

    marked = {
        name: {key[13:]: value for key, value in found.items() if key.startswith("x-")}
        for name, found in properties.items()
    }
    assert {name: found for name, found in marked.items() if found} == {
        "finalizers": {"list-type": "set", "patch-strategy": "merge"},
        "managedFields": {"list-type": "atomic"},
        "ownerReferences": {
            "list-type": "map",
            "list-map-keys": ["uid"],
            "patch-strategy": "merge",
            "patch-merge-key": "uid",
        },
    }
    assert properties["generation"]["format"] == "int64"
    assert "default" not in properties["name"]


def test_required_fields_keep_the_order_of_the_class() -> None:
    found = schemas()[f"{META}OwnerReference"]

    assert found["required"] == ["apiVersion", "kind", "name", "uid"]


@pytest.mark.parametrize("dialect", [V2, V3])
def test_a_class_that_is_owned_as_a_whole_says_so(dialect: Dialect) -> None:
    found = schemas(dialect)

    assert found[f"{META}OwnerReference"]["x-kubernetes-map-type"] == "atomic"
    assert "x-kubernetes-map-type" not in found[f"{META}ObjectMeta"]


@pytest.mark.parametrize("dialect", [V2, V3])
def test_every_reference_has_a_definition(dialect: Dialect) -> None:
    found = schemas(dialect)

    names = {each.removeprefix(dialect.references) for each in references(found)}
    assert names and names <= set(found)


def test_open_model_keeps_its_fields_in_v3_and_is_a_plain_object_in_v2() -> None:
    """Old clients reject undeclared fields of an object that declares any."""

    class Open(Object):
        model_config = ConfigDict(extra="allow")

    in_v3 = schemas(V3, Open)[f"{PREFIX}Gadget"]
    in_v2 = schemas(V2, Open)[f"{PREFIX}Gadget"]

    assert in_v3["x-kubernetes-preserve-unknown-fields"] is True
    assert "metadata" in in_v3["properties"]
    assert in_v2["x-kubernetes-preserve-unknown-fields"] is True
    assert in_v2["type"] == "object"
    assert "properties" not in in_v2


def test_kinds_without_classes_of_their_own_are_published_apart() -> None:
    kinds = [PublishedKind(V1.with_kind(name), Unstructured, f"{name}List") for name in "AB"]

    found = Definitions(V3, kinds).schemas()

    assert {f"{PREFIX}A", f"{PREFIX}AList", f"{PREFIX}B", f"{PREFIX}BList"} <= set(found)
    assert found[f"{PREFIX}BList"]["properties"]["items"]["items"] == v3(f"{PREFIX}B")


def _named_part(doc: str) -> type[Model]:
    part = type("Gadget", (Model,), {"__doc__": doc, "__module__": __name__})
    assert issubclass(part, Model)
    part.__qualname__ = doc
    return part


def test_names_that_collide_are_numbered_and_the_kind_keeps_its_own() -> None:
    first, second = _named_part("a"), _named_part("b")

    class Holder(Object, kind="Gadget"):
        """The kind."""

        two: second  # type: ignore[valid-type]
        one: first  # type: ignore[valid-type]

    found = schemas(V3, Holder)

    assert found[f"{PREFIX}Gadget"]["description"] == "The kind."
    assert found[f"{PREFIX}Gadget_v2"]["description"] == "a"
    assert found[f"{PREFIX}Gadget_v3"]["description"] == "b"
    assert found[f"{PREFIX}Gadget"]["properties"]["one"] == v3(f"{PREFIX}Gadget_v2")


def test_class_of_another_version_is_named_after_that() -> None:
    class Template(Model):
        part: Part | None = None

    class Pod(Object):
        template: Template | None = None

    class Deployment(Object):
        template: Template | None = None

    Template.__module__, Pod.__module__ = "apis.core.v1.types.template", "apis.core.v1.types.pod"
    Deployment.__module__ = "apis.apps.v1.types"
    core, apps = GroupVersion("", "v1"), GroupVersion("apps", "v1")
    index = VersionIndex([(core, Pod), (apps, Deployment)])

    kind = PublishedKind(apps.with_kind("Deployment"), Deployment)
    found = Definitions(V3, [kind], index=index).schemas()

    assert {"io.k8s.api.apps.v1.Deployment", "io.k8s.api.core.v1.Template"} <= set(found)
    # A class that no module assigns to a version belongs to the type that refers to it.
    assert "io.k8s.api.core.v1.Part" in found


ANYTHING = OpaqueType("io.example.any.Thing", "A thing.")


class Opaque(Object):
    one: Annotated[Part | bool | None, ANYTHING] = None
    many: list[Annotated[Any, ANYTHING]] = field(default_factory=list)


def test_opaque_type_has_a_definition_without_contents() -> None:
    for dialect, reference in ((V2, v2(ANYTHING.definition)), (V3, v3(ANYTHING.definition))):
        found = schemas(dialect, cls=Opaque)

        properties = found[f"{PREFIX}Gadget"]["properties"]
        assert properties["one"] == properties["many"]["items"] == reference
        assert found[ANYTHING.definition] == {"description": "A thing."}


class Written(Object):
    text: str = field("", omit_empty=False)
    count: Int32 = field(0, omit_empty=False)
    data: Bytes = field(b"", omit_empty=False)
    memory: Quantity = field(parse_quantity("0"), omit_empty=False)
    surge: IntOrString = field(0, omit_empty=False)
    omitted: str = ""
    replicas: Int32 | None = field(None, published_default=1)


def test_empty_default_of_a_plain_scalar_that_is_always_written_is_published() -> None:
    properties = schemas(cls=Written)[f"{PREFIX}Gadget"]["properties"]

    found = {name: about["default"] for name, about in properties.items() if "default" in about}
    assert found == {"text": "", "count": 0, "replicas": 1, "metadata": {}}


def test_default_that_differs_from_the_empty_model_is_written_out() -> None:
    class Inner(Model):
        size: int = 1
        text: str = ""

    class Outer(Object):
        plain: Inner = Inner()
        changed: Inner = Inner(text="x")

    properties = schemas(V3, Outer)[f"{PREFIX}Gadget"]["properties"]

    assert properties["plain"]["default"] == {}
    assert properties["changed"]["default"] == {"size": 1, "text": "x"}


def test_narrowest_of_several_bounds_counts() -> None:
    class Bounded(Object):
        a: Annotated[int, Field(ge=0), Field(ge=5), Field(gt=5), Field(le=9), Field(lt=9)] = 7

    found = schemas(V3, Bounded)[f"{PREFIX}Gadget"]["properties"]["a"]

    assert (found["minimum"], found["exclusiveMinimum"]) == (5, True)
    assert (found["maximum"], found["exclusiveMaximum"]) == (9, True)


def test_bound_that_is_not_a_number_is_left_out() -> None:
    class Bounded(Object):
        a: Annotated[Duration, Field(ge=timedelta())] = timedelta()

    assert schemas(V3, Bounded)[f"{PREFIX}Gadget"]["properties"]["a"] == v3(f"{META}Duration")


def test_type_without_a_form_is_refused_by_the_name_of_its_field() -> None:
    class Odd(Object):
        number: complex = 0j

    with pytest.raises(UnpublishableType, match=r"Odd\.number: OpenAPI has no type for"):
        schemas(V3, Odd)


def test_two_classes_cannot_be_one_kind() -> None:
    kinds = [PublishedKind(V1.with_kind("Gadget"), cls) for cls in (Gadget, Unstructured)]

    with pytest.raises(UnpublishableType, match="two classes are published as this kind"):
        Definitions(V3, kinds)


def test_reference_to_an_unknown_kind_is_refused() -> None:
    with pytest.raises(UnpublishableType, match="Kind=Other: the kind is not published"):
        Definitions(V3, []).reference(V1.with_kind("Other"))
