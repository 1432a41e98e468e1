"""Types of gadgets.example.io/v1beta1, which has no parts."""

from datetime import timedelta

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.duration import Duration
from apis.gadgets.types import GadgetStatus


class GadgetSpec(Model):
    """How the gadget should run."""

    model: str = field("", doc='Which gadget it is; "standard" unless given.')
    count: int = field(1, ge=0, le=100, doc="How many to keep running.")
    timeout: Duration = field(
        timedelta(minutes=1), ge=timedelta(seconds=1), doc="How long one may take to start."
    )
    color: str = field("", doc="What it looks like.", deprecated="since v1; it has no effect")


class Gadget(Object):
    """A Gadget does one thing."""

    spec: GadgetSpec = field(default_factory=GadgetSpec, doc="The desired state.")
    status: GadgetStatus = field(default_factory=GadgetStatus, doc="The observed state.")
