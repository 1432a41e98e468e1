"""PriorityLevelConfiguration: how many requests of a level run at once, and where others wait."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time
from apimachinery.scalars.wire_types import Int32

EXEMPT_TYPE: Final = "Exempt"
LIMITED: Final = "Limited"
QUEUE: Final = "Queue"
REJECT: Final = "Reject"


class QueuingConfiguration(Model):
    """Queues of a priority level."""

    queues: Int32 = field(
        0,
        proto=1,
        omit_empty=False,
        required=False,
        doc=(
            "Number of queues. With one queue the flows are not kept apart. Positive, 64 by"
            " default."
        ),
    )
    hand_size: Int32 = field(
        0,
        proto=2,
        omit_empty=False,
        required=False,
        doc=(
            "Number of queues that one flow uses; each request goes into the shortest of them."
            " Positive and at most `queues`, 8 by default."
        ),
    )
    queue_length_limit: Int32 = field(
        0,
        proto=3,
        omit_empty=False,
        required=False,
        doc="Number of requests that may wait in one queue. Positive, 50 by default.",
    )


class LimitResponse(Model):
    """What becomes of requests that cannot be executed at once."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Queue lets requests wait in a queue, Reject rejects them. Required.",
    )
    queuing: QueuingConfiguration | None = field(
        None, proto=2, doc="The queues; only if the type is Queue."
    )


class LimitedPriorityLevelConfiguration(Model):
    """Limits of a priority level, and how they are shared with other levels."""

    nominal_concurrency_shares: Int32 | None = field(
        None,
        proto=1,
        omit_empty=False,
        required=False,
        doc=(
            "Share of the server's seats: the level has the fraction of this number in the sum of"
            " all levels' numbers. 30 by default."
        ),
    )
    limit_response: LimitResponse = field(
        default_factory=LimitResponse,
        proto=2,
        required=True,
        doc="What becomes of requests that cannot be executed at once.",
    )
    lendable_percent: Int32 | None = field(
        None,
        proto=3,
        doc="Percentage of its seats that other levels may borrow, from 0 to 100. 0 by default.",
    )
    borrowing_limit_percent: Int32 | None = field(
        None,
        proto=4,
        doc=(
            "Seats that the level may borrow from others, as a percentage of its own; may exceed"
            " 100. Without it there is no limit."
        ),
    )


class ExemptPriorityLevelConfiguration(Model):
    """Seats that the exempt priority level reserves; its requests are not limited by them."""

    nominal_concurrency_shares: Int32 | None = field(
        None, proto=1, doc="Share of the server's seats that is reserved. 0 by default."
    )
    lendable_percent: Int32 | None = field(
        None,
        proto=2,
        doc="Percentage of the reserved seats that other levels may borrow. 0 by default.",
    )


class PriorityLevelConfigurationSpec(Model):
    """Specification of a priority level."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc="Limited for a level with limits; Exempt for the level named exempt. Required.",
    )
    limited: LimitedPriorityLevelConfiguration | None = field(
        None, proto=2, doc="The limits; required if the type is Limited, not set otherwise."
    )
    exempt: ExemptPriorityLevelConfiguration | None = field(
        None, proto=3, doc="The reserved seats; only if the type is Exempt."
    )


class PriorityLevelConfigurationCondition(Model):
    """Condition of a priority level."""

    type: str = field("", proto=1, required=True, doc="Type of the condition. Required.")
    status: str = field("", proto=2, doc="Status of the condition: True, False or Unknown.")
    last_transition_time: Time | None = field(
        None, proto=3, omit_empty=False, required=False, doc="Time when the status last changed."
    )
    reason: str = field("", proto=4, doc="Reason of the last change, one word.")
    message: str = field("", proto=5, doc="Description of the last change.")


class PriorityLevelConfigurationStatus(Model):
    """Status of a priority level."""

    conditions: list[PriorityLevelConfigurationCondition] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the priority level.",
    )


class PriorityLevelConfiguration(Object):
    """PriorityLevelConfiguration is a priority level with its own seats and queues."""

    spec: PriorityLevelConfigurationSpec = field(
        default_factory=PriorityLevelConfigurationSpec,
        proto=2,
        required=True,
        doc="Specification of the priority level.",
    )
    status: PriorityLevelConfigurationStatus = field(
        default_factory=PriorityLevelConfigurationStatus,
        proto=3,
        doc="Status of the priority level.",
    )
