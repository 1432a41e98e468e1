"""Events of events.k8s.io: what is asked of them, and what they are called in core."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.meta.types import ObjectMeta
from apimachinery.schema import GroupVersion
from apimachinery.scheme import NotRegistered, Scheme
from apis.core import v1 as core
from apis.events import v1
from apis.events.register import add_to_scheme
from apis.events.strategy import NewEventStrategy
from tests.apis.groups import full_scheme
from tests.apis.validating import messages

STRATEGY = NewEventStrategy()
SCHEME = full_scheme()
NOW = datetime(2030, 1, 1, tzinfo=UTC)
KIND = GroupVersion("events.k8s.io", "v1").with_kind("Event")


def event(**changes: Any) -> core.Event:
    fields: dict[str, Any] = {
        "metadata": ObjectMeta(name="e", namespace="shop"),
        "involved_object": core.ObjectReference(kind="Pod", name="a", namespace="shop"),
        "event_time": NOW,
        "reporting_component": "example.io/gadgets",
        "reporting_instance": "gadgets-1",
        "action": "Scale",
        "reason": "Scaled",
        "type": "Normal",
    }
    return core.Event(**(fields | changes))


UNSET = '{}: Invalid value: "": needs to be unset'


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (event(), []),
        (event(series=core.EventSeries(count=2, last_observed_time=NOW)), []),
        (event(event_time=None), ["eventTime: Required value"]),
        (event(type="Odd"), ['type: Invalid value: "": has invalid value: Odd']),
        (event(first_timestamp=NOW), [UNSET.format("firstTimestamp")]),
        (event(last_timestamp=NOW), [UNSET.format("lastTimestamp")]),
        (event(count=1), [UNSET.format("count")]),
        (event(source=core.EventSource(host="h")), [UNSET.format("source")]),
        (
            event(series=core.EventSeries(count=1)),
            [
                'series.count: Invalid value: "": should be at least 2',
                "series.lastObservedTime: Required value",
            ],
        ),
    ],
)
def test_a_new_event_is_complete_and_says_nothing_twice(
    obj: core.Event, expected: list[str]
) -> None:
    assert messages(STRATEGY.validate(obj)) == expected


def test_who_reports_is_named_as_the_group_names_it() -> None:
    found = messages(STRATEGY.validate(event(reporting_component="")))

    assert found[0] == "reportingController: Required value"


@pytest.mark.parametrize(
    ("field", "value", "wire"),
    [
        ("message", "other", 'message: Invalid value: "other"'),
        ("reason", "Other", 'reason: Invalid value: "Other"'),
        ("count", 3, "count: Invalid value: 3"),
        ("reporting_instance", "x", 'reportingInstance: Invalid value: "x"'),
        ("type", "Warning", 'type: Invalid value: "Warning"'),
        ("action", "Other", 'action: Invalid value: "Other"'),
    ],
)
def test_an_event_does_not_change(field: str, value: object, wire: str) -> None:
    changed = event(**{field: value})

    found = messages(STRATEGY.validate_update(changed, event()))

    assert found == [f"{wire}: field is immutable"]


def test_the_series_of_an_event_may_change() -> None:
    going_on = event(series=core.EventSeries(count=2, last_observed_time=NOW))

    assert messages(STRATEGY.validate_update(going_on, event())) == []
    assert len(messages(STRATEGY.validate_update(event(series=core.EventSeries()), event()))) == 2


def test_an_old_series_is_not_judged_by_newer_rules() -> None:
    """Core allows a series of one; who changes nothing in it is not asked about it."""
    old = event(series=core.EventSeries(count=1))

    assert messages(STRATEGY.validate_update(old.deep_copy(), old)) == []


def test_names_are_subdomains() -> None:
    assert STRATEGY.name_errors("lamp.17a") == []
    assert STRATEGY.name_errors("Node:a") != []


def test_every_field_has_its_name_in_core() -> None:
    sent = v1.Event(
        event_time=NOW,
        series=v1.EventSeries(count=2, last_observed_time=NOW),
        reporting_controller="c",
        regarding=core.ObjectReference(name="a"),
        note="n",
        deprecated_source=core.EventSource(host="h"),
        deprecated_first_timestamp=NOW,
        deprecated_last_timestamp=NOW,
        deprecated_count=4,
    )

    found = SCHEME.to_internal(sent)

    assert found == core.Event(
        event_time=NOW,
        series=core.EventSeries(count=2, last_observed_time=NOW),
        reporting_component="c",
        involved_object=core.ObjectReference(name="a"),
        message="n",
        source=core.EventSource(host="h"),
        first_timestamp=NOW,
        last_timestamp=NOW,
        count=4,
    )


@pytest.mark.parametrize(
    ("label", "internal"),
    [
        ("regarding.name", "involvedObject.name"),
        ("reportingController", "reportingComponent"),
        ("type", "type"),
        ("metadata.name", "metadata.name"),
    ],
)
def test_field_selectors_have_their_words_in_core(label: str, internal: str) -> None:
    assert SCHEME.convert_field_label(KIND, label, "x") == (internal, "x")


@pytest.mark.parametrize("label", ["involvedObject.name", "note"])
def test_other_field_selectors_are_refused(label: str) -> None:
    with pytest.raises(ValueError, match=f"field label not supported: {label}"):
        SCHEME.convert_field_label(KIND, label, "x")


def test_the_group_needs_core() -> None:
    with pytest.raises(NotRegistered, match=r"apis\.core\.v1\.event\.Event"):
        add_to_scheme(Scheme())
