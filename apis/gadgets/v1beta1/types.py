"""Types of gadgets.example.io/v1beta1, which has no parts."""

from datetime import timedelta

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apis.gadgets.types import GadgetStatus


class GadgetSpec(Model):
    """Configuration of a gadget."""

    model: str = field("", doc='Model of the gadget; defaults to "standard".')
    count: int = field(1, ge=0, le=100, doc="Number of desired replicas.")
    timeout: Duration = field(
        timedelta(minutes=1), ge=timedelta(seconds=1), doc="Time limit for the start of a replica."
    )
    color: str = field("", doc="Color of the gadget.", deprecated="since v1; it has no effect")


class Gadget(Object):
    """Gadget is the example kind."""

    spec: GadgetSpec = field(default_factory=GadgetSpec, doc="Desired state of the gadget.")
    status: GadgetStatus = field(default_factory=GadgetStatus, doc="Observed state of the gadget.")
