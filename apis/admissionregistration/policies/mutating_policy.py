"""Compiled MutatingAdmissionPolicy: its conditions, and the changes that it makes to a document.

A mutation is an expression whose value is an apply configuration (`patches.apply_configuration`) or
a JSON patch (`patches.apply_json_patch`). Unlike validations, mutations have a budget each, and
variables are evaluated anew for each, because the object may have changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from apimachinery.model.type_shape import Shape
from apis.admissionregistration.policies.activation import (
    Activation,
    Budget,
    CostAllowance,
    OutOfBudget,
)
from apis.admissionregistration.policies.expressions import (
    CompiledExpression,
    compile_expression,
)
from apis.admissionregistration.policies.match_conditions import conditions_match
from apis.admissionregistration.policies.patches import (
    MutationFailed,
    apply_configuration,
    apply_json_patch,
)
from apis.admissionregistration.v1 import MutatingAdmissionPolicy
from apis.admissionregistration.v1.mutating_policy import APPLY_CONFIGURATION, Mutation


@dataclass(frozen=True, slots=True)
class CompiledMutation:
    patch_type: str
    expression: CompiledExpression

    @property
    def is_configuration(self) -> bool:
        return self.patch_type == APPLY_CONFIGURATION


@dataclass(frozen=True, slots=True)
class Mutated:
    """A document after a mutation, or why there is none."""

    document: Any
    problem: str
    seconds: float


@dataclass(frozen=True, slots=True)
class CompiledMutatingPolicy:
    """The expressions of a policy."""

    ignores_failures: bool
    is_reinvoked: bool
    variables: Mapping[str, CompiledExpression]
    conditions: Sequence[CompiledExpression]
    mutations: Sequence[CompiledMutation]

    def concerns(self, values: Mapping[str, Any], allowance: CostAllowance) -> bool:
        """Return whether the conditions match; raise ConditionUnknown if that is not known."""
        if not self.conditions:
            return True
        return conditions_match(self.conditions, values, self.variables, allowance)

    def mutate(
        self,
        mutation: CompiledMutation,
        values: Mapping[str, Any],
        shape: Shape,
        allowance: CostAllowance,
    ) -> Mutated:
        """Evaluate a mutation and apply it to the document of *values*."""
        started = perf_counter()
        document, problem = values["object"], ""
        try:
            document = self._mutated(mutation, values, shape, allowance)
        except (MutationFailed, OutOfBudget) as error:
            problem = str(error)
        return Mutated(document, problem, perf_counter() - started)

    def _mutated(
        self,
        mutation: CompiledMutation,
        values: Mapping[str, Any],
        shape: Shape,
        allowance: CostAllowance,
    ) -> Any:
        if mutation.expression.program is None:
            raise MutationFailed(mutation.expression.problem)
        activation = Activation(values, self.variables, allowance)
        result = activation.evaluate(mutation.expression, Budget())
        if result.error is not None:
            raise MutationFailed(result.error)
        if mutation.is_configuration:
            return apply_configuration(result.value, values["object"], shape)
        return apply_json_patch(result.value, values["object"])


def compile_mutating_policy(policy: MutatingAdmissionPolicy) -> CompiledMutatingPolicy:
    """Compile the expressions of a policy; any thread may call it."""
    spec = policy.spec
    return CompiledMutatingPolicy(
        ignores_failures=spec.failure_policy == "Ignore",
        is_reinvoked=spec.reinvocation_policy == "IfNeeded",
        variables={each.name: compile_expression(each.expression) for each in spec.variables},
        conditions=[compile_expression(each.expression) for each in spec.match_conditions],
        mutations=[_mutation(each) for each in spec.mutations],
    )


def _mutation(source: Mutation) -> CompiledMutation:
    patch = source.apply_configuration or source.json_patch
    text = patch.expression if patch is not None else ""
    return CompiledMutation(source.patch_type, compile_expression(text))
