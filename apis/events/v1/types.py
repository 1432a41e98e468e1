"""Types of events.k8s.io/v1; the internal type is the event of core."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1 import EventSource, ObjectReference


class EventSeries(Model):
    """Series of occurrences of an event."""

    count: Int32 = field(0, proto=1, omit_empty=False, doc="Number of occurrences.")
    last_observed_time: MicroTime | None = field(
        None, proto=2, omit_empty=False, doc="Time of the last occurrence observed."
    )


class Event(Object):
    """Event is a report of an event. Consumers must not rely on its content or its delivery."""

    event_time: MicroTime | None = field(
        None, proto=2, omit_empty=False, doc="Time when the event was first observed."
    )
    series: EventSeries | None = field(
        None, proto=3, doc="Series that this event is part of, if it recurs."
    )
    reporting_controller: str = field(
        "", proto=4, doc="Name of the reporting controller, such as `example.io/gadgets`."
    )
    reporting_instance: str = field(
        "", proto=5, doc="ID of the controller instance, such as `gadgets-xyzf`."
    )
    action: str = field("", proto=6, doc="Action that was taken or failed.")
    reason: str = field("", proto=7, doc="Short, machine-readable reason for the action.")
    regarding: ObjectReference = field(
        default_factory=ObjectReference, proto=8, doc="Object that this event is about."
    )
    related: ObjectReference | None = field(
        None, proto=9, doc="Secondary object for more complex actions."
    )
    note: str = field("", proto=10, doc="Human-readable description of the event.")
    type: str = field(
        "", proto=11, doc="Type of the event: `Normal` or `Warning`; new types may be added."
    )
    deprecated_source: EventSource = field(
        default_factory=EventSource,
        proto=12,
        doc="Deprecated field for compatibility with core/v1: the source.",
    )
    deprecated_first_timestamp: Time | None = field(
        None,
        proto=13,
        omit_empty=False,
        required=False,
        doc="Deprecated field for compatibility with core/v1: the first occurrence.",
    )
    deprecated_last_timestamp: Time | None = field(
        None,
        proto=14,
        omit_empty=False,
        required=False,
        doc="Deprecated field for compatibility with core/v1: the last occurrence.",
    )
    deprecated_count: Int32 = field(
        0,
        proto=15,
        doc="Deprecated field for compatibility with core/v1: the number of occurrences.",
    )
