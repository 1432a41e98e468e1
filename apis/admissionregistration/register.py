"""Registration of admissionregistration.k8s.io, for clients and servers."""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.admissionregistration import GROUP, v1
from apis.admissionregistration.v1 import defaults


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(
        GroupVersion(GROUP, "v1"),
        v1.MutatingAdmissionPolicy,
        v1.MutatingAdmissionPolicyBinding,
        v1.MutatingWebhookConfiguration,
        v1.ValidatingAdmissionPolicy,
        v1.ValidatingAdmissionPolicyBinding,
        v1.ValidatingWebhookConfiguration,
        internal=True,
    )
    scheme.add_defaults(
        defaults.set_match_resources_defaults,
        defaults.set_mutating_policy_spec_defaults,
        defaults.set_mutating_webhook_defaults,
        defaults.set_named_rule_defaults,
        defaults.set_rule_defaults,
        defaults.set_service_reference_defaults,
        defaults.set_validating_policy_spec_defaults,
        defaults.set_validating_webhook_defaults,
    )
