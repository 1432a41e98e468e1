"""The wire contract of autoscaling/v1."""

from apimachinery.meta.model import Model, field
from apimachinery.meta.scalars import Int32
from apimachinery.meta.types import Object


class ScaleSpec(Model):
    """How many there should be."""

    replicas: Int32 = field(0, proto=1, doc="How many are wanted.")


class ScaleStatus(Model):
    """How many there are."""

    replicas: Int32 = field(0, proto=1, omit_empty=False, doc="How many were observed.")
    selector: str = field(
        "", proto=2, doc="A label selector, as queries write it, that finds them."
    )


class Scale(Object):
    """A Scale is what is common to all kinds that can have more or fewer replicas."""

    spec: ScaleSpec = field(default_factory=ScaleSpec, proto=2, doc="How many are wanted.")
    status: ScaleStatus = field(default_factory=ScaleStatus, proto=3, doc="How many there are.")
