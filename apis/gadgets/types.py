"""Internal types. They are stored: see docs/evolving.md before changing a field."""

from datetime import timedelta

from apimachinery.meta.types import Condition, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity


class Part(Model):
    """A part of a gadget, equal in every version that has parts."""

    name: str = field(doc="Name of the part, unique in its gadget.")
    size: Quantity = field(Quantity("1"), doc="Quantity of the part.")
    port: IntOrString | None = field(None, doc="Number or name of the port of the part.")


class GadgetSpec(Model):
    """The internal spec; its bounds are the tightest of all versions, so that each can show it."""

    model: str
    replicas: int = field(1, ge=0, le=100)
    timeout: timedelta = field(timedelta(minutes=1), ge=timedelta(seconds=1))
    parts: list[Part] = field(default_factory=list, list_map_keys=("name",))


class GadgetStatus(Model):
    """Observed state of a gadget, equal in every version."""

    ready_replicas: int = field(0, doc="Number of running replicas.")
    observed_generation: int = field(0, doc="Generation that this status was observed at.")
    conditions: list[Condition] = field(
        default_factory=list,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
    )


class Gadget(Object):
    spec: GadgetSpec
    status: GadgetStatus = GadgetStatus()
