"""What a kind may not declare, found when it is registered."""

from datetime import timedelta

import pytest

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apimachinery.schema import INTERNAL, GroupVersion
from apimachinery.scheme import RegistrationError, Scheme

GROUP = "lamps.example.io"


class Timer(Model):
    wait: Duration = timedelta(seconds=1)
    plain: timedelta = timedelta(seconds=1)


class TimedSpec(Model):
    timers: list[Timer] = field(default_factory=list)
    limits: dict[str, timedelta | None] = field(default_factory=dict)
    either: timedelta | str | None = None
    sound: Duration | None = None


class Timed(Object):
    spec: TimedSpec = TimedSpec()


class Tags(Model):
    plain: set[str] = field(default_factory=set)
    nested: dict[str, list[frozenset[int]]] = field(default_factory=dict)
    either: set[str] | str | None = None
    sound: list[str] = field(default_factory=list, list_type="set")


class Tagged(Object):
    spec: Tags = Tags()


class Part(Model):
    name: str = ""
    socket: str = field("", immutable=True)
    parts: "list[Part]" = field(default_factory=list, list_map_keys=("name",))


class Tree(Model):
    kind: str = field("", immutable=True)
    branches: "list[Tree]" = field(default_factory=list)


class Place(Model):
    zone: str = field("", selectable=True)


class Machine(Object):
    place: Place = Place()
    places: dict[str, Place] = field(default_factory=dict)
    keyed: list[Part] = field(default_factory=list, list_map_keys=("name",))
    named: dict[str, Part] = field(default_factory=dict)
    spare: list[Part] = field(default_factory=list)
    tree: Tree | None = None
    shelves: dict[str, list[Part]] = field(default_factory=dict)


def test_a_plain_timedelta_is_refused_in_a_version() -> None:
    with pytest.raises(RegistrationError) as refused:
        Scheme().add(GroupVersion(GROUP, "v1"), Timed)

    text = str(refused.value)
    assert f"{GROUP}/v1, Kind=Timed cannot be {__name__}.Timed: " in text
    assert [problem.split()[0] for problem in text.partition("Timed: ")[2].split("; ")] == [
        "spec.timers.plain",
        "spec.limits",
        "spec.either",
    ]
    assert text.endswith(
        "spec.either is a plain timedelta, which is no wire type: use"
        " apimachinery.scalars.duration.Duration"
    )


@pytest.mark.parametrize("version", ["v1", INTERNAL])
def test_a_set_is_refused_in_every_version(version: str) -> None:
    with pytest.raises(RegistrationError) as refused:
        Scheme().add(GroupVersion(GROUP, version), Tagged)

    problems = str(refused.value).partition("Tagged: ")[2].split("; ")
    assert [problem.split()[0] for problem in problems] == [
        "spec.plain",
        "spec.nested",
        "spec.either",
    ]
    assert problems[0].endswith(
        'is a set, which JSON does not have: use a list with list_type="set"'
    )


def test_an_internal_class_may_have_a_timedelta() -> None:
    Scheme().add(GroupVersion(GROUP, INTERNAL), Timed)


def test_rules_that_cannot_be_kept_are_refused_everywhere() -> None:
    with pytest.raises(RegistrationError) as refused:
        Scheme().add(GroupVersion(GROUP, INTERNAL), Machine)

    assert str(refused.value).partition("Machine: ")[2].split("; ") == [
        "places.zone is selectable, but places is a list or map: field selectors need a field with"
        " one value",
        "spare.socket is immutable, but items of spare cannot be compared with stored ones:"
        " declare its list_map_keys",
        "tree.branches.kind is immutable, but items of tree.branches cannot be compared with stored"
        " ones: declare its list_map_keys",
        "shelves.socket is immutable, but items of shelves cannot be compared with stored ones:"
        " declare its list_map_keys",
    ]
