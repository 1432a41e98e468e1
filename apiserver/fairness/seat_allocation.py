"""Seat allocation: divide the seats of a worker among levels, by their demand.

Every level gets the same proportion of its target, as far as its bounds allow. The proportion is
found by raising it from the lowest bound to the next, until the seats are used up.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

MIN_TARGET: Final = 0.001
_EPSILON: Final = 1e-7


class SeatClaim(NamedTuple):
    """The claim of one level: its target, and the bounds of what it may get."""

    target: float
    lower: float
    upper: float


class ImpossibleAllocation(Exception):
    """The bounds of the claims cannot add up to the number of seats."""


def allocate(seats: int, claims: Sequence[SeatClaim]) -> tuple[list[float], float]:
    """Return the seats of each claim, and the proportion of its target that a free claim gets.

    Raises ImpossibleAllocation if the lower bounds exceed *seats*, or the upper ones fall short.
    """
    lowest, highest = sum(c.lower for c in claims), sum(c.upper for c in claims)
    if lowest - seats > _EPSILON or seats - highest > _EPSILON:
        raise ImpossibleAllocation(f"{seats} seats are not from {lowest} to {highest}")
    if not seats or not claims:
        return [0.0] * len(claims), 0.0
    proportion = _proportion(seats, claims)
    return [min(c.upper, max(c.lower, proportion * _target(c))) for c in claims], proportion


def _proportion(seats: int, claims: Sequence[SeatClaim]) -> float:
    """Return the proportion at which the bounded claims add up to *seats*."""
    # Each claim follows the proportion from its lower bound to its upper bound.
    bounds = sorted(
        bound
        for claim in claims
        for bound in (
            (claim.lower / _target(claim), _target(claim)),
            (claim.upper / _target(claim), -_target(claim)),
        )
    )
    proportion, allocated, following = bounds[0][0], sum(c.lower for c in claims), 0.0
    for bound, change in bounds:
        if following > _EPSILON:
            needed = (seats - allocated) / following
            if proportion + needed <= bound:
                return proportion + needed
            allocated += (bound - proportion) * following
        proportion = bound
        following += change
    return proportion


def _target(claim: SeatClaim) -> float:
    return max(claim.target, MIN_TARGET)
