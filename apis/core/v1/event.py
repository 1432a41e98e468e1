"""Event: a report about an object, for human readers. Events expire after an hour."""

from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.references import ObjectReference


class EventSource(Model):
    """Source of an event, in the deprecated fields."""

    component: str = field("", proto=1, doc="Component that reported the event.")
    host: str = field("", proto=2, doc="Name of the node that the component runs on.")


class EventSeries(Model):
    """Series of occurrences of an event."""

    count: Int32 = field(0, proto=1, doc="Number of occurrences.")
    last_observed_time: MicroTime | None = field(
        None, proto=2, omit_empty=False, required=False, doc="Time of the last occurrence observed."
    )


class Event(Object):
    """Event is a report of an event. Consumers must not rely on its content or its delivery."""

    metadata: ObjectMeta = field(
        default_factory=ObjectMeta,
        proto=1,
        required=True,
        doc="Standard object's metadata: its name, labels, annotations and owners.",
    )
    involved_object: ObjectReference = field(
        default_factory=ObjectReference,
        proto=2,
        required=True,
        doc="Object that this event is about.",
    )
    reason: str = field("", proto=3, doc="Short, machine-readable reason.")
    message: str = field("", proto=4, doc="Human-readable description of the event.")
    source: EventSource = field(
        default_factory=EventSource, proto=5, doc="Component that reported the event."
    )
    first_timestamp: Time | None = field(
        None, proto=6, omit_empty=False, required=False, doc="Time of the first occurrence."
    )
    last_timestamp: Time | None = field(
        None, proto=7, omit_empty=False, required=False, doc="Time of the most recent occurrence."
    )
    count: Int32 = field(0, proto=8, doc="Number of occurrences.")
    type: str = field(
        "", proto=9, doc="Type of the event: `Normal` or `Warning`; new types may be added."
    )
    event_time: MicroTime | None = field(
        None,
        proto=10,
        omit_empty=False,
        required=False,
        doc="Time when the event was first observed.",
    )
    series: EventSeries | None = field(
        None, proto=11, doc="Series that this event is part of, if it recurs."
    )
    action: str = field("", proto=12, doc="Action that was taken or failed.")
    related: ObjectReference | None = field(
        None, proto=13, doc="Secondary object for more complex actions."
    )
    reporting_component: str = field(
        "",
        proto=14,
        omit_empty=False,
        required=False,
        doc="Name of the reporting controller, such as `example.io/gadgets`.",
    )
    reporting_instance: str = field(
        "",
        proto=15,
        omit_empty=False,
        required=False,
        doc="ID of the controller instance, such as `gadgets-xyzf`.",
    )
