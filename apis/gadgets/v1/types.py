"""Types of gadgets.example.io/v1."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apis.gadgets.types import GadgetStatus, Part


class GadgetSpec(Model):
    """How the gadget should run."""

    model: str = field(doc="Which gadget it is.")
    replicas: int = field(1, ge=0, le=100, doc="How many to keep running.")
    timeout_seconds: int = field(60, ge=1, doc="How long one may take to start.")
    parts: list[Part] = field(
        default_factory=list,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="What it is made of.",
    )


class Gadget(Object):
    """A Gadget does one thing."""

    spec: GadgetSpec = field(doc="The desired state.")
    status: GadgetStatus = field(default_factory=GadgetStatus, doc="The observed state.")
