"""What is stored can be read, whatever today's rules say about it."""

from datetime import UTC, datetime, timedelta
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Predicate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    PrivateAttr,
    ValidationError,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from apimachinery.codec import dump_json
from apimachinery.lenient.lenient_decoding import decode_leniently
from apimachinery.meta.types import Object
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Bytes, Int32, RawExtension
from apimachinery.schema import GroupVersionKind
from apimachinery.testing import objects
from tests.apis.filled import filled
from tests.apis.test_roundtrip import SCHEME

ALL = [(kind, cls) for kind, cls in SCHEME.all_kinds().items() if issubclass(cls, Object)]


@pytest.mark.parametrize(("kind", "cls"), ALL, ids=[str(kind) for kind, _ in ALL])
def test_a_valid_object_is_read_as_it_is_decoded(kind: GroupVersionKind, cls: type[Object]) -> None:
    @settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
    @given(obj=st.one_of(st.just(filled(cls)), objects(cls)))
    def check(obj: Object) -> None:
        data = dump_json(obj)

        read = decode_leniently(cls, data)

        assert read == decode_json(cls, data).object
        assert dump_json(read) == data

    check()


def value(annotation: Any, json: str, **options: Any) -> Any:
    """Read a value of a type, which the type itself refuses; its encoding is the value again."""

    class Holder(Model):
        it: annotation = field(**options)

    with pytest.raises(ValidationError):
        Holder.model_validate_json(f'{{"it":{json}}}')
    read = decode_leniently(Holder, f'{{"it":{json}}}')
    assert dump_json(read).decode() == f'{{"it":{json}}}'
    return read.it


@pytest.mark.parametrize(
    ("annotation", "options", "json"),
    [
        (int, {"ge": 5}, "4"),
        (int, {"gt": 5}, "5"),
        (int | None, {"lt": 5}, "5"),
        (int, {"multiple_of": 5}, "4"),
        (Int32, {}, "2147483648"),
        (float, {"le": 0.5}, "1.5"),
        (str, {"min_length": 1}, '""'),
        (str, {"max_length": 1}, '"ab"'),
        (str, {"pattern": "^a$"}, '"b"'),
        (list[int], {"min_length": 1}, "[]"),
        (dict[str, int], {"max_length": 1}, '{"a":1,"b":2}'),
        (list[Annotated[str, Predicate(str.isupper)]], {}, '["a"]'),
        (Duration, {"ge": timedelta(seconds=5)}, '"1s"'),
        (Duration | None, {"lt": timedelta(seconds=1)}, '"1s"'),
        (Bytes, {"max_length": 1}, '"YWI="'),
    ],
)
def test_bounds_are_not_checked(annotation: Any, options: dict[str, Any], json: str) -> None:
    value(annotation, json, **options)


@pytest.mark.parametrize(
    ("annotation", "json", "expected"),
    [
        (Literal["a", "b"], '"c"', "c"),
        (Literal["a"] | None, '"c"', "c"),
        (list[Literal["a", "b"]], '["a","c"]', ["a", "c"]),
        (dict[Literal["a"], Literal[1]], '{"b":2}', {"b": 2}),
        (Literal["a", 1], "2", 2),
        (Literal["a", 1, True], "false", False),
    ],
)
def test_a_literal_is_any_value_of_its_types(annotation: Any, json: str, expected: Any) -> None:
    assert value(annotation, json) == expected


@pytest.mark.parametrize("wrong", ["1", "true", "{}", "[]", "1.5"])
def test_a_literal_still_has_a_type(wrong: str) -> None:
    class Holder(Model):
        it: Literal["a", "b"]

    with pytest.raises(DecodeError, match=r"cannot unmarshal .* Holder.it of type string"):
        decode_leniently(Holder, f'{{"it":{wrong}}}')


class Color(Enum):
    RED = "red"


class Shade(StrEnum):
    DARK = "dark"


