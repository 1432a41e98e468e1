"""Defaults of fields, which conversions read for every object."""

import gc

import pytest

from apimachinery import Model, field
from apimachinery.model.class_fields import fields_of


class Part(Model):
    size: int = 3


class Whole(Model):
    number: int = 1
    names: list[str] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)
    part: Part = field(default_factory=Part)
    made: list[int] = field(default_factory=lambda: [1, 2])


def test_each_default_is_a_value_of_its_own() -> None:
    defaults = {each.name: each.default for each in fields_of(Whole)}

    assert defaults == {"number": 1, "names": [], "labels": {}, "part": Part(), "made": [1, 2]}
    for each in fields_of(Whole)[1:]:
        assert each.default is not each.default


@pytest.mark.parametrize("name", ["names", "labels", "part"])
def test_a_default_leaves_nothing_to_collect(name: str) -> None:
    """pydantic parses the signature of a builtin anew each time, which leaves a syntax tree."""
    (found,) = [each for each in fields_of(Whole) if each.name == name]
    gc.collect()
    gc.disable()
    try:
        for _ in range(10):
            _ = found.default
        assert gc.collect() == 0
    finally:
        gc.enable()
