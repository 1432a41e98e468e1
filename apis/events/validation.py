"""Validation of events written through events.k8s.io.

Its clients are newer reporters: events must be complete, must not set deprecated fields, and only
their series may change.
"""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, required
from apimachinery.meta.metadata_validation import validate_immutable
from apis.core.v1 import Event
from apis.core.validation.event import validate_event

TYPES: Final = ("Normal", "Warning")
REPORTER: Final = "reportingController"

# In the order of Kubernetes' messages, by their names in core.
_FIXED: Final = (
    ("involvedObject", "involved_object"),
    ("reason", "reason"),
    ("message", "message"),
    ("source", "source"),
    ("firstTimestamp", "first_timestamp"),
    ("lastTimestamp", "last_timestamp"),
    ("count", "count"),
    ("type", "type"),
    ("eventTime", "event_time"),
    ("action", "action"),
    ("related", "related"),
    ("reportingController", "reporting_component"),
    ("reportingInstance", "reporting_instance"),
)


def validate_new_event(event: Event) -> FieldErrors:
    yield from validate_event(event, reporter=REPORTER)
    yield from _validate_series(event)
    if event.event_time is None:
        yield required(Path("eventTime"))
    if event.type not in TYPES:
        yield invalid(Path("type"), "", f"has invalid value: {event.type}")
    deprecated = {
        "firstTimestamp": event.first_timestamp,
        "lastTimestamp": event.last_timestamp,
        "count": event.count,
        "source": event.source.component or event.source.host,
    }
    for name, value in deprecated.items():
        if value:
            yield invalid(Path(name), "", "needs to be unset")


def validate_event_update(new: Event, old: Event) -> FieldErrors:
    yield from validate_event(new, reporter=REPORTER)
    if new.series != old.series:
        yield from _validate_series(new)
    for wire, name in _FIXED:
        yield from validate_immutable(getattr(new, name), getattr(old, name), Path(wire))


def _validate_series(event: Event) -> FieldErrors:
    if event.series is None:
        return
    if event.series.count < 2:
        yield invalid(Path("series", "count"), "", "should be at least 2")
    if event.series.last_observed_time is None:
        yield required(Path("series", "lastObservedTime"))