class Level(IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    ("annotation", "json", "expected"),
    [(Color, '"blue"', "blue"), (Shade, '"light"', "light"), (Level, "7", 7)],
)
def test_an_unknown_member_of_an_enum_has_a_value(
    annotation: type[Enum], json: str, expected: Any
) -> None:
    """It is encoded without pydantic's warning about a value of the wrong type."""
    read, again = value(annotation, json), value(annotation, json)

    assert (read.value, type(read)) == (expected, annotation)
    assert read is again
    assert read not in list(annotation)
    with pytest.raises(ValueError, match=str(expected)):
        annotation(expected)


def test_known_members_of_an_enum_and_of_literals_stay_what_they_are() -> None:
    class Holder(Model):
        color: Color
        literal: Literal[Shade.DARK]
        shades: list[Shade]

    read = decode_leniently(Holder, '{"color":"red","literal":"dark","shades":["dark","?"]}')

    assert (read.color, read.shades[0]) == (Color.RED, Shade.DARK)
    assert read.literal is Shade.DARK
    with pytest.raises(DecodeError, match="color: must be of type str"):
        decode_leniently(Holder, '{"color":1}')


class Part(Model):
    size: int
    name: str = field("part", min_length=1)
    inner: "list[Part]"


class Celsius:
    """A wire type of a user, with its own schema."""

    def __init__(self, degrees: float) -> None:
        self.degrees = degrees

    @classmethod
    def __get_pydantic_core_schema__(cls, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            cls.parse,
            core_schema.str_schema(),
            serialization=core_schema.plain_serializer_function_ser_schema(cls.format),
        )

    @classmethod
    def parse(cls, text: str) -> "Celsius":
        if not text.endswith("C"):
            raise ValueError("not a temperature")
        return cls(float(text[:-1]))

    def format(self) -> str:
        return f"{self.degrees}C"


@pytest.mark.parametrize(
    ("annotation", "zero"),
    [
        (str, ""),
        (int, 0),
        (Int32, 0),
        (float, 0.0),
        (bool, False),
        (Bytes, b""),
        (list[Part], []),
        (dict[str, Part], {}),
        (RawExtension, {}),
        (Quantity, Quantity("0")),
        (Duration, timedelta(0)),
        (IntOrString, 0),
        (Literal["a", "b"], ""),
        (str | None, None),
        (Any, None),
        (Time, datetime(1, 1, 1, tzinfo=UTC)),
        (MicroTime, datetime(1, 1, 1, tzinfo=UTC)),
        (Annotated[str, BeforeValidator(str.upper)], ""),
    ],
)
@pytest.mark.parametrize("document", ["{}", '{"it":null}'])
def test_a_missing_field_is_the_zero_of_its_type(annotation: Any, zero: Any, document: str) -> None:
    """The zero can be encoded, and decoded again."""

    class Holder(Model):
        it: annotation

    read = decode_leniently(Holder, document)

    assert (read.it, type(read.it)) == (zero, type(zero))
    assert decode_leniently(Holder, dump_json(read)) == read


def test_a_missing_part_has_zeros_and_defaults() -> None:
    class Holder(Model):
        it: Part
        other: Part

    read = decode_leniently(Holder, '{"other":{"inner":[{}]}}')

    assert read.it == Part(size=0, name="part", inner=[])
    assert read.other.inner == [read.it]
    assert read.it.inner is not read.other.inner[0].inner


def test_a_missing_member_of_an_enum_and_a_type_without_a_zero() -> None:
    class Holder(Model):
        shade: Shade
        heat: Celsius
        many: list[Celsius] = field(default_factory=list)

    read = decode_leniently(Holder, "{}")

    assert dump_json(read) == b'{"shade":""}'
    assert decode_leniently(Holder, '{"heat":null}') == read
    with pytest.raises(DecodeError, match=r"many\[0\]: .*must not be null"):
        decode_leniently(Holder, '{"many":[null]}')


