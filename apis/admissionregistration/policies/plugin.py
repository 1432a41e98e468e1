"""The admission plugin ValidatingAdmissionPolicy: applies stored policies to writes.

A write that no policy concerns costs a few comparisons and two look-ups. For others the policies
are evaluated one after the other; all of them, because warnings and counts of later ones matter
even if an earlier one denies.
"""

import json
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from apimachinery.errors import APIError
from apimachinery.meta.unstructured import load_content
from apimachinery.schema import GroupVersionResource
from apis.admissionregistration.matching.admission_request import admission_request
from apis.admissionregistration.matching.reviewed_write import NAMESPACES, ReviewedWrite
from apis.admissionregistration.matching.rules import Target
from apis.admissionregistration.policies.denial import Denial
from apis.admissionregistration.policies.parameters import ParameterError, Parameters
from apis.admissionregistration.policies.policy_source import (
    Binding,
    Hook,
    NotReady,
    PolicySource,
)
from apis.admissionregistration.policies.validating_policy import (
    CompiledValidatingPolicy,
    Decision,
    Verdict,
    compile_validating_policy,
)
from apis.admissionregistration.policies.write_evaluation import WriteEvaluation
from apis.admissionregistration.v1.validating_policy import AUDIT, DENY, WARN
from apiserver import Attributes, ServerParts
from apiserver.admission.plugins import AdmissionPlugin, PluginFunctions
from apiserver.served_versions import ServedVersion
from apiserver.storage.cache.read_revision import Freshness

log = logging.getLogger(__name__)

_HIDDEN: Final = ("managedFields", "ownerReferences", "selfLink")
_NAMESPACE: Final = GroupVersionResource("", "v1", "namespaces")
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
        self._source = PolicySource(
            parts,
            policies="validatingadmissionpolicies",
            bindings="validatingadmissionpolicybindings",
            compile_policy=compile_validating_policy,
        )

    def __call__(self, attributes: Attributes) -> Awaitable[None] | None:
        source = self._source
        if source.is_current and not (source.has_hooks and self._may_concern(attributes)):
            return None
        return self._review(attributes)

    def _may_concern(self, attributes: Attributes) -> bool:
        """Return whether a policy may concern a write, as far as that is known."""
        context = attributes.context
        namespaced = bool(context.namespace) and context.resource.group_resource != NAMESPACES
        target = Target(
            attributes.operation, context.resource, context.subresource, namespaced=namespaced
        )
        known = self._source.known_hooks(target)
        return known is None or bool(known)

    async def _review(self, attributes: Attributes) -> None:
        try:
            await self._source.catch_up()
        except NotReady:
            raise attributes.forbidden("not yet ready to handle request") from None
        if not self._source.has_hooks:
            return
        write = ReviewedWrite(attributes, self._parts)
        hooks = self._source.hooks(write.target, write.own)
        if hooks:
            review = _Review(write, self._parts, self._parameters)
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

    def __init__(self, write: ReviewedWrite, parts: ServerParts, parameters: Parameters) -> None:
        self._write = write
        self._parts = parts
        self._parameters = parameters
        self._evaluation = WriteEvaluation(write, parts)
        self._denials: list[Denial] = []
        self._failures: list[_Failure] = []
        self._annotations: dict[str, list[str]] = {}
        self._namespace: Any = None
        self._has_namespace = False

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
        values = await self._values(shown)
        for parameter in found:
            evaluate = partial(hook.compiled.validate, {**values, "params": parameter})
            verdict = await self._evaluation.run(evaluate)
            self._enforce(hook, binding, verdict)

    async def _values(self, shown: ServedVersion) -> dict[str, Any]:
        """Return the variables of expressions, except `params`."""
        write = self._write
        return {
            "object": await write.content(shown),
            "oldObject": await write.content(shown, old=True),
            "request": admission_request(write, shown),
            "namespaceObject": await self._namespace_object(),
            **self._evaluation.authorizer_variables(),
        }

    async def _namespace_object(self) -> Any:
        write = self._write
        if not self._has_namespace:
            if write.namespace and not write.is_namespace:
                self._namespace = await namespace_document(self._parts, write.namespace)
            self._has_namespace = True
        return self._namespace

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
        for key, value in verdict.annotations:
            values = self._annotations.setdefault(f"{hook.name}/{key}", [])
            if value not in values:
                values.append(value)
        for failed in verdict.failed_annotations:
            self._denials.append(Denial(hook.name, binding.name, failed.message))

    def _act(
        self,
        hook: ValidatingHook,
        binding: Binding,
        action: str,
        decision: Decision,
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


async def namespace_document(parts: ServerParts, name: str) -> Mapping[str, Any]:
    """Return a namespace as expressions see it (`namespaceObject`). Raises NotFound."""
    store = parts.find_store(NAMESPACES)
    try:
        entry = await store.get(name, at=Freshness.ANY)
    except APIError:
        entry = await store.get(name, at=Freshness.NEWEST)
    document = load_content(parts.versions.encode(store.decode(entry), _NAMESPACE))
    metadata = {key: value for key, value in document["metadata"].items() if key not in _HIDDEN}
    shown: dict[str, Any] = {key: document[key] for key in ("spec", "status") if key in document}
    return {"metadata": metadata, **shown}
