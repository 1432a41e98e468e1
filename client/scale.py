"""Scale: how many replicas an object has and should have, whatever its kind."""

from apimachinery.meta.model import Model, field
from apimachinery.meta.types import Object


class ScaleSpec(Model):
    replicas: int = 0


class ScaleStatus(Model):
    replicas: int = field(0, omit_empty=False)
    selector: str = ""


class Scale(Object):
    """What the `scale` subresource of any kind is read and written as (autoscaling/v1)."""

    spec: ScaleSpec = field(default_factory=ScaleSpec)
    status: ScaleStatus = field(default_factory=ScaleStatus)
