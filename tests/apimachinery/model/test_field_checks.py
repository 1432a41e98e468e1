"""Bounds, enumerations and defaults that do not fit are refused when the class is made."""

from datetime import UTC, datetime, timedelta
from types import new_class
from typing import Any, Literal, NewType, cast

import pytest

from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Bytes, Int32

Port = NewType("Port", int)


def declare(annotation: Any, info: Any) -> type[Model]:
    """Make a class `Spec` with one field `size`."""
    namespace = {"__module__": __name__, "__annotations__": {"size": annotation}, "size": info}
    return new_class("Spec", (Model,), exec_body=lambda body: body.update(namespace))


@pytest.mark.parametrize(
    ("annotation", "info", "problem"),
    [
        (str, field(ge=1), "Spec.size: ge=1 does not fit str"),
        (bool, field(le=1), "Spec.size: le=1 does not fit bool"),
        (int, field(gt="a"), "Spec.size: gt='a' does not fit int"),
        (int | None, field(None, pattern="a"), "Spec.size: pattern='a' does not fit int"),
        (str, field(pattern="a("), "Spec.size: pattern='a(' does not fit str"),
        (Port, field(max_length=3), "Spec.size: max_length=3 does not fit int"),
        (str, field(multiple_of=2), "Spec.size: multiple_of=2 does not fit str"),
        (Duration, field(ge=1), "Spec.size: ge=1 does not fit timedelta"),
        (Quantity, field(ge=1), "Spec.size: ge=1 does not fit Quantity"),
        (IntOrString, field(ge=1), "Spec.size: ge=1 does not fit int | str"),
        (list[int], field(ge=1), "Spec.size: ge=1 does not fit list[int]"),
        (int, field(enum=("a",)), "Spec.size: enum=('a',) does not fit int"),
        (list[int], field(known=("a",)), "Spec.size: known=('a',) does not fit list[int]"),
        (
            Literal["a"],
            field(enum=("a",)),
            "Spec.size: enum=('a',) does not fit typing.Literal['a']",
        ),
        (str, field(enum=cast(Any, "abc")), "Spec.size: enum='abc' is not a tuple of strings"),
        (
            str,
            field(enum=("a",), known=("b",)),
            "Spec.size: enum and known exclude each other: a set is closed or open",
        ),
        (
            str,
            field(publish_enum=True),
            "Spec.size: publish_enum without enum or known: there is no value to publish",
        ),
        (
            float,
            field(selectable=True),
            "Spec.size: selectable=True does not fit float: field selectors compare strings,"
            " integers and booleans",
        ),
    ],
)
def test_what_does_not_fit_the_type_is_refused(annotation: Any, info: Any, problem: str) -> None:
    with pytest.raises(TypeError) as refused:
        declare(annotation, info)

    assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("annotation", "info", "problem"),
    [
        (int, field(5, le=3), "Spec.size: its default 5 breaks le=3"),
        (Int32, field(0, ge=1, omit_empty=False), "Spec.size: its default 0 breaks ge=1"),
        (int, field(3, multiple_of=2), "Spec.size: its default 3 breaks multiple_of=2"),
        (str, field("b", pattern="^a$"), "Spec.size: its default 'b' breaks pattern='^a$'"),
        (Bytes, field(b"abc", max_length=2), "Spec.size: its default b'abc' breaks max_length=2"),
        (str, field("b", enum=("a",)), "Spec.size: its default 'b' is not in enum=('a',)"),
        (
            list[str],
            field(default_factory=lambda: ["a", "b"], enum=("a",)),
            "Spec.size: its default 'b' is not in enum=('a',)",
        ),
    ],
)
def test_a_default_keeps_the_rules_of_its_field(annotation: Any, info: Any, problem: str) -> None:
    with pytest.raises(TypeError) as refused:
        declare(annotation, info)

    assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("annotation", "info"),
    [
        (int, field(0, ge=1)),
        (str, field("", enum=("a",))),
        (str, field("", omit_empty=False, enum=("a",))),
        (str | None, field(None, min_length=1)),
        (dict[str, str], field(default_factory=dict, min_length=1)),
        (Port, field(Port(80), ge=1)),
        (float, field(0.5, lt=1)),
        (Duration | None, field(None, ge=timedelta(seconds=1))),
        (Time | None, field(None, ge=datetime(2020, 1, 1, tzinfo=UTC))),
        (list[str], field(default_factory=list, enum=("a",))),
        (str, field("c", known=("a", "b"))),
        (bool, field(False, selectable=True)),
    ],
)
def test_what_fits_can_be_compiled_and_empty_means_unset(annotation: Any, info: Any) -> None:
    declare(annotation, info).model_rebuild()


def test_a_class_with_unresolved_annotations_is_checked_when_it_is_compiled() -> None:
    class Early(Model):
        later: "Later"
        sizes: "list[Later]" = field(pattern="a")

    class Later(Model):
        pass

    with pytest.raises(TypeError, match=r"Early\.sizes: pattern='a' does not fit list\[.*Later\]"):
        Early.model_rebuild(_types_namespace={"Later": Later})
