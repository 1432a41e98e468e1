"""Printer columns of webhook configurations, policies and bindings."""

from typing import Final

from apimachinery.meta.types import LabelSelector
from apis.admissionregistration.v1 import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    MutatingWebhookConfiguration,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    ValidatingWebhookConfiguration,
)
from apiserver.views.table import Column

_UNSET: Final = "<unset>"


def webhook_count(
    configuration: ValidatingWebhookConfiguration | MutatingWebhookConfiguration,
) -> int:
    return len(configuration.webhooks)


def validation_count(policy: ValidatingAdmissionPolicy) -> int:
    return len(policy.spec.validations)


def mutation_count(policy: MutatingAdmissionPolicy) -> int:
    return len(policy.spec.mutations)


def param_kind(policy: ValidatingAdmissionPolicy | MutatingAdmissionPolicy) -> str:
    kind = policy.spec.param_kind
    return _UNSET if kind is None else f"{kind.api_version}/{kind.kind}"


def policy_name(
    binding: ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding,
) -> str:
    return binding.spec.policy_name


def param_reference(
    binding: ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding,
) -> str:
    reference = binding.spec.param_ref
    if reference is None:
        return _UNSET
    if reference.name:
        # Whether the parameters are cluster-scoped cannot be seen here.
        return f"{reference.namespace or '*'}/{reference.name}"
    return _UNSET if reference.selector is None else _selector_text(reference.selector)


def _selector_text(selector: LabelSelector) -> str:
    """Return a selector in the notation of Go."""
    labels = "".join(f"{key}: {value}," for key, value in sorted(selector.match_labels.items()))
    requirements = "".join(
        f"LabelSelectorRequirement{{Key:{requirement.key},Operator:{requirement.operator},"
        f"Values:[{' '.join(requirement.values)}],}},"
        for requirement in selector.match_expressions
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{requirements}}},}}"
    )


WEBHOOK_COLUMNS: Final = (
    Column("Webhooks", webhook_count, type="integer", description="Number of webhooks."),
)

_PARAM_KIND: Final = Column(
    "ParamKind", param_kind, description="Kind of the objects that parameterize the policy."
)

VALIDATING_POLICY_COLUMNS: Final = (
    Column("Validations", validation_count, type="integer", description="Number of validations."),
    _PARAM_KIND,
)

MUTATING_POLICY_COLUMNS: Final = (
    Column("Mutations", mutation_count, type="integer", description="Number of mutations."),
    _PARAM_KIND,
)

BINDING_COLUMNS: Final = (
    Column("PolicyName", policy_name, description="Name of the bound policy."),
    Column("ParamRef", param_reference, description="Parameters of the policy."),
)
