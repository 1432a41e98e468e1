"""The rules that fields declare: enumerations, immutable and selectable fields."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from apimachinery.meta.types import Condition, Object
from apimachinery.model.declared_rules import has_declared, selectable_fields, validate_declared
from apimachinery.model.decoding import decode_json
from apimachinery.model.model import Model, field

COLORS = ("red", "green")
UNSUPPORTED = 'Unsupported value: "pink": supported values: "green", "red"'


class Bulb(Model):
    name: str = ""
    color: str = field("", enum=COLORS)
    socket: str = field("", immutable=True)


class Shade(Model):
    color: str | None = field(None, enum=COLORS)
    shades: "list[Shade]" = field(default_factory=list)


class LampSpec(Model):
    color: str = field("", enum=COLORS, selectable=True)
    mood: str = field("", known=("warm", "cold"), publish_enum=True)
    must: str = field("red", enum=COLORS)
    palette: list[str] = field(default_factory=list, enum=COLORS)
    by_room: dict[str, str] = field(default_factory=dict, enum=COLORS)
    bulbs: list[Bulb] = field(default_factory=list, list_map_keys=("name",))
    spare: list[Bulb] = field(default_factory=list)
    rooms: dict[str, Bulb] = field(default_factory=dict)
    shade: Shade | None = None
    model: str | None = field(None, immutable=True, selectable=True)
    sizes: list[int] | None = field(None, immutable=True)


class LampStatus(Model):
    phase: str = field("", enum=("On", "Off"))


class Lamp(Object):
    spec: LampSpec = field(default_factory=LampSpec)
    status: LampStatus = field(default_factory=LampStatus)


class Plain(Object):
    text: str = field("", known=("a",))


def errors(new: Model, old: Model | None = None, **options: Any) -> list[str]:
    return [str(error) for error in validate_declared(new, old, **options)]


def lamp(**spec: Any) -> Lamp:
    return Lamp(spec=LampSpec(**spec))


def test_every_value_outside_an_enumeration_is_an_error() -> None:
    pink = lamp(
        color="pink",
        mood="pink",
        must="",
        palette=["red", "pink", ""],
        by_room={"hall": "pink", "attic": "red"},
        bulbs=[Bulb(), Bulb(color="pink")],
        rooms={"hall": Bulb(color="pink")},
        shade=Shade(color="", shades=[Shade(color="pink")]),
    )
    empty = UNSUPPORTED.replace("pink", "")

    assert errors(pink) == [
        f"spec.color: {UNSUPPORTED}",
        f"spec.must: {empty}",
        f"spec.palette[1]: {UNSUPPORTED}",
        f"spec.palette[2]: {empty}",
        f"spec.byRoom[hall]: {UNSUPPORTED}",
        f"spec.bulbs[1].color: {UNSUPPORTED}",
        f"spec.rooms[hall].color: {UNSUPPORTED}",
        f"spec.shade.color: {empty}",
        f"spec.shade.shades[0].color: {UNSUPPORTED}",
    ]


def test_an_unset_value_is_no_error() -> None:
    assert errors(lamp()) == []
    assert errors(lamp(color="red", model="a", bulbs=[Bulb(socket="E27")])) == []


def test_decoding_accepts_any_value() -> None:
    document = b'{"spec": {"color": "pink"}}'

    assert decode_json(Lamp, document, find_unknown=False).object.spec.color == "pink"


def test_an_unchanged_value_is_not_validated_again() -> None:
    old = lamp(
        color="pink",
        palette=["pink"],
        by_room={"hall": "pink"},
        bulbs=[Bulb(name="a", color="pink"), Bulb(name="b")],
        spare=[Bulb(color="pink")],
    )
    new = old.deep_copy()
    new.spec.mood = "warm"
    new.spec.palette = ["red", "pink"]
    new.spec.by_room["attic"] = "green"
    new.spec.bulbs.reverse()

    assert errors(new, old) == []

    new.spec.by_room["attic"] = "pink"
    new.spec.bulbs[0].color = "pink"
    new.spec.spare.append(Bulb())

    assert errors(new, old) == [
        f"spec.byRoom[attic]: {UNSUPPORTED}",
        f"spec.bulbs[0].color: {UNSUPPORTED}",
        f"spec.spare[0].color: {UNSUPPORTED}",
    ]


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [("a", "b", '"b"'), (None, "b", '"b"'), ("a", None, "null"), ("a", "", '""')],
)
def test_an_immutable_field_cannot_be_changed_set_or_unset(
    before: str | None, after: str | None, value: str
) -> None:
    assert errors(lamp(model=after), lamp(model=before)) == [
        f"spec.model: Invalid value: {value}: field is immutable"
    ]
    assert errors(lamp(model=before), lamp(model=before)) == []


def test_an_empty_list_is_an_unset_one() -> None:
    assert errors(lamp(sizes=[]), lamp()) == []
    assert errors(lamp(sizes=[1]), lamp(sizes=[1, 2])) == [
        "spec.sizes: Invalid value: [1]: field is immutable"
    ]


def test_immutable_fields_of_items_are_compared_by_key() -> None:
    old = lamp(
        bulbs=[Bulb(name="a", socket="E14"), Bulb(name="b", socket="E27")],
        rooms={"hall": Bulb(socket="E14")},
        spare=[Bulb(socket="E14")],
    )
    new = lamp(
        bulbs=[
            Bulb(name="new", socket="E27"),
            Bulb(name="b", socket="E14"),
            Bulb(name="a", socket="E14"),
        ],
        rooms={"hall": Bulb(socket="GU10"), "attic": Bulb(socket="E14")},
        spare=[Bulb(socket="E27")],
    )

    assert errors(new, old) == [
        'spec.bulbs[1].socket: Invalid value: "E14": field is immutable',
        'spec.rooms[hall].socket: Invalid value: "GU10": field is immutable',
    ]


def test_a_path_is_reported_once() -> None:
    class Both(Model):
        color: str = field("", enum=COLORS, immutable=True)

    assert errors(Both(color="pink"), Both(color="red")) == [
        'color: Invalid value: "pink": field is immutable'
    ]


def test_a_part_can_be_validated_alone() -> None:
    wrong = Lamp(spec=LampSpec(color="pink"), status=LampStatus(phase="pink"))

    assert errors(wrong, only="status") == [
        'status.phase: Unsupported value: "pink": supported values: "Off", "On"'
    ]


def test_classes_without_rules_are_known() -> None:
    assert has_declared(Lamp) and has_declared(Condition)
    assert not has_declared(Plain)


class Annotations(Model):
    """Metadata of annotations need not be hashable."""

    names: list[Annotated[str, Field(min_length=1)]] = field(default_factory=list)
    sizes: dict[str, Annotated[int, {"unit": "MiB"}]] = field(default_factory=dict)
    lamps: list[Annotated[Plain, ["shelf"]]] | None = None


def test_selectable_fields_are_looked_for_in_any_annotation() -> None:
    assert selectable_fields(Annotations) == {}


def test_selectable_fields_are_found_by_path() -> None:
    assert selectable_fields(Lamp) == {"spec.color": "spec.color", "spec.model": "spec.model"}
    assert selectable_fields(Plain) == {}


def test_a_field_of_an_item_is_not_selectable() -> None:
    class Part(Model):
        name: str = field("", selectable=True)

    class Machine(Object):
        parts: list[Part] = field(default_factory=list)

    with pytest.raises(TypeError, match=r"Machine: parts\.name is selectable, but parts is a list"):
        selectable_fields(Machine)
