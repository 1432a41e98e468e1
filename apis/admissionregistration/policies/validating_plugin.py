"""The admission plugin ValidatingAdmissionPolicy: applies stored policies to writes.

A write that no policy concerns costs a few comparisons and two look-ups. For others the policies
are evaluated one after the other; all of them, because warnings and counts of later ones matter
even if an earlier one denies.
"""

import json
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from apimachinery.errors import APIError
from apis.admissionregistration.matching.reviewed_write import ReviewedWrite
from apis.admissionregistration.policies.activation import error_type
from apis.admissionregistration.policies.denial import Denial
from apis.admissionregistration.policies.parameters import ParameterError, Parameters
from apis.admissionregistration.policies.policy_source import Binding, Hook, PolicySource
from apis.admissionregistration.policies.policy_variables import NamespaceDocuments, PolicyVariables
from apis.admissionregistration.policies.validating_policy import (
    CompiledValidatingPolicy,
    PolicyDecision,
    Verdict,
    compile_validating_policy,
)
from apis.admissionregistration.policies.write_evaluation import WriteEvaluation
from apis.admissionregistration.v1.validating_policy import AUDIT, DENY, WARN
from apiserver import Attributes, ServerParts
from apiserver.admission.plugins import AdmissionPlugin, PluginFunctions
from apiserver.served_versions import ServedVersion

log = logging.getLogger(__name__)

_MOST_FAILURES: Final = 50
"""Failures of one write that are logged."""

ValidatingHook = Hook[CompiledValidatingPolicy]


def validating_plugin() -> AdmissionPlugin:
    """Return the plugin; its policies are those of the server that builds it."""
    return AdmissionPlugin("ValidatingAdmissionPolicy", _build)


def _build(parts: ServerParts) -> PluginFunctions:
    return PluginFunctions(validate=ValidatingPolicies(parts))


class ValidatingPolicies:
    """Denies writes that a policy in effect does not allow."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts
        self._parameters = Parameters(parts)
        self._namespaces = NamespaceDocuments(parts)
        self._source = PolicySource(
            parts,
            policies="validatingadmissionpolicies",
            bindings="validatingadmissionpolicybindings",
            compile_policy=compile_validating_policy,
        )

    def __call__(self, attributes: Attributes) -> Awaitable[None] | None:
        return self._review(attributes) if self._source.may_concern(attributes) else None

    async def _review(self, attributes: Attributes) -> None:
        write = ReviewedWrite(attributes, self._parts)
        hooks = await self._source.concerning(write)
        if hooks:
            review = _Review(write, self._parts, self._parameters, self._namespaces)
            for hook in hooks:
                await review.apply(hook)
            review.finish()


@dataclass(slots=True)
class _Failure:
    """A failed validation for the audit log."""

    message: str
    policy: str
    binding: str
    position: int
    actions: Sequence[str]


class _Review:
    """One write, and what the policies say about it."""

    def __init__(
        self,
        write: ReviewedWrite,
        parts: ServerParts,
        parameters: Parameters,
        namespaces: NamespaceDocuments,
    ) -> None:
        self._write = write
        self._parts = parts
        self._parameters = parameters
        self._metrics = parts.admission_metrics
        self._evaluation = WriteEvaluation(write, parts)
        self._variables = PolicyVariables(write, self._evaluation, namespaces)
        self._denials: list[Denial] = []
        self._failures: list[_Failure] = []
        self._annotations: dict[str, list[str]] = {}

    async def apply(self, hook: ValidatingHook) -> None:
        """Evaluate a policy with each of its bindings that match the write."""
        try:
            shown = await hook.constraints.match(self._write, self._parts.versions)
        except APIError as error:
            self._misconfigured(hook, None, str(error))
            return
        if shown is None:
            return
        if problem := self._parameters.check_kind(hook.param_kind):
            self._misconfigured(hook, None, problem)
            return
        for binding in hook.bindings:
            await self._apply_binding(hook, binding, shown)

    async def _apply_binding(
        self, hook: ValidatingHook, binding: Binding, shown: ServedVersion
    ) -> None:
        write = self._write
        try:
            constraints = binding.constraints
            if constraints and await constraints.match(write, self._parts.versions) is None:
                return
            found = await self._parameters.find(hook.param_kind, binding.reference, write)
        except (APIError, ParameterError) as error:
            self._misconfigured(hook, binding, str(error))
            return
        if not found:
            return
        values = await self._variables.values(shown)
        for parameter in found:
            evaluate = partial(hook.compiled.validate, {**values, "params": parameter})
            verdict = await self._evaluation.run(evaluate)
            self._enforce(hook, binding, verdict)

    def _misconfigured(self, hook: ValidatingHook, binding: Binding | None, problem: str) -> None:
        if hook.ignores_failures:
            return
        part, name = ("binding", binding.name) if binding else ("policy", "")
        self._denials.append(Denial(hook.name, name, f"failed to configure {part}: {problem}"))

    def _enforce(self, hook: ValidatingHook, binding: Binding, verdict: Verdict) -> None:
        for position, decision in enumerate(verdict.decisions):
            if decision.denies:
                for action in binding.actions:
                    self._act(hook, binding, action, decision, position)
                    self._count(hook, binding, decision, action.lower())
            elif decision.evaluation == "error":
                self._count(hook, binding, decision, "allow")
        for key, value in verdict.annotations:
            values = self._annotations.setdefault(f"{hook.name}/{key}", [])
            if value not in values:
                values.append(value)
        for failed in verdict.failed_annotations:
            self._denials.append(Denial(hook.name, binding.name, failed.message))
            self._count(hook, binding, failed, "deny")

    def _count(
        self, hook: ValidatingHook, binding: Binding, decision: PolicyDecision, action: str
    ) -> None:
        self._metrics.observe_validation(
            hook.name,
            binding.name,
            error=error_type(decision.message),
            action=action,
            seconds=decision.seconds,
        )

    def _act(
        self,
        hook: ValidatingHook,
        binding: Binding,
        action: str,
        decision: PolicyDecision,
        position: int,
    ) -> None:
        if action == DENY:
            denial = Denial(hook.name, binding.name, decision.message, decision.reason)
            self._denials.append(denial)
        elif action == WARN:
            self._write.attributes.warn(
                f"Validation failed for ValidatingAdmissionPolicy '{hook.name}' with binding"
                f" '{binding.name}': {decision.message}"
            )
        elif action == AUDIT:
            self._failures.append(
                _Failure(decision.message, hook.name, binding.name, position, binding.actions)
            )

    def finish(self) -> None:
        """Log what is for the audit log, and raise the first denial."""
        self._log()
        if self._denials:
            raise self._denials[0].error(self._write.attributes)

    def _log(self) -> None:
        annotations = {key: ", ".join(values) for key, values in self._annotations.items()}
        if self._failures:
            annotations["validation.policy.admission.k8s.io/validation_failure"] = json.dumps(
                [
                    {
                        "message": failure.message,
                        "policy": failure.policy,
                        "binding": failure.binding,
                        "expressionIndex": failure.position,
                        "validationActions": list(failure.actions),
                    }
                    for failure in self._failures[:_MOST_FAILURES]
                ]
            )
        if annotations:
            context = self._write.attributes.context
            log.info("audit annotations of request %s: %s", context.request_id, annotations)
