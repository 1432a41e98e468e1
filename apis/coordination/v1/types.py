"""Types of coordination.k8s.io/v1, which are also the internal types."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import MicroTime
from apimachinery.scalars.wire_types import Int32


class LeaseSpec(Model):
    """Who holds a lease, since when and for how long."""

    holder_identity: str | None = field(None, proto=1, doc="Who holds it; nobody if empty.")
    lease_duration_seconds: Int32 | None = field(
        None, proto=2, doc="How long after `renewTime` others must wait before they take it."
    )
    acquire_time: MicroTime | None = field(None, proto=3, doc="When the holder took it.")
    renew_time: MicroTime | None = field(None, proto=4, doc="When the holder last renewed it.")
    lease_transitions: Int32 | None = field(
        None, proto=5, doc="How often it went from one holder to another."
    )
    strategy: str | None = field(
        None, proto=6, doc="How the server picks a holder, if it is the one to pick."
    )
    preferred_holder: str | None = field(
        None, proto=7, doc="To whom the holder should give it up; only with a strategy."
    )


class Lease(Object):
    """A Lease is held by at most one program at a time."""

    spec: LeaseSpec = field(default_factory=LeaseSpec, proto=2, doc="Who holds it.")
