"""Event: a report about an object, for people to read. Events expire after an hour."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import MicroTime, Time
from apimachinery.scalars.wire_types import Int32
from apis.core.v1.references import ObjectReference


class EventSource(Model):
    """Who reported an event, as the older fields say it."""

    component: str = field("", proto=1, doc="The component that reports.")
    host: str = field("", proto=2, doc="The host on which it runs.")


class EventSeries(Model):
    """An event that goes on happening."""

    count: Int32 = field(0, proto=1, doc="How often it has happened.")
    last_observed_time: MicroTime | None = field(None, proto=2, doc="When it last did.")


class Event(Object):
    """An Event says what happened to an object. Nothing may be decided by it."""

    involved_object: ObjectReference = field(
        default_factory=ObjectReference,
        proto=2,
        map_type="atomic",
        doc="The object that it happened to.",
    )
    reason: str = field("", proto=3, doc="Why it happened, in one word for programs.")
    message: str = field("", proto=4, doc="What happened, for people.")
    source: EventSource = field(default_factory=EventSource, proto=5, doc="Who reported it.")
    first_timestamp: Time | None = field(None, proto=6, doc="When it first happened.")
    last_timestamp: Time | None = field(None, proto=7, doc="When it last happened.")
    count: Int32 = field(0, proto=8, doc="How often it has happened.")
    type: str = field("", proto=9, doc="`Normal` or `Warning`; there may be others some day.")
    event_time: MicroTime | None = field(None, proto=10, doc="When it was first observed.")
    series: EventSeries | None = field(None, proto=11, doc="Set when it goes on happening.")
    action: str = field("", proto=12, doc="What was done, or failed to be.")
    related: ObjectReference | None = field(
        None, proto=13, map_type="atomic", doc="Another object that has to do with it."
    )
    reporting_component: str = field(
        "",
        proto=14,
        omit_empty=False,
        doc="The controller that reports, such as `example.io/gadgets`.",
    )
    reporting_instance: str = field(
        "", proto=15, omit_empty=False, doc="Which of its instances, such as `gadgets-xyzf`."
    )
