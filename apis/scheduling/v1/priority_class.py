"""PriorityClass: a name for the priority of pods."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apimachinery.scalars.wire_types import Int32

PREEMPT_LOWER_PRIORITY: Final = "PreemptLowerPriority"
PREEMPT_NEVER: Final = "Never"

HIGHEST_USER_PRIORITY: Final = 1_000_000_000
"""The highest value of a class that is not one of the system's."""
SYSTEM_CRITICAL_PRIORITY: Final = 2 * HIGHEST_USER_PRIORITY
SYSTEM_PREFIX: Final = "system-"
"""How the names of system classes begin, and no others."""
SYSTEM_CLUSTER_CRITICAL: Final = "system-cluster-critical"
SYSTEM_NODE_CRITICAL: Final = "system-node-critical"


class PriorityClass(Object):
    """PriorityClass gives a name to a priority, which pods refer to."""

    value: Int32 = field(
        0,
        proto=2,
        omit_empty=False,
        required=False,
        doc=(
            "Priority of the pods of this class; a higher number is scheduled first. At most one"
            " billion, and immutable."
        ),
    )
    global_default: bool = field(
        False,
        proto=3,
        doc="Whether this is the class of pods that name none. At most one class can be.",
    )
    description: str = field("", proto=4, doc="When the class should be used.")
    preemption_policy: str | None = field(
        None,
        proto=5,
        enum=(PREEMPT_NEVER, PREEMPT_LOWER_PRIORITY),
        doc=(
            "Whether pods of this class evict pods of lower priority if there is no room:"
            " PreemptLowerPriority, which is the default, or Never. Immutable."
        ),
    )
