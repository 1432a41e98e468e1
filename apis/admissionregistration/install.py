"""The group admissionregistration.k8s.io as a server installs it."""

from typing import Final

from apis.admissionregistration import GROUP, printers, strategy, v1
from apis.admissionregistration.admission import with_parameter_permissions
from apis.admissionregistration.policies.mutating_plugin import mutating_plugin
from apis.admissionregistration.policies.validating_plugin import validating_plugin
from apis.admissionregistration.register import add_to_scheme
from apiserver import STATUS, Group, Resource, ServerParts
from apiserver.admission.plugins import AdmissionPlugin, PluginFunctions
from apiserver.admission.webhook_configuration import WEBHOOK_ADMISSION

_CATEGORIES: Final = ("api-extensions",)


def mutating_webhooks(parts: ServerParts) -> PluginFunctions:
    from apis.admissionregistration.webhooks.mutating import MutatingWebhooks

    return PluginFunctions(mutate=MutatingWebhooks(parts))


def validating_webhooks(parts: ServerParts) -> PluginFunctions:
    from apis.admissionregistration.webhooks.validating import ValidatingWebhooks

    return PluginFunctions(validate=ValidatingWebhooks(parts))


ADMISSIONREGISTRATION: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    complete=with_parameter_permissions,
    plugins=(
        mutating_plugin(),
        validating_plugin(),
        AdmissionPlugin(
            "MutatingAdmissionWebhook", mutating_webhooks, configuration=WEBHOOK_ADMISSION
        ),
        AdmissionPlugin(
            "ValidatingAdmissionWebhook", validating_webhooks, configuration=WEBHOOK_ADMISSION
        ),
    ),
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
