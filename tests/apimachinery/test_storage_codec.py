"""Stored bytes: what names their shape, and how objects of any shape are read."""

from collections.abc import Callable
from typing import Any, Literal

import orjson
import pytest

from apimachinery.codec import CorruptObject
from apimachinery.document_head import StoredForm, stored_form, stored_head
from apimachinery.evolution.field_tree import field_tree
from apimachinery.evolution.stored_shapes import StoredShapes
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.model.model import Model, field
from apimachinery.schema import GroupVersion
from apimachinery.scheme import NotRegistered, Scheme
from apimachinery.storage_codec import EVERYTHING, StorageCodec
from tests.apimachinery.evolution.lamps import GROUP, V1, lamp, list_of, map_of, model, scheme_of

OLD = lamp(color=(str, ""), watts=(int, 0))
INTERNAL = f"{GROUP}/__internal"
PART = model(size=(int, 0))


def stored(cls: type[Object], **spec: Any) -> bytes:
    """Return the bytes of an object of *cls*."""
    values = {"metadata": {"name": "desk", "labels": {"a": "b"}}, "spec": spec}
    return StorageCodec(scheme_of(cls)).encode(cls.model_validate(values))


def codec_of(
    scheme: Scheme,
    *known: type[Object],
    newer: type[Object] | None = None,
    first: type[Object] | None = None,
    **options: Any,
) -> StorageCodec:
    """Return a codec that knows the shapes of classes."""
    codec = StorageCodec(scheme, **options)
    trees = [field_tree(cls) for cls in (*known, *([newer] if newer else ()))]
    codec.know(
        StoredShapes(
            {tree.fingerprint: tree for tree in trees},
            frozenset((field_tree(newer).fingerprint,) if newer else ()),
            {INTERNAL: field_tree(first).fingerprint} if first else {},
        )
    )
    return codec


def spec_of(obj: Object) -> Any:
    return orjson.loads(obj.model_dump_json(by_alias=True))["spec"]


# Encoding


def test_the_head_names_the_kind_and_the_shape() -> None:
    data = stored(OLD, color="red")

    fingerprint = field_tree(OLD).fingerprint
    assert (
        data
        == (
            f'{{"kind":"Lamp","apiVersion":"{INTERNAL}","$shape":"{fingerprint}","metadata":{{'
            '"name":"desk","labels":{"a":"b"}},"spec":{"color":"red"}}'
        ).encode()
    )
    assert stored_form(data) == StoredForm("Lamp", INTERNAL, fingerprint)


def test_an_object_is_not_changed_by_encoding() -> None:
    codec = StorageCodec(scheme_of(OLD))
    obj = OLD.model_validate({"spec": {"color": "red"}})
    plain = codec.encode(obj)
    obj.kind, obj.api_version = "Lamp", str(V1)
    obj.metadata = ObjectMeta(resource_version="7", self_link="/here")
    before = obj.deep_copy()

    assert codec.encode(obj) == plain
    assert obj == before


def test_undeclared_fields_of_the_object_itself_are_stored() -> None:
    class Open(Object, extra="allow"):
        color: str = ""

    codec = StorageCodec(scheme_of(Open))
    obj = Open.model_validate({"color": "red", "more": {"x": 1}})
    marked = obj.deep_copy()
    marked.metadata.resource_version = "7"

    for source in (obj, marked):
        data = codec.encode(source)
        assert orjson.loads(data)["more"] == {"x": 1}
        assert codec.encode(codec.decode(data)) == data


class Versioned(Object, kind="Lamp"):
    tint: str = ""
    count: int = 0


class Internal(Object, kind="Lamp"):
    color: str = ""
    count: int = 0


def two_classes(to_internal: Callable[[Versioned], Internal] | None = None) -> Scheme:
    scheme = Scheme()
    scheme.add(V1, Versioned)
    scheme.add(GroupVersion(GROUP, "__internal"), Internal)
    scheme.add_similar(Versioned, Internal, renames={"tint": "color"})
    return scheme


