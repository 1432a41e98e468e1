"""The group admissionregistration.k8s.io as a server installs it."""

from typing import Final

from apis.admissionregistration import GROUP, printers, strategy, v1
from apis.admissionregistration.admission import with_parameter_permissions
from apis.admissionregistration.policies.plugin import validating_plugin
from apis.admissionregistration.register import add_to_scheme
from apiserver import STATUS, Group, Resource

_CATEGORIES: Final = ("api-extensions",)

ADMISSIONREGISTRATION: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    complete=with_parameter_permissions,
    plugins=(validating_plugin(),),
    resources=(
        Resource(
            "mutatingadmissionpolicies",
            v1.MutatingAdmissionPolicy,
            strategy.MutatingPolicyStrategy(),
            categories=_CATEGORIES,
            namespaced=False,
            columns=printers.MUTATING_POLICY_COLUMNS,
            roles=(),
            announced_storage_version="v1beta1",
        ),
        Resource(
            "mutatingadmissionpolicybindings",
            v1.MutatingAdmissionPolicyBinding,
            strategy.MutatingPolicyBindingStrategy(),
            categories=_CATEGORIES,
            namespaced=False,
            columns=printers.BINDING_COLUMNS,
            roles=(),
            announced_storage_version="v1beta1",
        ),
        Resource(
            "mutatingwebhookconfigurations",
            v1.MutatingWebhookConfiguration,
            strategy.WebhookConfigurationStrategy[v1.MutatingWebhookConfiguration](),
            categories=_CATEGORIES,
            namespaced=False,
            columns=printers.WEBHOOK_COLUMNS,
            roles=(),
        ),
        Resource(
            "validatingadmissionpolicies",
            v1.ValidatingAdmissionPolicy,
            strategy.ValidatingPolicyStrategy(),
            categories=_CATEGORIES,
            namespaced=False,
            subresources=(STATUS,),
            columns=printers.VALIDATING_POLICY_COLUMNS,
            roles=(),
        ),
        Resource(
            "validatingadmissionpolicybindings",
            v1.ValidatingAdmissionPolicyBinding,
            strategy.ValidatingPolicyBindingStrategy(),
            categories=_CATEGORIES,
            namespaced=False,
            columns=printers.BINDING_COLUMNS,
            roles=(),
        ),
        Resource(
            "validatingwebhookconfigurations",
            v1.ValidatingWebhookConfiguration,
            strategy.WebhookConfigurationStrategy[v1.ValidatingWebhookConfiguration](),
            categories=_CATEGORIES,
            namespaced=False,
            columns=printers.WEBHOOK_COLUMNS,
            roles=(),
        ),
    ),
)
