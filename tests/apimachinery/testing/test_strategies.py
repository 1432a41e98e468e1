"""What the fuzzer makes: objects that could have been decoded, with everything in them."""

from collections.abc import Callable
from datetime import timedelta
from typing import Literal

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from apimachinery.codec import dump_json
from apimachinery.meta.types import Object
from apimachinery.model.decoding import decode_json
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Bytes, Int32, RawExtension
from apimachinery.testing import objects


class Sample(Object):
    text: str = field("", min_length=2, max_length=3)
    code: str = field("a1", pattern=r"[a-z][0-9]")
    small: Int32 = field(1, ge=1, le=3)
    odd: int = field(5, gt=4, lt=7)
    ratio: float = 0.0
    data: Bytes = b""
    raw: RawExtension | None = None
    at: Time | None = None
    exactly: MicroTime | None = None
    wait: Duration = field(timedelta(seconds=2), ge=timedelta(seconds=1))
    size: Quantity = Quantity("1")
    port: IntOrString = 1
    choice: Literal["x", "y"] = "x"
    few: list[str] = field(default_factory=lambda: ["a"], min_length=1, max_length=2)
    names: dict[str, list[int]] = field(default_factory=dict)
    below: "Sample | None" = None


@given(objects(Sample))
@settings(max_examples=50)
def test_what_is_made_keeps_its_own_rules_and_survives_the_wire(sample: Sample) -> None:
    assert decode_json(Sample, dump_json(sample)).object == sample


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    made: list[Sample] = []

    @given(objects(Sample))
    @settings(max_examples=150, database=None, derandomize=True, phases=(Phase.generate,))
    def collect(sample: Sample) -> None:
        made.append(sample)

    collect()
    return made


def test_every_part_is_made_sometimes(samples: list[Sample]) -> None:
    conditions: dict[str, Callable[[Sample], object]] = {
        "nested": lambda s: s.below,
        "not nested": lambda s: s.below is None,
        "the upper bound": lambda s: s.small == 3,
        "next to an open bound": lambda s: s.odd == 6,
        "a raw document": lambda s: s.raw,
        "times": lambda s: s.at and s.exactly,
        "a named port": lambda s: isinstance(s.port, str),
        "each choice": lambda s: s.choice == "y",
        "the longest list": lambda s: len(s.few) == 2,
        "a map of lists": lambda s: any(s.names.values()),
        "labels": lambda s: s.metadata.labels,
        "owners": lambda s: s.metadata.owner_references,
        "another size": lambda s: s.size != Quantity("1"),
    }

    missing = [name for name, condition in conditions.items() if not any(map(condition, samples))]

    assert not missing


def test_what_is_the_servers_to_say_is_never_made(samples: list[Sample]) -> None:
    assert not any(sample.kind or sample.metadata.resource_version for sample in samples)


def test_a_class_and_a_field_can_be_given_other_values() -> None:
    overrides = {(Sample, "text"): st.just("zz"), Quantity: st.just(Quantity("9"))}

    @given(objects(Sample, overrides))
    @settings(max_examples=10, database=None)
    def check(sample: Sample) -> None:
        assert sample.text == "zz"

    check()


def test_a_type_nobody_knows_is_named() -> None:
    class Odd(Model):
        number: complex = 0j

    with pytest.raises(TypeError, match="no strategy generates <class 'complex'>"):
        objects(Odd)
