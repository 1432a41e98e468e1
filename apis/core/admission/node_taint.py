"""TaintNodesByCondition: a new node takes no pods before a controller has seen that it is ready."""

from apis.core.admission.default_tolerations import NOT_READY
from apis.core.v1.node import NO_SCHEDULE, Node, Taint
from apiserver import Attributes


def taint_new_node(attributes: Attributes) -> None:
    """Add the taint of nodes that are not ready."""
    node = attributes.object
    if attributes.old_object is not None or not isinstance(node, Node):
        return
    taints = node.spec.taints
    if not any((taint.key, taint.effect) == (NOT_READY, NO_SCHEDULE) for taint in taints):
        taints.append(Taint(key=NOT_READY, effect=NO_SCHEDULE))
