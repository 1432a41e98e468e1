"""Device costs: Kubernetes' estimate of the expressions that select devices."""

from typing import Final

from apimachinery.cel.checked_expression import Expression
from apimachinery.cel.definition_costs import DefinitionCosts
from apimachinery.cel.value_bounds import Bound, ComputedBound, DeclaredBound

_KEY: Final = ComputedBound("string", 63)
"""The domain of an attribute or capacity."""


def device_cost(expression: Expression, device: DeclaredBound) -> int:
    """Return the estimated cost of evaluating an expression over `device`."""
    return _DeviceCosts(device, ("device",)).cost(expression)


class _DeviceCosts(DefinitionCosts):
    def loop_element(self, iterated: Bound) -> Bound:
        return _KEY if iterated.kind == "map" else super().loop_element(iterated)
