"""Validation of PriorityLevelConfigurations."""

from math import ceil, log2
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.go_structs import go_struct
from apis.flowcontrol.bootstrap import mandatory_levels
from apis.flowcontrol.v1 import (
    ExemptPriorityLevelConfiguration,
    LimitedPriorityLevelConfiguration,
    LimitResponse,
    PriorityLevelConfiguration,
    PriorityLevelConfigurationSpec,
    QueuingConfiguration,
)
from apis.flowcontrol.v1.flow_schema import EXEMPT
from apis.flowcontrol.v1.priority_level import EXEMPT_TYPE, LIMITED, QUEUE, REJECT
from apis.flowcontrol.validation.conditions import validate_conditions

MAX_QUEUES: Final = 10_000_000
MAX_ENTROPY_BITS: Final = 60
"""Bits of a flow's hash that dealing its queues may consume."""
PRESERVE_ZERO: Final = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares"
"""Annotation of v1beta3, which is not allowed in later versions."""

_TYPES: Final = (EXEMPT_TYPE, LIMITED)
_RESPONSES: Final = (QUEUE, REJECT)
_NOT_NEGATIVE: Final = "must be a non-negative integer"


def validate_priority_level(level: PriorityLevelConfiguration) -> FieldErrors:
    if PRESERVE_ZERO in level.metadata.annotations:
        rule = f"annotation '{PRESERVE_ZERO}' is forbidden"
        yield forbidden(Path("metadata", "annotations"), rule)
    path = Path("spec")
    yield from _validate_spec(level.metadata.name, level.spec, path)
    yield from _validate_mandatory(level, path)
    yield from validate_conditions(level.status.conditions)


def required_entropy_bits(queues: int, hand_size: int) -> int:
    """Return how many bits of a hash are consumed by dealing *hand_size* of *queues*."""
    return ceil(log2(queues) * hand_size)


def _validate_mandatory(level: PriorityLevelConfiguration, path: Path) -> FieldErrors:
    name, spec = level.metadata.name, level.spec
    for mandatory in mandatory_levels():
        if mandatory.metadata.name != name:
            continue
        fixed = mandatory.spec
        if name == EXEMPT:
            # The seats that exempt requests reserve are the administrator's choice.
            fixed.exempt = spec.exempt
            if spec != fixed:
                rule = f"spec of '{name}' except the 'spec.exempt' field must equal the fixed value"
                yield invalid(path, go_struct(spec), rule)
        elif spec != fixed:
            yield invalid(path, go_struct(spec), f"spec of '{name}' must equal the fixed value")


def _validate_spec(name: str, spec: PriorityLevelConfigurationSpec, path: Path) -> FieldErrors:
    if (name == EXEMPT) != (spec.type == EXEMPT_TYPE):
        rule = "must be 'Exempt' if and only if `name` is 'exempt'"
        yield invalid(path.child("type"), spec.type, rule)
    if spec.type == EXEMPT_TYPE:
        if spec.limited is not None:
            yield forbidden(path.child("limited"), "")
        if spec.exempt is not None:
            yield from _validate_exempt(spec.exempt, path.child("exempt"))
    elif spec.type == LIMITED:
        if spec.exempt is not None:
            yield forbidden(path.child("exempt"), "")
        if spec.limited is None:
            yield required(path.child("limited"))
        else:
            yield from _validate_limited(spec.limited, path.child("limited"))
    elif not spec.type:
        yield from _forbid_parts(spec, path)
        yield required(path.child("type"))
    else:
        yield not_supported(path.child("type"), spec.type, _TYPES)
        yield from _forbid_parts(spec, path)


def _forbid_parts(spec: PriorityLevelConfigurationSpec, path: Path) -> FieldErrors:
    """Refuse the parts that belong to a type."""
    for wire, part in (("exempt", spec.exempt), ("limited", spec.limited)):
        if part is not None:
            yield forbidden(path.child(wire), "")


def _validate_exempt(exempt: ExemptPriorityLevelConfiguration, path: Path) -> FieldErrors:
    yield from _validate_shares(exempt.nominal_concurrency_shares, path)
    yield from _validate_lendable(exempt.lendable_percent, path)


def _validate_limited(limited: LimitedPriorityLevelConfiguration, path: Path) -> FieldErrors:
    yield from _validate_shares(limited.nominal_concurrency_shares, path)
    yield from _validate_response(limited.limit_response, path.child("limitResponse"))
    yield from _validate_lendable(limited.lendable_percent, path)
    borrowing = limited.borrowing_limit_percent
    if borrowing is not None and borrowing < 0:
        rule = "if specified, must be a non-negative integer"
        yield invalid(path.child("borrowingLimitPercent"), borrowing, rule)


def _validate_shares(shares: int | None, path: Path) -> FieldErrors:
    if shares is not None and shares < 0:
        yield invalid(path.child("nominalConcurrencyShares"), shares, _NOT_NEGATIVE)


def _validate_lendable(percent: int | None, path: Path) -> FieldErrors:
    if percent is not None and not 0 <= percent <= 100:
        rule = "must be between 0 and 100, inclusive"
        yield invalid(path.child("lendablePercent"), percent, rule)


def _validate_response(response: LimitResponse, path: Path) -> FieldErrors:
    here = path.child("queuing")
    if response.type == REJECT:
        if response.queuing is not None:
            yield forbidden(here, "")
    elif response.type == QUEUE:
        if response.queuing is None:
            yield required(here)
        else:
            yield from _validate_queuing(response.queuing, here)
    elif not response.type:
        yield required(path.child("type"))
    else:
        yield not_supported(path.child("type"), response.type, _RESPONSES)


def _validate_queuing(queuing: QueuingConfiguration, path: Path) -> FieldErrors:
    queues, hand_size, length = queuing.queues, queuing.hand_size, queuing.queue_length_limit
    if length <= 0:
        yield invalid(path.child("queueLengthLimit"), length, "must be positive")
    if queues <= 0:
        yield invalid(path.child("queues"), queues, "must be positive")
    elif queues > MAX_QUEUES:
        yield invalid(path.child("queues"), queues, f"must not be greater than {MAX_QUEUES}")
    here = path.child("handSize")
    if hand_size <= 0:
        yield invalid(here, hand_size, "must be positive")
    elif hand_size > queues:
        yield invalid(here, hand_size, f"should not be greater than queues ({queues})")
    elif required_entropy_bits(queues, hand_size) > MAX_ENTROPY_BITS:
        rule = (
            f"required entropy bits of deckSize {queues} and handSize {hand_size}"
            f" should not be greater than {MAX_ENTROPY_BITS}"
        )
        yield invalid(here, hand_size, rule)
