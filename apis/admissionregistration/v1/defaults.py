"""Defaults of admissionregistration.k8s.io/v1."""

from typing import Final

from apimachinery.meta.types import LabelSelector
from apis.admissionregistration.v1.mutating_policy import MutatingAdmissionPolicySpec
from apis.admissionregistration.v1.rules import (
    ALL,
    EQUIVALENT,
    FAIL,
    MatchResources,
    NamedRuleWithOperations,
    RuleWithOperations,
)
from apis.admissionregistration.v1.validating_policy import ValidatingAdmissionPolicySpec
from apis.admissionregistration.v1.webhook import (
    NEVER,
    MutatingWebhook,
    ServiceReference,
    ValidatingWebhook,
)

TIMEOUT_SECONDS: Final = 10
PORT: Final = 443


def set_validating_webhook_defaults(webhook: ValidatingWebhook) -> None:
    _set_webhook_defaults(webhook)


def set_mutating_webhook_defaults(webhook: MutatingWebhook) -> None:
    _set_webhook_defaults(webhook)
    if webhook.reinvocation_policy is None:
        webhook.reinvocation_policy = NEVER


def set_rule_defaults(rule: RuleWithOperations) -> None:
    if rule.scope is None:
        rule.scope = ALL


def set_named_rule_defaults(rule: NamedRuleWithOperations) -> None:
    if rule.scope is None:
        rule.scope = ALL


def set_service_reference_defaults(service: ServiceReference) -> None:
    if service.port is None:
        service.port = PORT


def set_validating_policy_spec_defaults(spec: ValidatingAdmissionPolicySpec) -> None:
    if spec.failure_policy is None:
        spec.failure_policy = FAIL


def set_mutating_policy_spec_defaults(spec: MutatingAdmissionPolicySpec) -> None:
    if spec.failure_policy is None:
        spec.failure_policy = FAIL


def set_match_resources_defaults(resources: MatchResources) -> None:
    _set_match_defaults(resources)


def _set_webhook_defaults(webhook: ValidatingWebhook | MutatingWebhook) -> None:
    if webhook.failure_policy is None:
        webhook.failure_policy = FAIL
    if webhook.timeout_seconds is None:
        webhook.timeout_seconds = TIMEOUT_SECONDS
    _set_match_defaults(webhook)


def _set_match_defaults(matching: ValidatingWebhook | MutatingWebhook | MatchResources) -> None:
    if matching.match_policy is None:
        matching.match_policy = EQUIVALENT
    if matching.namespace_selector is None:
        matching.namespace_selector = LabelSelector()
    if matching.object_selector is None:
        matching.object_selector = LabelSelector()
