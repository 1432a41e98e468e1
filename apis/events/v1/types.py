"""Types of events.k8s.io/v1; the internal type is the event of core."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1 import EventSource, ObjectReference


class EventSeries(Model):
    """An event that goes on happening."""

    count: Int32 = field(0, proto=1, omit_empty=False, doc="How often it has happened.")
    last_observed_time: MicroTime | None = field(
        None, proto=2, omit_empty=False, doc="When it last did."
    )


class Event(Object):
    """An Event says what happened to an object. Nothing may be decided by it."""

    event_time: MicroTime | None = field(
        None, proto=2, omit_empty=False, doc="When it was first observed."
    )
    series: EventSeries | None = field(None, proto=3, doc="Set when it goes on happening.")
    reporting_controller: str = field(
        "", proto=4, doc="The controller that reports, such as `example.io/gadgets`."
    )
    reporting_instance: str = field(
        "", proto=5, doc="Which of its instances, such as `gadgets-xyzf`."
    )
    action: str = field("", proto=6, doc="What was done, or failed to be.")
    reason: str = field("", proto=7, doc="Why it was done, in one word for programs.")
    regarding: ObjectReference = field(
        default_factory=ObjectReference, proto=8, doc="The object that it happened to."
    )
    related: ObjectReference | None = field(
        None, proto=9, doc="Another object that has to do with it."
    )
    note: str = field("", proto=10, doc="What happened, for people.")
    type: str = field("", proto=11, doc="`Normal` or `Warning`; there may be others some day.")
    deprecated_source: EventSource = field(
        default_factory=EventSource, proto=12, doc="Who reported it, as core/v1 says it."
    )
    deprecated_first_timestamp: Time | None = field(
        None, proto=13, doc="When it first happened, as core/v1 says it."
    )
    deprecated_last_timestamp: Time | None = field(
        None, proto=14, doc="When it last happened, as core/v1 says it."
    )
    deprecated_count: Int32 = field(
        0, proto=15, doc="How often it has happened, as core/v1 says it."
    )