def test_the_storage_version_is_named_and_has_a_shape_of_its_own() -> None:
    codec = StorageCodec(two_classes(), V1)

    data = codec.encode(Internal(color="red"))

    assert data.startswith(stored_head(V1.with_kind("Lamp"), field_tree(Versioned).fingerprint))
    assert orjson.loads(data)["tint"] == "red"
    assert codec.decode(data) == Internal(color="red")
    assert StorageCodec(two_classes()).decode(data) == Internal(color="red")


# Today's shape, and bytes without one


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data,
        lambda data: orjson.dumps(orjson.loads(data), option=orjson.OPT_INDENT_2),
        lambda data: orjson.dumps(dict(reversed(orjson.loads(data).items()))),
    ],
    ids=["as written", "indented", "in another order"],
)
def test_the_marker_is_found_wherever_it_is(change: Callable[[bytes], bytes]) -> None:
    new = lamp(color=(str, ""), watts=(int, 9))
    codec = codec_of(scheme_of(new), OLD)

    read = codec.read(change(stored(OLD, color="red")))

    assert spec_of(read.object) == {"color": "red", "watts": 0}
    assert read.is_complete


def test_bytes_without_a_marker_are_of_the_first_catalogued_shape() -> None:
    new = lamp(color=(str, ""), watts=(int, 9))
    document = orjson.loads(stored(OLD, color="red"))
    del document["$shape"]
    data = orjson.dumps(document)

    assert spec_of(codec_of(scheme_of(new), OLD, first=OLD).decode(data))["watts"] == 0
    assert spec_of(codec_of(scheme_of(new), OLD, first=new).decode(data))["watts"] == 9
    assert spec_of(StorageCodec(scheme_of(new)).decode(data))["watts"] == 9


def test_reading_never_validates() -> None:
    class Strict(Model):
        color: Literal["blue"] = field("blue", doc="A color.")
        watts: int = field(0, ge=100)

    new = lamp(color=(Literal["blue"], ""), watts=(int, field(0, ge=100)))
    read = StorageCodec(scheme_of(new)).read(stored(OLD, color="red", watts=5))

    assert read.is_complete
    assert spec_of(read.object) == {"color": "red", "watts": 5}


def test_the_fast_path_is_left_for_other_heads() -> None:
    """A codec remembers the last head of today's shape; others in between are read as their own."""
    new = lamp(color=(str, ""), watts=(int, 9))
    codec = codec_of(scheme_of(new), OLD)

    for _ in range(2):
        assert spec_of(codec.decode(stored(new, color="a")))["watts"] == 9
        assert spec_of(codec.decode(stored(OLD, color="a")))["watts"] == 0
    codec.know(StoredShapes())
    assert spec_of(codec.decode(stored(OLD, color="a")))["watts"] == 9


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"kind":"Lamp"}', b"null", b"\xff"])
def test_bytes_that_are_no_object_are_corrupt(data: bytes) -> None:
    codec = StorageCodec(scheme_of(OLD))
    for read in (codec.read, codec.decode):
        with pytest.raises(CorruptObject):
            read(data)


def test_a_kind_that_is_not_registered_is_named() -> None:
    data = stored(OLD).replace(b'"Lamp"', b'"Lantern"')
    with pytest.raises(NotRegistered, match="Lantern"):
        StorageCodec(scheme_of(OLD)).read(data)
    with pytest.raises(NotRegistered, match="Lantern"):
        StorageCodec(scheme_of(OLD)).decode(data)


# Other shapes


def test_a_shape_that_nobody_catalogued_is_read_and_nothing_undeclared_goes_unnoticed() -> None:
    codec = StorageCodec(scheme_of(lamp(color=(str, ""))))

    read = codec.read(stored(OLD, color="red", watts=5))

    assert spec_of(read.object) == {"color": "red"}
    assert read.lost == ("spec.watts",)
    assert not read.is_complete
    assert codec.read(stored(OLD, color="red")).is_complete


