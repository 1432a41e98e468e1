"""Scale: the desired and observed replicas of an object of any kind (autoscaling/v1).

Servers and clients exchange it at the `scale` subresource of other kinds; no group stores it.
"""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32

__all__ = ["Scale", "ScaleSpec", "ScaleStatus"]


class ScaleSpec(Model):
    """The desired state of a scalable object."""

    replicas: Int32 = field(0, proto=1, published_default=0, doc="The desired number of replicas.")


class ScaleStatus(Model):
    """The observed state of a scalable object."""

    replicas: Int32 = field(0, proto=1, omit_empty=False, doc="The observed number of replicas.")
    selector: str = field("", proto=2, doc="The label selector of the replicas that are counted.")


class Scale(Object):
    """A request to scale an object, and its current size."""

    spec: ScaleSpec = field(
        default_factory=ScaleSpec, proto=2, omit_empty=False, doc="The desired size."
    )
    status: ScaleStatus = field(
        default_factory=ScaleStatus, proto=3, omit_empty=False, doc="The observed size."
    )
