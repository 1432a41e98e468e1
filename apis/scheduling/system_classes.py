"""The two classes of system pods, which every server with this group has."""

from apimachinery.meta.types import ObjectMeta
from apis.scheduling.v1 import PriorityClass
from apis.scheduling.v1.priority_class import (
    SYSTEM_CLUSTER_CRITICAL,
    SYSTEM_CRITICAL_PRIORITY,
    SYSTEM_NODE_CRITICAL,
)


def system_priority_classes() -> list[PriorityClass]:
    """Return the classes as a server creates them."""
    return [
        PriorityClass(
            metadata=ObjectMeta(name=SYSTEM_NODE_CRITICAL),
            value=SYSTEM_CRITICAL_PRIORITY + 1000,
            description=(
                "Used for system critical pods that must not be moved from their current node."
            ),
        ),
        PriorityClass(
            metadata=ObjectMeta(name=SYSTEM_CLUSTER_CRITICAL),
            value=SYSTEM_CRITICAL_PRIORITY,
            description=(
                "Used for system critical pods that must run in the cluster, but can be moved to"
                " another node if necessary."
            ),
        ),
    ]
