"""Match conditions: expressions that must all be true for a policy to be evaluated."""

from collections.abc import Mapping, Sequence
from typing import Any

from apis.admissionregistration.policies.activation import (
    CONDITIONS_BUDGET,
    Activation,
    Budget,
    CostAllowance,
    OutOfBudget,
)
from apis.admissionregistration.policies.expressions import CompiledExpression


class ConditionUnknown(Exception):
    """Conditions could not be evaluated, and none of the others is false."""


def conditions_match(
    conditions: Sequence[CompiledExpression],
    values: Mapping[str, Any],
    variables: Mapping[str, CompiledExpression],
    allowance: CostAllowance,
) -> bool:
    """Return whether all conditions are true; raise ConditionUnknown if that is not known.

    As in Kubernetes, conditions see no namespace, and the request as it was made.
    """
    request = {**values["request"], "resource": values["request"]["requestResource"]}
    seen = {**values, "namespaceObject": None, "request": request}
    activation, budget = Activation(seen, variables, allowance), Budget(CONDITIONS_BUDGET)
    try:
        results = [activation.evaluate(condition, budget) for condition in conditions]
    except OutOfBudget as error:
        raise ConditionUnknown(str(error)) from None
    errors: list[str] = []
    for result in results:
        if result.error is not None:
            errors.append(result.error)
        elif result.value is False:
            return False
    if errors:
        raise ConditionUnknown(_aggregate(errors))
    return True


def _aggregate(errors: Sequence[str]) -> str:
    """Return the message of several errors, each of them once."""
    different = list(dict.fromkeys(errors))
    return different[0] if len(different) == 1 else f"[{', '.join(different)}]"
