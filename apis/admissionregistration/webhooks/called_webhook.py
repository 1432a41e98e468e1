"""CalledWebhook: one webhook of a configuration, compiled for the requests to come."""

from collections.abc import Iterator
from dataclasses import dataclass

from apis.admissionregistration.matching.rules import MatchRule, compile_rule
from apis.admissionregistration.matching.selectors import Selectors
from apis.admissionregistration.policies.expressions import (
    CompiledExpression,
    compile_expression,
)
from apis.admissionregistration.v1 import (
    MutatingWebhook,
    MutatingWebhookConfiguration,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
    WebhookClientConfig,
)
from apis.admissionregistration.v1.defaults import PORT, TIMEOUT_SECONDS
from apis.admissionregistration.v1.rules import IGNORE
from apis.admissionregistration.v1.webhook import IF_NEEDED, NO_SIDE_EFFECTS, NONE_ON_DRY_RUN
from apis.admissionregistration.webhooks.admission_review import VERSIONS
from apiserver.webhook_call import WebhookService, WebhookTarget

Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration


@dataclass(frozen=True, slots=True)
class CalledWebhook:
    """A webhook and when to call it."""

    name: str
    uid: str
    """Unique among all webhooks, whose names may be repeated."""
    target: WebhookTarget
    rules: tuple[MatchRule, ...]
    match_policy: str | None
    selectors: Selectors
    timeout: int
    """In seconds."""
    ignores_failures: bool
    reinvoked: bool
    """Whether it is called again if the object changes after it."""
    side_effects: str | None
    conditions: tuple[CompiledExpression, ...]
    review_version: str
    """The first known version of AdmissionReview that it accepts; empty if there is none."""

    @property
    def allows_dry_run(self) -> bool:
        return self.side_effects in (NO_SIDE_EFFECTS, NONE_ON_DRY_RUN)


def compile_webhooks(configuration: Configuration) -> tuple[CalledWebhook, ...]:
    """Return the webhooks of a configuration, in its order."""
    return tuple(_compiled(configuration))


def _compiled(configuration: Configuration) -> Iterator[CalledWebhook]:
    numbers: dict[str, int] = {}
    for webhook in configuration.webhooks:
        number = numbers.get(webhook.name, 0)
        numbers[webhook.name] = number + 1
        yield _compile(webhook, f"{configuration.metadata.name}/{webhook.name}/{number}")


def _compile(webhook: MutatingWebhook | ValidatingWebhook, uid: str) -> CalledWebhook:
    accepted = webhook.admission_review_versions
    return CalledWebhook(
        name=webhook.name,
        uid=uid,
        target=_target(webhook.client_config),
        rules=tuple(compile_rule(rule) for rule in webhook.rules),
        match_policy=webhook.match_policy,
        selectors=Selectors.compile(webhook.namespace_selector, webhook.object_selector),
        timeout=webhook.timeout_seconds or TIMEOUT_SECONDS,
        ignores_failures=webhook.failure_policy == IGNORE,
        reinvoked=isinstance(webhook, MutatingWebhook) and webhook.reinvocation_policy == IF_NEEDED,
        side_effects=webhook.side_effects,
        conditions=tuple(
            compile_expression(condition.expression) for condition in webhook.match_conditions
        ),
        review_version=next((version for version in accepted if version in VERSIONS), ""),
    )


def _target(config: WebhookClientConfig) -> WebhookTarget:
    service = config.service
    if service is None:
        return WebhookTarget(config.url or "", ca_bundle=config.ca_bundle)
    reference = WebhookService(
        service.namespace, service.name, service.path or "", service.port or PORT
    )
    return WebhookTarget(service=reference, ca_bundle=config.ca_bundle)
