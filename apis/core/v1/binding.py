"""Binding: the assignment of a pod to a node."""

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apis.core.v1.references import ObjectReference


class Binding(Object):
    """Binding assigns a pod to a node; superseded by the subresource `binding` of pods."""

    target: ObjectReference = field(
        default_factory=ObjectReference,
        proto=2,
        required=True,
        doc="Node that the pod is bound to.",
    )
