"""The example group as a server installs it."""

import pytest

from apis.gadgets import v1
from apis.gadgets.install import GADGETS
from apis.gadgets.strategy import GadgetStrategy
from apis.gadgets.types import Gadget, GadgetSpec, GadgetStatus, Part
from apis.gadgets.v1.conversion import spec_from_internal, spec_to_internal
from tests.apis.validating import messages

(RESOURCE,) = GADGETS.resources


def test_it_shows_what_a_group_can_say_of_itself() -> None:
    assert GADGETS.versions == ("v1", "v1beta1")
    assert RESOURCE.short_names == ("gd",)
    assert RESOURCE.categories == ("all",)
    assert [sub.name for sub in RESOURCE.subresources] == ["status", "scale"]


def test_the_strategy_validates() -> None:
    wrong = Gadget(spec=GadgetSpec(model="", parts=[Part(name="a"), Part(name="a")]))

    assert messages(GadgetStrategy().validate(wrong)) == [
        "spec.model: Required value",
        'spec.parts[1].name: Duplicate value: "a"',
    ]


def test_a_change_of_the_spec_raises_the_generation() -> None:
    one, other = Gadget(spec=GadgetSpec(model="a")), Gadget(spec=GadgetSpec(model="b"))

    assert GadgetStrategy().desired_state(one) != GadgetStrategy().desired_state(other)


def test_columns() -> None:
    gadget = Gadget(
        spec=GadgetSpec(model="a1", replicas=3, parts=[Part(name="x"), Part(name="y")]),
        status=GadgetStatus(ready_replicas=2),
    )

    assert [(c.name, c.cell(gadget)) for c in RESOURCE.columns] == [
        ("Model", "a1"),
        ("Desired", 3),
        ("Ready", 2),
        ("Parts", "x,y"),
    ]


def test_no_timeout_that_can_be_decoded_fails_to_be_converted() -> None:
    spec = v1.GadgetSpec(model="a", timeout_seconds=v1.types.LONGEST_TIMEOUT)

    assert spec_from_internal(spec_to_internal(spec)) == spec
    with pytest.raises(ValueError, match="less than or equal"):
        v1.GadgetSpec(model="a", timeout_seconds=v1.types.LONGEST_TIMEOUT + 1)
