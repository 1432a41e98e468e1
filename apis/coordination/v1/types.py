"""Types of coordination.k8s.io/v1, which are also the internal types."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import MicroTime
from apimachinery.scalars.wire_types import Int32


class LeaseSpec(Model):
    """Specification of a Lease."""

    holder_identity: str | None = field(
        None, proto=1, doc="Identity of the current holder; empty if the lease is not held."
    )
    lease_duration_seconds: Int32 | None = field(
        None, proto=2, doc="Seconds after `renewTime` until other candidates may acquire the lease."
    )
    acquire_time: MicroTime | None = field(
        None, proto=3, doc="Time when the current lease was acquired."
    )
    renew_time: MicroTime | None = field(
        None, proto=4, doc="Time when the current holder last renewed the lease."
    )
    lease_transitions: Int32 | None = field(
        None, proto=5, doc="Number of transitions of the lease between holders."
    )
    strategy: str | None = field(
        None, proto=6, doc="Strategy of coordinated leader election for picking the holder."
    )
    preferred_holder: str | None = field(
        None, proto=7, doc="Identity of a better suited holder; only with a strategy."
    )


class Lease(Object):
    """Lease is a lock that at most one client holds at a time, until it expires."""

    spec: LeaseSpec = field(default_factory=LeaseSpec, proto=2, doc="Specification of the lease.")
