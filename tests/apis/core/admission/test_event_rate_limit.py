"""How many events the limits of a configuration let through."""

from typing import Any

import pytest

from apimachinery.errors import TooManyRequests
from apimachinery.schema import GroupKind, GroupVersionResource
from apis.core.admission.event_rate_limit import (
    CONFIGURATION,
    EventLimit,
    EventRateLimit,
    EventRateLimitConfiguration,
)
from apis.core.v1.event import Event
from apiserver import Attributes, RequestContext, User
from apiserver.admission.chain import Operation
from tests.apis.validating import decoded, messages


class Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


def configured(*limits: dict[str, Any]) -> EventRateLimitConfiguration:
    return EventRateLimitConfiguration(limits=[EventLimit(**limit) for limit in limits])


def event(
    namespace: str = "n", user: str = "jo", component: str = "c", *, dry_run: bool = False
) -> Attributes:
    resource = GroupVersionResource("", "v1", "events")
    context = RequestContext(User(user), "create", resource, namespace=namespace, dry_run=dry_run)
    source = {"component": component, "host": "h"}
    involved = {"kind": "Pod", "name": "p"}
    document = {"metadata": {"name": "e"}, "source": source, "involvedObject": involved}
    return Attributes(context, Operation.CREATE, GroupKind("", "Event"), decoded(Event, document))


def refused(plugin: EventRateLimit, attributes: Attributes) -> str:
    try:
        plugin(attributes)
    except TooManyRequests as error:
        return error.message
    return ""


def test_a_burst_is_accepted_and_then_a_rate() -> None:
    clock = Clock()
    plugin = EventRateLimit(configured({"type": "Server", "qps": 2, "burst": 3}), clock=clock)

    first = [refused(plugin, event()) for _ in range(4)]
    clock.time = 0.5
    later = [refused(plugin, event()) for _ in range(2)]

    message = "Too many requests: limit reached on type Server for key "
    assert first == ["", "", "", message]
    assert later == ["", message]


def test_dry_runs_do_not_count() -> None:
    plugin = EventRateLimit(configured({"type": "Server", "qps": 1, "burst": 1}), clock=Clock())

    assert [refused(plugin, event(dry_run=True)) for _ in range(3)] == ["", "", ""]
    assert refused(plugin, event()) == ""


@pytest.mark.parametrize(
    ("kind", "other", "key"),
    [
        ("Namespace", {"namespace": "m"}, "n"),
        ("User", {"user": "ann"}, "jo"),
        ("SourceAndObject", {"component": "d"}, "chPodp"),
    ],
)
def test_each_key_has_its_own_bucket(kind: str, other: dict[str, Any], key: str) -> None:
    plugin = EventRateLimit(configured({"type": kind, "qps": 1, "burst": 1}), clock=Clock())

    assert refused(plugin, event()) == ""
    assert refused(plugin, event(**other)) == ""
    assert refused(plugin, event()) == (
        f"Too many requests: limit reached on type {kind} for key {key}"
    )


def test_all_limits_that_are_reached_are_named() -> None:
    limits = [{"type": kind, "qps": 1, "burst": 1} for kind in ("Namespace", "User")]
    plugin = EventRateLimit(configured(*limits), clock=Clock())
    refused(plugin, event())

    assert refused(plugin, event()) == (
        "Too many requests: [limit reached on type Namespace for key n,"
        " limit reached on type User for key jo]"
    )


def test_the_number_of_buckets_is_bounded() -> None:
    limit = {"type": "Namespace", "qps": 1, "burst": 1, "cache_size": 1}
    plugin = EventRateLimit(configured(limit), clock=Clock())

    assert [refused(plugin, event(namespace)) for namespace in "aba"] == ["", "", ""]


def test_without_a_configuration_nothing_is_limited() -> None:
    plugin = EventRateLimit(None)

    assert [refused(plugin, event()) for _ in range(3)] == ["", "", ""]


def test_what_is_wrong_with_a_configuration_is_named() -> None:
    limits = ({"type": "Pod", "qps": 0, "burst": -1, "cache_size": -1}, {"type": "Server"})

    assert messages(CONFIGURATION.validate(configured(*limits))) == [
        'limits[0].type: Unsupported value: "Pod": supported values: "Namespace", "Server",'
        ' "SourceAndObject", "User"',
        "limits[0].burst: Invalid value: -1: must be positive",
        "limits[0].qps: Invalid value: 0: must be positive",
        "limits[0].cacheSize: Invalid value: -1: must not be negative",
        "limits[1].burst: Invalid value: 0: must be positive",
        "limits[1].qps: Invalid value: 0: must be positive",
    ]
    assert messages(CONFIGURATION.validate(configured())) == [
        "limits: Invalid value: null: must not be empty"
    ]