@pytest.mark.parametrize(
    ("annotation", "options", "json", "expected"),
    [
        (int, {"default": 5}, "null", 5),
        (str, {"default": ""}, "null", ""),
        (Time, {"default": None}, "null", None),
        (Part, {"default_factory": lambda: Part(size=3, inner=[])}, "null", Part(size=3, inner=[])),
        (list[str], {}, '["a",null]', ["a", ""]),
        (list[Part], {}, "[null]", [Part(size=0, inner=[])]),
        (dict[str, Duration], {}, '{"a":null}', {"a": timedelta(0)}),
        (list[str | None], {}, "[null]", [None]),
        (list[Any], {}, "[null]", [None]),
        (Quantity, {"default": Quantity("5")}, "null", Quantity("0")),
    ],
)
def test_a_null_is_an_absent_field_or_a_zero_element(
    annotation: Any, options: dict[str, Any], json: str, expected: Any
) -> None:
    """A null that the type itself decodes is what the type makes of it, whatever else is null."""

    class Holder(Model):
        it: annotation = field(**options)
        other: int = 0

    read = decode_leniently(Holder, f'{{"it":{json},"other":null}}')

    assert read.it == expected


class Closed(Model):
    model_config = ConfigDict(extra="forbid")

    name: str = ""


class Open(Model):
    model_config = ConfigDict(extra="allow", str_max_length=3)

    name: str = ""


def test_unknown_fields_are_ignored_or_kept() -> None:
    class Holder(Model):
        closed: Closed
        open_: Open

    read = decode_leniently(
        Holder, '{"closed":{"name":"a","x":1},"open":{"name":"long","x":1},"x":1}'
    )

    assert read == Holder(closed=Closed(name="a"), open_=read.open_)
    assert (read.open_.name, read.open_.model_extra) == ("long", {"x": 1})


def test_only_wire_names_are_read() -> None:
    class Holder(Model):
        two_words: str = ""

    assert decode_leniently(Holder, '{"two_words":"a"}').two_words == ""
    assert decode_leniently(Holder, '{"twoWords":"a"}').two_words == "a"


def refuse(value: Any) -> Any:
    raise ValueError("refused")


def refuse_around(value: Any, decode: Any) -> Any:
    raise ValueError("refused")


def test_rules_are_not_applied() -> None:
    class Ruled(Model):
        low: int = 0
        high: int = 0
        after: Annotated[str, AfterValidator(refuse)] = ""
        items: list[Annotated[str, WrapValidator(refuse_around)]] = field(default_factory=list)
        before: Annotated[str, BeforeValidator(refuse)] = ""
        decorated: str = ""

        @field_validator("decorated")
        @classmethod
        def _check(cls, decorated: str) -> str:
            return str(refuse(decorated))

        @model_validator(mode="after")
        def _in_order(self) -> "Ruled":
            assert self.low <= self.high
            return self

        @model_validator(mode="wrap")
        @classmethod
        def _around(cls, data: Any, handler: Any) -> "Ruled":
            raise ValueError("refused")

        def model_post_init(self, _: Any) -> None:
            raise ValueError("refused")

    class Holder(Model):
        many: list[Ruled]

    ruled = '{"low":2,"high":1,"after":"a","items":["b"],"before":"c","decorated":"d"}'

    read = decode_leniently(Holder, f'{{"many":[{ruled}]}}')

    assert dump_json(read).decode() == f'{{"many":[{ruled}]}}'


def test_rules_before_decoding_translate_what_they_know() -> None:
    class Renamed(Model):
        name: str = ""
        tags: Annotated[list[str], BeforeValidator(lambda text: text.split(","))]

        @model_validator(mode="before")
        @classmethod
        def _rename(cls, data: Any) -> Any:
            return {**data, "name": data["oldName"]}

    assert decode_leniently(Renamed, '{"oldName":"a","tags":"b,c"}') == Renamed.model_construct(
        name="a", tags=["b", "c"]
    )
    assert decode_leniently(Renamed, '{"name":"a","tags":["b"]}').tags == ["b"]


