"""Compiled ValidatingAdmissionPolicy: what it decides about one write, with one parameter.

The order of evaluations, what is shared between them and all messages are those of Kubernetes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from apimachinery.cel.interpreter.values import type_name
from apis.admissionregistration.policies.activation import (
    Activation,
    Budget,
    CostAllowance,
    ExpressionResult,
    OutOfBudget,
)
from apis.admissionregistration.policies.expressions import (
    WITHOUT_AUTHORIZER,
    CompiledExpression,
    compile_expression,
)
from apis.admissionregistration.policies.match_conditions import ConditionUnknown, conditions_match
from apis.admissionregistration.v1 import ValidatingAdmissionPolicy
from apis.admissionregistration.v1.validating_policy import AuditAnnotation, Validation

INVALID: Final = "Invalid"

_LONGEST_MESSAGE: Final = 5 * 1024
_LONGEST_ANNOTATION: Final = 10 * 1024

Evaluation = Literal["admit", "deny", "error"]


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """What one expression of a policy decides."""

    denies: bool
    evaluation: Evaluation
    message: str = ""
    reason: str = ""
    seconds: float = 0.0


@dataclass(slots=True)
class Verdict:
    """What a policy decides about a write, with one binding and one parameter."""

    decisions: list[PolicyDecision] = field(default_factory=list)
    """Those of the validations, in their order."""
    annotations: list[tuple[str, str]] = field(default_factory=list)
    """Keys and values of audit annotations."""
    failed_annotations: list[PolicyDecision] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CompiledValidation:
    expression: CompiledExpression
    message: str
    reason: str
    message_expression: CompiledExpression | None

    @property
    def fallback_message(self) -> str:
        return self.message or f"failed expression: {self.expression.text.strip()}"


@dataclass(frozen=True, slots=True)
class CompiledAnnotation:
    key: str
    expression: CompiledExpression


@dataclass(frozen=True, slots=True)
class CompiledValidatingPolicy:
    """The expressions of a policy."""

    ignores_failures: bool
    variables: Mapping[str, CompiledExpression]
    conditions: Sequence[CompiledExpression]
    validations: Sequence[CompiledValidation]
    annotations: Sequence[CompiledAnnotation]

    def validate(self, values: Mapping[str, Any], allowance: CostAllowance) -> Verdict:
        """Evaluate the policy on a write; raise HeldTooLong or Unanswered.

        *values* are the variables of its expressions by their names.
        """
        try:
            if not self._concerns(values, allowance):
                return Verdict()
            verdict = Verdict(self._decide(values, allowance))
            self._annotate(values, allowance, verdict)
        except (ConditionUnknown, OutOfBudget) as error:
            return Verdict([self._failure(str(error))])
        return verdict

    def _concerns(self, values: Mapping[str, Any], allowance: CostAllowance) -> bool:
        if not self.conditions:
            return True
        try:
            return conditions_match(self.conditions, values, self.variables, allowance)
        except ConditionUnknown:
            if self.ignores_failures:
                return False
            raise

    def _decide(self, values: Mapping[str, Any], allowance: CostAllowance) -> list[PolicyDecision]:
        budget, activation = Budget(), Activation(values, self.variables, allowance)
        results = [activation.evaluate(each.expression, budget) for each in self.validations]
        messages: list[ExpressionResult | None]
        try:
            messages = self._messages(values, allowance, budget)
        except OutOfBudget as error:
            problem = f"failed messageExpression: {error}"
            return [self._failure(result.error or problem, result.seconds) for result in results]
        return [
            self._decision(*parts)
            for parts in zip(self.validations, results, messages, strict=True)
        ]

    def _messages(
        self, values: Mapping[str, Any], allowance: CostAllowance, budget: Budget
    ) -> list[ExpressionResult | None]:
        activation = Activation(values, self.variables, allowance)
        return [
            activation.evaluate(each.message_expression, budget)
            if each.message_expression
            else None
            for each in self.validations
        ]

    def _decision(
        self,
        validation: CompiledValidation,
        result: ExpressionResult,
        message: ExpressionResult | None,
    ) -> PolicyDecision:
        if result.error is not None:
            return self._failure(result.error, result.seconds)
        if result.value is True:
            return PolicyDecision(False, "admit", seconds=result.seconds)
        text = _own_message(message) or validation.fallback_message
        return PolicyDecision(True, "deny", text, validation.reason, result.seconds)

    def _annotate(
        self, values: Mapping[str, Any], allowance: CostAllowance, verdict: Verdict
    ) -> None:
        """Add the audit annotations, or why they have no value."""
        if not self.annotations:
            return
        budget, activation = Budget(), Activation(values, self.variables, allowance)
        for annotation in self.annotations:
            result = activation.evaluate(annotation.expression, budget)
            if result.error is not None:
                if not self.ignores_failures:
                    failure = PolicyDecision(True, "error", result.error, seconds=result.seconds)
                    verdict.failed_annotations.append(failure)
            elif isinstance(result.value, str):
                if text := result.value.strip():
                    verdict.annotations.append((annotation.key, text[:_LONGEST_ANNOTATION]))
            elif result.value is not None:
                problem = (
                    f"valueExpression '{annotation.expression.text}' resulted in unsupported return"
                    f" type: {type_name(result.value)}. Return type must be either string or null."
                )
                failure = PolicyDecision(True, "error", problem, seconds=result.seconds)
                verdict.failed_annotations.append(failure)

    def _failure(self, message: str, seconds: float = 0.0) -> PolicyDecision:
        return PolicyDecision(not self.ignores_failures, "error", message, seconds=seconds)


def _own_message(result: ExpressionResult | None) -> str:
    """Return the message that an expression has made, empty if it cannot be used."""
    if result is None or not isinstance(result.value, str):
        return ""
    text = result.value.strip()
    return "" if "\n" in text or len(text.encode()) > _LONGEST_MESSAGE else text


def compile_validating_policy(policy: ValidatingAdmissionPolicy) -> CompiledValidatingPolicy:
    """Compile the expressions of a policy; any thread may call it."""
    spec = policy.spec
    return CompiledValidatingPolicy(
        ignores_failures=spec.failure_policy == "Ignore",
        variables={each.name: compile_expression(each.expression) for each in spec.variables},
        conditions=[compile_expression(each.expression) for each in spec.match_conditions],
        validations=[_validation(each) for each in spec.validations],
        annotations=[_annotation(each) for each in spec.audit_annotations],
    )


def _validation(source: Validation) -> CompiledValidation:
    message = source.message_expression
    return CompiledValidation(
        compile_expression(source.expression),
        source.message.strip(),
        source.reason or INVALID,
        compile_expression(message, WITHOUT_AUTHORIZER) if message else None,
    )


def _annotation(source: AuditAnnotation) -> CompiledAnnotation:
    return CompiledAnnotation(source.key, compile_expression(source.value_expression))
