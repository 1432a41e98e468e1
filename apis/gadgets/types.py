"""Internal types. Their field names are stored, so renaming one is a migration."""

from datetime import timedelta

from apimachinery.meta.types import Condition, Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.intstr import IntOrString
from apimachinery.scalars.quantity import Quantity


class Part(Model):
    """Something a gadget is made of. It is the same in every version that has it."""

    name: str = field(doc="Unique among the parts of a gadget.")
    size: Quantity = field(Quantity("1"), doc="How much of it.")
    port: IntOrString | None = field(None, doc="Where it listens, by number or name.")


class GadgetSpec(Model):
    """The bounds are those of every version: what is stored must fit all of them."""

    model: str
    replicas: int = field(1, ge=0, le=100)
    timeout: timedelta = field(timedelta(minutes=1), ge=timedelta(seconds=1))
    parts: list[Part] = field(default_factory=list, list_map_keys=("name",))


class GadgetStatus(Model):
    """What was observed. It is the same in every version."""

    ready_replicas: int = field(0, doc="How many are running.")
    observed_generation: int = field(0, doc="The generation this status is about.")
    conditions: list[Condition] = field(
        default_factory=list,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
    )


class Gadget(Object):
    spec: GadgetSpec
    status: GadgetStatus = GadgetStatus()