def test_wire_types_are_parsed() -> None:
    class Holder(Model):
        quantity: Quantity
        duration: Duration = field(ge=timedelta(days=1))
        time: Time
        bytes_: Bytes
        celsius: Celsius
        many: list[Annotated[Celsius, AfterValidator(refuse)]]

    data = (
        '{"quantity":"1500m","duration":"1m0s","time":"2024-01-01T00:00:00Z","bytes":"YWI=",'
        '"celsius":"20.5C","many":["1.0C"]}'
    )

    read = decode_leniently(Holder, data)

    assert read.quantity == Quantity("1.5")
    assert read.time == datetime(2024, 1, 1, tzinfo=UTC)
    assert read.bytes_ == b"ab"
    assert (read.celsius.degrees, read.many[0].degrees) == (20.5, 1.0)
    assert dump_json(read).decode() == data


@pytest.mark.parametrize(
    ("annotation", "json", "message"),
    [
        (int, '"5"', r"json: cannot unmarshal string into Go struct field Holder.it of type int64"),
        (int, "1.5", r"json: cannot unmarshal number 1.5 into .* of type int64"),
        (bool, "1", r"json: cannot unmarshal number into .* of type bool"),
        (Part, "[]", r"json: cannot unmarshal array into .*Holder.it of type \w+\.Part"),
        (Duration, '"soon"', r"it: time: invalid duration"),
        (Quantity, '"lots"', r"it: .*quantit"),
        (Celsius, '"cold"', r"it: .*not a temperature"),
        (Celsius, '"xC"', r"it: .*could not convert"),
        (Literal["a", 1], "[]", r"it: must be of type str or int"),
    ],
)
def test_a_value_of_the_wrong_type_cannot_be_decoded(
    annotation: Any, json: str, message: str
) -> None:
    class Holder(Model):
        it: annotation

    with pytest.raises(DecodeError, match=message) as caught:
        decode_leniently(Holder, f'{{"it":{json}}}')
    assert caught.value.fields == ()


def test_a_parser_that_does_not_expect_its_input_is_a_decode_error() -> None:
    class Careless:
        @classmethod
        def __get_pydantic_core_schema__(cls, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
            return core_schema.no_info_plain_validator_function(lambda text: text.strip())

    class Holder(Model):
        it: Annotated[Any, Careless]

    with pytest.raises(DecodeError, match=r"it: .*AttributeError"):
        decode_leniently(Holder, '{"it":5}')
    assert decode_leniently(Holder, '{"it":" a "}').it == "a"


@pytest.mark.parametrize("data", [b"", b"{", b'{"it":}', b"\xff", b'{"it":1}x'])
def test_what_is_not_json_cannot_be_decoded(data: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_leniently(Part, data)


@pytest.mark.parametrize("data", ["null", "[]", '"a"', "1"])
def test_only_objects_are_decoded(data: str) -> None:
    with pytest.raises(DecodeError, match=r"into Go value of type \w+\.Part"):
        decode_leniently(Part, data)


def test_a_union_still_tells_models_apart() -> None:
    class Cat(Model):
        kind: Literal["cat"]
        name: str = ""

    class Dog(Model):
        kind: Literal["dog"]
        name: str = ""

    class Holder(Model):
        pets: list[Cat | Dog]

    read = decode_leniently(Holder, '{"pets":[{"kind":"cat"},{"kind":"dog","name":"a"}]}')

    assert read.pets == [Cat(kind="cat"), Dog(kind="dog", name="a")]


def test_a_class_keeps_its_own_validator_and_private_attributes() -> None:
    class Parent(Model):
        size: int = field(ge=5)
        _seen: list[int] = PrivateAttr(default_factory=list)

    class Child(Parent):
        name: str

    assert decode_leniently(Parent, '{"size":1}')._seen == []
    assert decode_leniently(Child, '{"size":1,"name":"a"}').name == "a"
    with pytest.raises(ValidationError):
        Parent.model_validate_json('{"size":1}')
    with pytest.raises(ValidationError):
        Child(size=1, name="a")
