"""Validation of webhook configurations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.metadata_validation import validate_label_selector
from apimachinery.names import is_dns1035_label, is_fully_qualified_name
from apis.admissionregistration.v1 import MutatingWebhook, ValidatingWebhook
from apis.admissionregistration.v1.webhook import (
    IF_NEEDED,
    NEVER,
    NO_SIDE_EFFECTS,
    NONE_ON_DRY_RUN,
)
from apis.admissionregistration.validation.expressions import (
    Expressions,
    missing_cel,
    too_many_expressions,
)
from apis.admissionregistration.validation.rules import (
    FAILURE_POLICIES,
    MATCH_POLICIES,
    validate_match_conditions,
    validate_rule,
)
from apis.admissionregistration.validation.webhook_client import validate_client_config

REINVOCATION_POLICIES: Final = (IF_NEEDED, NEVER)

_REVIEW_VERSIONS: Final = ("v1", "v1beta1")
_HARMLESS: Final = (NO_SIDE_EFFECTS, NONE_ON_DRY_RUN)
_SIDE_EFFECTS: Final = (NO_SIDE_EFFECTS, NONE_ON_DRY_RUN, "Some", "Unknown")
_MAX_TIMEOUT: Final = 30
_WEBHOOKS: Final = Path("webhooks")

Webhooks = Sequence[ValidatingWebhook | MutatingWebhook]


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules that an update must satisfy: those that all current webhooks satisfy."""

    match_conditions: bool = True
    """Whether match conditions are validated: an update that does not change them need not."""
    harmless: bool = True
    known_version: bool = True
    unique_names: bool = True
    valid_selectors: bool = True


def validate_webhooks(webhooks: Webhooks, current: Webhooks | None = None) -> FieldErrors:
    """Validate the webhooks of a new configuration, or of one that replaces *current*."""
    count = sum(len(webhook.match_conditions) for webhook in webhooks)
    problems = list(too_many_expressions(count, _WEBHOOKS))
    if count:
        problems += missing_cel(_WEBHOOKS)
    yield from problems
    if problems:
        return
    rules = _Rules() if current is None else _rules_of(webhooks, current)
    names: set[str] = set()
    for position, webhook in enumerate(webhooks):
        path = _WEBHOOKS.index(position)
        yield from _validate_webhook(webhook, rules, path)
        yield from _validate_versions(
            webhook.admission_review_versions, rules, path.child("admissionReviewVersions")
        )
        if rules.unique_names and webhook.name in names:
            yield duplicate(path.child("name"), webhook.name)
        names |= {webhook.name} - {""}


def _rules_of(webhooks: Webhooks, current: Webhooks) -> _Rules:
    names = [webhook.name for webhook in current]
    return _Rules(
        match_conditions=[webhook.match_conditions for webhook in webhooks]
        != [webhook.match_conditions for webhook in current],
        harmless=all(webhook.side_effects in _HARMLESS for webhook in current),
        known_version=all(
            not webhook.admission_review_versions
            or any(version in _REVIEW_VERSIONS for version in webhook.admission_review_versions)
            for webhook in current
        ),
        unique_names=len(set(names)) == len(names),
        valid_selectors=not any(
            any(validate_label_selector(selector, Path()))
            for webhook in current
            for selector in (webhook.namespace_selector, webhook.object_selector)
        ),
    )


def _validate_webhook(
    webhook: ValidatingWebhook | MutatingWebhook, rules: _Rules, path: Path
) -> FieldErrors:
    yield from _validate_name(webhook.name, path.child("name"))
    for position, rule in enumerate(webhook.rules):
        yield from validate_rule(rule, path.child("rules").index(position))
    yield from _validate_choice(
        webhook.failure_policy, FAILURE_POLICIES, path.child("failurePolicy")
    )
    yield from _validate_choice(webhook.match_policy, MATCH_POLICIES, path.child("matchPolicy"))
    yield from _validate_side_effects(
        webhook.side_effects, _HARMLESS if rules.harmless else _SIDE_EFFECTS, path
    )
    timeout = webhook.timeout_seconds
    if timeout is not None and not 1 <= timeout <= _MAX_TIMEOUT:
        detail = "the timeout value must be between 1 and 30 seconds"
        yield invalid(path.child("timeoutSeconds"), timeout, detail)
    for name, selector in (
        ("namespaceSelector", webhook.namespace_selector),
        ("objectSelector", webhook.object_selector),
    ):
        yield from validate_label_selector(
            selector, path.child(name), allow_invalid_values=not rules.valid_selectors
        )
    if isinstance(webhook, MutatingWebhook):
        yield from _validate_choice(
            webhook.reinvocation_policy, REINVOCATION_POLICIES, path.child("reinvocationPolicy")
        )
    yield from validate_client_config(webhook.client_config, path.child("clientConfig"))
    if rules.match_conditions:
        yield from validate_match_conditions(
            webhook.match_conditions,
            path.child("matchConditions"),
            Expressions(has_params=False),
        )


def _validate_name(name: str, path: Path) -> FieldErrors:
    if not name:
        yield required(path)
        return
    for problem in is_fully_qualified_name(name):
        yield invalid(path, name, problem)


def _validate_choice(value: str | None, supported: Sequence[str], path: Path) -> FieldErrors:
    if value is not None and value not in supported:
        yield not_supported(path, value, supported)


def _validate_side_effects(value: str | None, supported: Sequence[str], path: Path) -> FieldErrors:
    here = path.child("sideEffects")
    if value is None:
        yield required(here, f"must specify one of {', '.join(supported)}")
    elif value not in supported:
        yield not_supported(here, value, supported)


def _validate_versions(versions: Sequence[str], rules: _Rules, path: Path) -> FieldErrors:
    if not versions:
        yield required(path, f"must specify one of {', '.join(_REVIEW_VERSIONS)}")
        return
    seen: set[str] = set()
    for position, version in enumerate(versions):
        here = path.index(position)
        if version in seen:
            yield invalid(here, version, "duplicate version")
            continue
        seen.add(version)
        for problem in is_dns1035_label(version):
            yield invalid(here, version, problem)
    if rules.known_version and not any(version in _REVIEW_VERSIONS for version in versions):
        detail = f"must include at least one of {', '.join(_REVIEW_VERSIONS)}"
        yield invalid(path, versions, detail)
