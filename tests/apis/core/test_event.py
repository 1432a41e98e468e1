"""Events: which namespace they may be in, and what a new-style one must have."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apimachinery.meta.types import ObjectMeta
from apis.core.install import CORE
from apis.core.strategy import EventStrategy
from apis.core.v1 import Event, ObjectReference
from tests.apis.validating import messages

STRATEGY = EventStrategy()
NOW = datetime(2030, 1, 1, tzinfo=UTC)
ELSEWHERE = 'involvedObject.namespace: Invalid value: "{}": does not match event.namespace'


def event(namespace: str = "shop", about: str = "shop", **fields: Any) -> Event:
    return Event(
        metadata=ObjectMeta(name="e", namespace=namespace),
        involved_object=ObjectReference(kind="Pod", name="a", namespace=about),
        **fields,
    )


def complete(**changes: Any) -> Event:
    fields: dict[str, Any] = {
        "event_time": NOW,
        "reporting_component": "example.io/gadgets",
        "reporting_instance": "gadgets-1",
        "action": "Scale",
        "reason": "Scaled",
    }
    return event(**(fields | changes))


@pytest.mark.parametrize(
    ("obj", "expected"),
    [
        (event(), []),
        (event("default", ""), []),
        (event("shop", ""), [ELSEWHERE.format("")]),
        (event("shop", "other"), [ELSEWHERE.format("other")]),
        (complete(), []),
        (complete(namespace="shop", about="other"), []),
        (complete(namespace="kube-system", about=""), []),
        (complete(namespace="shop", about=""), [ELSEWHERE.format("")]),
        (complete(reporting_instance=""), ["reportingInstance: Required value"]),
        (complete(action=""), ["action: Required value"]),
        (
            complete(reason="x" * 129),
            ['reason: Invalid value: "": can have at most 128 characters'],
        ),
        (
            complete(message="x" * 1025),
            ['message: Invalid value: "": can have at most 1024 characters'],
        ),
    ],
)
def test_events(obj: Event, expected: list[str]) -> None:
    assert messages(STRATEGY.validate(obj)) == expected


def test_a_new_event_names_a_qualified_controller() -> None:
    found = messages(STRATEGY.validate(complete(reporting_component="a b")))

    assert found[0].startswith('reportingComponent: Invalid value: "a b": name part must consist')


def test_any_name_that_a_url_can_hold_will_do() -> None:
    assert STRATEGY.name_errors("Node:a.17") == []
    assert STRATEGY.name_errors("a/b") == ["may not contain '/'"]


def test_events_are_kept_for_an_hour() -> None:
    events = next(found for found in CORE.resources if found.name == "events")

    assert events.ttl is not None
    assert events.ttl(event()) == 3600
