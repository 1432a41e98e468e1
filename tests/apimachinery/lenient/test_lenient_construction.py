"""Constructing objects whose values break constraints."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Literal

import pytest
from pydantic import ValidationError

from apimachinery.lenient.lenient_construction import constructing_leniently
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration


class Inner(Model):
    size: int = field(1, ge=1)


class Outer(Model):
    name: str = field(min_length=3)
    color: Literal["red"] = "red"
    inner: Inner = Inner()
    wait: Duration = field(timedelta(seconds=5), ge=timedelta(seconds=5))


def test_constraints_are_not_checked_inside_the_block() -> None:
    with constructing_leniently():
        made = Outer(name="a", color="blue", inner=Inner(size=0), wait=timedelta())  # type: ignore[arg-type]

    assert (made.name, made.color, made.inner.size, made.wait) == ("a", "blue", 0, timedelta())
    with pytest.raises(ValidationError):
        Outer(name="a")


def test_types_are_checked_inside_the_block() -> None:
    with constructing_leniently(), pytest.raises(ValidationError):
        Outer(name=5)  # type: ignore[arg-type]


def test_blocks_may_be_nested_and_fail() -> None:
    with constructing_leniently():
        with pytest.raises(RuntimeError), constructing_leniently():
            raise RuntimeError
        assert Inner(size=0).size == 0
    with pytest.raises(ValidationError):
        Inner(size=0)


def test_other_threads_construct_as_always() -> None:
    def construct() -> None:
        Inner(size=0)

    with ThreadPoolExecutor(1) as pool, constructing_leniently():
        with pytest.raises(ValidationError):
            pool.submit(construct).result()
        assert Inner(size=0).size == 0
