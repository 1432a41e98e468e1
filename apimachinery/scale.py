"""Scale: how many replicas an object has and should have, whatever its kind (autoscaling/v1).

Servers and clients both speak it at the `scale` subresource of other kinds; no group stores it.
"""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Int32

__all__ = ["Scale", "ScaleSpec", "ScaleStatus"]


class ScaleSpec(Model):
    """How many there should be."""

    replicas: Int32 = field(0, proto=1, doc="How many there should be.")


class ScaleStatus(Model):
    """How many there are."""

    replicas: Int32 = field(0, proto=1, omit_empty=False, doc="How many there are.")
    selector: str = field("", proto=2, doc="Which objects are counted.")


class Scale(Object):
    """The size of something that has one."""

    spec: ScaleSpec = field(default_factory=ScaleSpec, proto=2, omit_empty=False)
    status: ScaleStatus = field(default_factory=ScaleStatus, proto=3, omit_empty=False)
