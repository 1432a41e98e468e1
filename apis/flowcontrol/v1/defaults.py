"""Defaults of flowcontrol.apiserver.k8s.io/v1."""

from typing import Final

from apis.flowcontrol.v1.flow_schema import FlowSchemaSpec
from apis.flowcontrol.v1.priority_level import (
    ExemptPriorityLevelConfiguration,
    LimitedPriorityLevelConfiguration,
    QueuingConfiguration,
)

MATCHING_PRECEDENCE: Final = 1000
CONCURRENCY_SHARES: Final = 30
QUEUES: Final = 64
HAND_SIZE: Final = 8
QUEUE_LENGTH_LIMIT: Final = 50


def set_flow_schema_spec_defaults(spec: FlowSchemaSpec) -> None:
    spec.matching_precedence = spec.matching_precedence or MATCHING_PRECEDENCE


def set_exempt_level_defaults(exempt: ExemptPriorityLevelConfiguration) -> None:
    if exempt.nominal_concurrency_shares is None:
        exempt.nominal_concurrency_shares = 0
    if exempt.lendable_percent is None:
        exempt.lendable_percent = 0


def set_limited_level_defaults(limited: LimitedPriorityLevelConfiguration) -> None:
    if limited.nominal_concurrency_shares is None:
        limited.nominal_concurrency_shares = CONCURRENCY_SHARES
    if limited.lendable_percent is None:
        limited.lendable_percent = 0


def set_queuing_defaults(queuing: QueuingConfiguration) -> None:
    queuing.hand_size = queuing.hand_size or HAND_SIZE
    queuing.queues = queuing.queues or QUEUES
    queuing.queue_length_limit = queuing.queue_length_limit or QUEUE_LENGTH_LIMIT
