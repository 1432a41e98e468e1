"""Classes are built ahead of their use, and those that cannot be built are named."""

from apimachinery.model.class_building import build_classes
from apimachinery.model.model import Model, field


class Sound(Model):
    children: "list[Sound]" = field(default_factory=list)


class Opaque:
    """A class that is no API type."""


class Broken(Model):
    opaque: Opaque = field(default_factory=Opaque)


class Outer(Model):
    parts: list[Broken] = field(default_factory=list)
    sound: Sound = field(default_factory=Sound)


class Dangling(Model):
    other: "Missing" = field(None)  # type: ignore[name-defined]  # noqa: F821


class Late(Model):
    broken: "LateBroken | None" = field(None)


class LateBroken(Model):
    opaque: Opaque = field(default_factory=Opaque)


def test_classes_that_can_be_built_are_complete_afterwards() -> None:
    assert build_classes([Sound]) == {}
    assert Sound.__pydantic_complete__


def test_the_innermost_class_has_the_error() -> None:
    broken = build_classes([Outer])

    assert set(broken) == {Outer, Broken}
    assert broken[Outer] is None
    assert "Opaque" in str(broken[Broken])


def test_an_annotation_that_names_nothing_is_found() -> None:
    assert "Missing" in str(build_classes([Dangling])[Dangling])


def test_a_class_that_is_referred_to_forward_is_found() -> None:
    broken = build_classes([LateBroken, Late])

    assert set(broken) == {Late, LateBroken}
    assert broken[LateBroken] is not None