def test_a_newer_shape_is_read_without_the_steps_of_older_ones() -> None:
    newer = lamp(color=(str, ""), watts=(int, 60), socket=(str, ""))
    today = lamp(color=(str, ""), watts=(int, 0))
    scheme = scheme_of(today, renames={"spec.socket": "spec.color"}, dropped=["spec.socket"])
    codec = codec_of(scheme, newer=newer)

    read = codec.read(stored(newer, color="red", socket="E27"))

    assert spec_of(read.object) == {"color": "red", "watts": 60}
    assert read.lost == ("spec.socket",)


def test_accepted_losses_are_not_lost() -> None:
    tree = field_tree(OLD)
    codec = StorageCodec(scheme_of(lamp(color=(str, ""))))
    codec.know(StoredShapes({tree.fingerprint: tree}, accepted=("spec.watts",)))

    assert codec.read(stored(OLD, color="red", watts=5)).is_complete


def test_owners_of_renamed_fields_keep_them() -> None:
    new = lamp(tint=(str, ""), watts=(int, 0))
    entry = {
        "manager": "me",
        "operation": "Apply",
        "apiVersion": str(V1),
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:color": {}}},
    }
    obj = OLD.model_validate(
        {"metadata": {"name": "a", "managedFields": [entry]}, "spec": {"color": "red"}}
    )
    data = StorageCodec(scheme_of(OLD)).encode(obj)

    read = codec_of(scheme_of(new, renames={"spec.color": "spec.tint"}), OLD).decode(data)

    assert read.metadata.managed_fields[0].fields_v1 == {"f:spec": {"f:tint": {}}}


def test_objects_of_needless_upgrades_are_served_as_they_are() -> None:
    wider = lamp(color=(str, ""), watts=(int, 0), socket=(str, ""))
    other = lamp(color=(str, ""), watts=(int, 9))
    scheme = scheme_of(wider)
    codec = codec_of(scheme, OLD, other, wider, first=OLD)

    heads = codec.verbatim_heads(wider)

    kind = GroupVersion(GROUP, "__internal").with_kind("Lamp")
    assert heads == (
        stored_head(kind, field_tree(wider).fingerprint),
        stored_head(kind, field_tree(OLD).fingerprint),
        stored_head(kind),
    )


# Objects that cannot be read completely


def test_what_has_the_right_type_is_salvaged() -> None:
    old = lamp(color=(int, 0), slots=(map_of(model(size=(str, ""))), {}), watts=(int, 0))
    new = lamp(color=(str, ""), slots=(map_of(PART), {}), watts=(int, 0))
    codec = codec_of(scheme_of(new), old)

    read = codec.read(stored(old, color=3, watts=5, slots={"a:b": {"size": "x"}, "c": {}}))

    assert spec_of(read.object) == {"watts": 5, "slots": {"a:b": {}, "c": {}}}
    assert read.object.metadata.labels == {"a": "b"}
    assert set(read.left_out) == {"spec.color", "spec.slots.a:b.size"}
    assert {field_tree(new).declared(path) for path in read.left_out} == {
        "spec.color",
        "spec.slots.size",
    }
    assert "spec.color" in read.problem
    with pytest.raises(CorruptObject, match=r"spec\.color"):
        codec.decode(stored(old, color=3))


def test_an_object_that_became_a_list_is_left_out() -> None:
    old, new = lamp(part=(PART, ...), x=(int, 0)), lamp(part=(list_of(PART), []), x=(int, 0))

    read = codec_of(scheme_of(new), old).read(stored(old, part={"size": 1}, x=2))

    assert read.left_out == ("spec.part",)
    assert spec_of(read.object) == {"x": 2}


def test_damage_in_today_s_shape_is_the_failure_of_that_object() -> None:
    codec = StorageCodec(scheme_of(OLD))
    good = stored(OLD, color="red")
    codec.read(good)

    read = codec.read(good.replace(b'"red"', b"7"))

    assert read.left_out == ("spec.color",)
    assert read.object.metadata.name == "desk"
    assert codec.read(good).is_complete


def failing(value: Any) -> Any:
    raise RuntimeError("out of order")


