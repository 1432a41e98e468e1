"""Go's names of types and embedded structs that the classes of this package do not show."""

from collections.abc import Mapping
from typing import Final

EMBEDDED: Final[Mapping[str, tuple[str, ...]]] = {
    "NamedRuleWithOperations": ("RuleWithOperations", "Rule"),
    "RuleWithOperations": ("Rule",),
}

GO_TYPES: Final[Mapping[str, str]] = {
    "MatchResources.matchPolicy": "v1.MatchPolicyType",
    "MutatingAdmissionPolicySpec.failurePolicy": "v1.FailurePolicyType",
    "MutatingAdmissionPolicySpec.reinvocationPolicy": "v1.ReinvocationPolicyType",
    "MutatingWebhook.failurePolicy": "v1.FailurePolicyType",
    "MutatingWebhook.matchPolicy": "v1.MatchPolicyType",
    "MutatingWebhook.reinvocationPolicy": "v1.ReinvocationPolicyType",
    "MutatingWebhook.sideEffects": "v1.SideEffectClass",
    "Mutation.patchType": "v1.PatchType",
    "NamedRuleWithOperations.operations": "[]v1.OperationType",
    "NamedRuleWithOperations.scope": "v1.ScopeType",
    "ParamRef.parameterNotFoundAction": "v1.ParameterNotFoundActionType",
    "RuleWithOperations.operations": "[]v1.OperationType",
    "RuleWithOperations.scope": "v1.ScopeType",
    "ValidatingAdmissionPolicyBindingSpec.validationActions": "[]v1.ValidationAction",
    "ValidatingAdmissionPolicySpec.failurePolicy": "v1.FailurePolicyType",
    "ValidatingWebhook.failurePolicy": "v1.FailurePolicyType",
    "ValidatingWebhook.matchPolicy": "v1.MatchPolicyType",
    "ValidatingWebhook.sideEffects": "v1.SideEffectClass",
    "Validation.reason": "v1.StatusReason",
}
