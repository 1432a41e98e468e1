"""Strategies of webhook configurations, policies and bindings.

Policies are validated in the way of Kubernetes on updates, too: what the stored object breaks, an
update may break again only where that is written down.
"""

from collections.abc import Iterable
from typing import Final, TypeVar

from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.types import Object
from apis.admissionregistration.v1 import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    MutatingWebhookConfiguration,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    ValidatingWebhookConfiguration,
)
from apis.admissionregistration.validation.expressions import EXPRESSION_EFFORT
from apis.admissionregistration.validation.mutating_policy import (
    mutating_expression_count,
    validate_mutating_binding,
    validate_mutating_policy,
)
from apis.admissionregistration.validation.validating_policy import (
    expression_count,
    validate_validating_binding,
    validate_validating_policy,
    validate_validating_policy_status,
)
from apis.admissionregistration.validation.webhook import validate_webhooks
from apiserver import Strategy

STATIC_SUFFIX: Final = ".static.k8s.io"
"""The end of names that belong to configuration in files."""

T = TypeVar("T", bound=Object)
Configuration = TypeVar(
    "Configuration", ValidatingWebhookConfiguration, MutatingWebhookConfiguration
)


class _AdmissionStrategy(Strategy[T]):
    allow_unconditional_update = False
    ratchets = False

    def warnings(self, obj: T, old: T | None = None) -> Iterable[str]:
        if obj.metadata.name.endswith(STATIC_SUFFIX):
            yield (
                f'metadata.name: names ending with "{STATIC_SUFFIX}" are reserved for static'
                " manifest-based configurations and cannot be managed via the API"
            )


class WebhookConfigurationStrategy(_AdmissionStrategy[Configuration]):
    """The generation counts changes of the webhooks."""

    def validate(self, obj: Configuration) -> FieldErrors:
        yield from validate_webhooks(obj.webhooks)

    def validate_update(self, new: Configuration, old: Configuration) -> FieldErrors:
        yield from validate_webhooks(new.webhooks, old.webhooks)

    def effort(self, obj: Configuration) -> int:
        return EXPRESSION_EFFORT * sum(len(hook.match_conditions) for hook in obj.webhooks)

    def desired_state(self, obj: Configuration) -> object:
        return obj.webhooks


class ValidatingPolicyStrategy(_AdmissionStrategy[ValidatingAdmissionPolicy]):
    """The status, with the results of type checking, is apart."""

    def validate(self, obj: ValidatingAdmissionPolicy) -> FieldErrors:
        yield from validate_validating_policy(obj)

    def validate_update(
        self, new: ValidatingAdmissionPolicy, old: ValidatingAdmissionPolicy
    ) -> FieldErrors:
        yield from validate_validating_policy(new, old)

    def validate_status_update(
        self, new: ValidatingAdmissionPolicy, old: ValidatingAdmissionPolicy
    ) -> FieldErrors:
        yield from validate_validating_policy_status(new.status)

    def effort(self, obj: ValidatingAdmissionPolicy) -> int:
        return EXPRESSION_EFFORT * expression_count(obj.spec)


class ValidatingPolicyBindingStrategy(_AdmissionStrategy[ValidatingAdmissionPolicyBinding]):
    """A binding may name a policy that does not exist yet."""

    def validate(self, obj: ValidatingAdmissionPolicyBinding) -> FieldErrors:
        yield from validate_validating_binding(obj)


class MutatingPolicyStrategy(_AdmissionStrategy[MutatingAdmissionPolicy]):
    """A mutating policy has no status."""

    def validate(self, obj: MutatingAdmissionPolicy) -> FieldErrors:
        yield from validate_mutating_policy(obj)

    def validate_update(
        self, new: MutatingAdmissionPolicy, old: MutatingAdmissionPolicy
    ) -> FieldErrors:
        yield from validate_mutating_policy(new, old)

    def effort(self, obj: MutatingAdmissionPolicy) -> int:
        return EXPRESSION_EFFORT * mutating_expression_count(obj.spec)


class MutatingPolicyBindingStrategy(_AdmissionStrategy[MutatingAdmissionPolicyBinding]):
    """A binding may name a policy that does not exist yet."""

    def validate(self, obj: MutatingAdmissionPolicyBinding) -> FieldErrors:
        yield from validate_mutating_binding(obj)
