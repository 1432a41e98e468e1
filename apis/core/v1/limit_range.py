"""LimitRange: bounds and defaults for the resources of the pods and claims of a namespace."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity

POD_LIMIT: Final = "Pod"
CONTAINER_LIMIT: Final = "Container"
CLAIM_LIMIT: Final = "PersistentVolumeClaim"


class LimitRangeItem(Model):
    """Bounds and defaults for objects of one type."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        known=(CONTAINER_LIMIT, CLAIM_LIMIT, POD_LIMIT),
        doc="Type of the objects: Pod, Container or PersistentVolumeClaim.",
    )
    max: dict[str, Quantity] = field(
        default_factory=dict, proto=2, doc="Largest amount of each resource."
    )
    min: dict[str, Quantity] = field(
        default_factory=dict, proto=3, doc="Smallest amount of each resource."
    )
    default: dict[str, Quantity] = field(
        default_factory=dict,
        proto=4,
        doc="Limit of each resource for containers that set none; defaults to `max`.",
    )
    default_request: dict[str, Quantity] = field(
        default_factory=dict,
        proto=5,
        doc="Request of each resource for containers that set none; defaults to `default`.",
    )
    max_limit_request_ratio: dict[str, Quantity] = field(
        default_factory=dict,
        proto=6,
        doc="Largest quotient of limit and request of each resource.",
    )


class LimitRangeSpec(Model):
    """Bounds and defaults of a LimitRange."""

    limits: list[LimitRangeItem] = field(
        default_factory=list,
        proto=1,
        null_when_empty=True,
        list_type="atomic",
        doc="Bounds and defaults, one item per type of object.",
    )


class LimitRange(Object):
    """LimitRange sets bounds and defaults for the resources of each object in a namespace."""

    spec: LimitRangeSpec = field(
        default_factory=LimitRangeSpec, proto=2, doc="Bounds and defaults to enforce."
    )