def test_a_step_that_raises_leaves_the_metadata() -> None:
    new = lamp(color=(list[str], []), watts=(int, 0))
    codec = codec_of(scheme_of(new, retyped={"spec.color": failing}), OLD)

    read = codec.read(stored(OLD, color="red", watts=5))

    assert read.problem == "upgrading it failed: RuntimeError('out of order')"
    assert read.left_out == (EVERYTHING,)
    assert read.object.metadata.labels == {"a": "b"}
    assert isinstance(read.object, new)


def test_a_conversion_that_raises_leaves_the_metadata() -> None:
    scheme = Scheme()
    scheme.add(V1, Versioned)
    scheme.add(GroupVersion(GROUP, "__internal"), Internal)

    def to_internal(source: Versioned) -> Internal:
        if source.tint == "bad":
            raise RuntimeError("out of order")
        return Internal(metadata=source.metadata, color=source.tint)

    def to_version(source: Internal) -> Versioned:
        return Versioned(metadata=source.metadata, tint=source.color)

    scheme.add_conversion(to_internal, to_version)
    codec = StorageCodec(scheme, V1)

    bad = codec.read(codec.encode(Internal(metadata=ObjectMeta(name="a"), color="bad")))
    good = codec.read(codec.encode(Internal(color="good")))

    assert bad.problem == "converting it failed: RuntimeError('out of order')"
    assert (bad.object.metadata.name, bad.left_out) == ("a", (EVERYTHING,))
    assert isinstance(bad.object, Internal)
    assert good.is_complete


# New defaults


class Slot(Model):
    name: str = ""
    size: int = 0


class Spec(Model):
    color: str = ""
    watts: int = 0
    slots: dict[str, Slot] = field(default_factory=dict)
    parts: list[Slot] = field(default_factory=list)


class Bulb(Object, kind="Lamp"):
    spec: Spec


def set_defaults(spec: Spec) -> None:
    spec.color = spec.color or "white"
    spec.watts = spec.watts or 60
    for slot in (*spec.slots.values(), *spec.parts):
        slot.size = slot.size or 5


OLD_SLOT = model(name=(str, ""))
OLD_BULB = lamp(color=(str, ""), slots=(map_of(OLD_SLOT), {}), parts=(list_of(OLD_SLOT), []))


def bulbs(**options: Any) -> StorageCodec:
    scheme = scheme_of(Bulb)
    scheme.add_defaults(set_defaults)
    return codec_of(scheme, OLD_BULB, **options)


def test_new_fields_get_the_defaults_of_the_preferred_version() -> None:
    """Only new ones: an old field that is empty was empty on purpose, or before its default."""
    data = stored(OLD_BULB, slots={"size": {"name": "a"}}, parts=[{"name": "b"}, {}])

    read = bulbs(defaults_of=V1).read(data)

    assert read.is_complete
    assert spec_of(read.object) == {
        "watts": 60,
        "slots": {"size": {"name": "a", "size": 5}},
        "parts": [{"name": "b", "size": 5}, {"size": 5}],
    }
    assert spec_of(bulbs().decode(data))["parts"] == [{"name": "b"}, {}]


def test_objects_that_lack_new_defaults_are_not_served_as_they_are() -> None:
    """All new fields are omitted when empty, but a function sets them."""
    assert len(bulbs(defaults_of=V1).verbatim_heads(Bulb)) == 2
    old = stored_head(
        GroupVersion(GROUP, "__internal").with_kind("Lamp"), field_tree(OLD_BULB).fingerprint
    )
    assert old not in bulbs(defaults_of=V1).verbatim_heads(Bulb)


def test_a_new_field_beside_a_moved_one_gets_its_default() -> None:
    class Light(Model):
        tint: str = ""
        watts: int = 0

    def light_defaults(light: Light) -> None:
        light.watts = light.watts or 60

    new = lamp(light=(Light | None, None))
    scheme = scheme_of(new, renames={"spec.color": "spec.light.tint"})
    scheme.add_defaults(light_defaults)
    codec = codec_of(scheme, lamp(color=(str, "")), defaults_of=V1)

    read = codec.decode(stored(lamp(color=(str, "")), color="red"))

    assert spec_of(read) == {"light": {"tint": "red", "watts": 60}}
