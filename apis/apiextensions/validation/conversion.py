"""Validation of the conversion between the versions of a definition.

Errors have the paths of the former fields, such as `spec.conversion.webhookClientConfig`: it is
these that Kubernetes validates.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, not_supported, required
from apimachinery.names import is_dns1035_label
from apis.admissionregistration.validation.webhook_client import (
    validate_webhook_service,
    validate_webhook_url,
)
from apis.apiextensions.conditions import ESTABLISHED, is_true
from apis.apiextensions.v1 import (
    CustomResourceConversion,
    CustomResourceDefinition,
    WebhookClientConfig,
)
from apis.apiextensions.v1.definition import NO_CONVERSION, WEBHOOK
from apis.certificates.pem import pem_blocks
from apis.certificates.x509 import read_certificate

REVIEW_VERSIONS: Final = ("v1", "v1beta1")

_PATH: Final = Path("spec", "conversion")
_CONFIG: Final = _PATH.child("webhookClientConfig")
_VERSIONS: Final = _PATH.child("conversionReviewVersions")
_NOT_A_WEBHOOK: Final = "should not be set when strategy is not set to Webhook"


def validate_conversion(
    definition: CustomResourceDefinition, before: CustomResourceDefinition | None
) -> FieldErrors:
    """Validate the conversion of a definition that is new, or replaces *before*."""
    conversion = definition.spec.conversion
    if conversion is None:
        return
    if conversion.strategy != NO_CONVERSION and definition.spec.preserve_unknown_fields:
        rule = "must be None if spec.preserveUnknownFields is true"
        yield invalid(_PATH.child("strategy"), conversion.strategy, rule)
    if not conversion.strategy:
        yield required(_PATH.child("strategy"))
    elif conversion.strategy not in (NO_CONVERSION, WEBHOOK):
        supported = (NO_CONVERSION, WEBHOOK)
        yield not_supported(_PATH.child("strategy"), conversion.strategy, supported)
    config, versions = _parts(conversion)
    if conversion.strategy == WEBHOOK:
        if config is None:
            yield required(_CONFIG, "required when strategy is set to Webhook")
        else:
            yield from _validate_config(config, before)
        yield from _validate_versions(versions, before)
        return
    if config is not None:
        yield forbidden(_CONFIG, _NOT_A_WEBHOOK)
    if versions:
        yield forbidden(_VERSIONS, _NOT_A_WEBHOOK)


def _validate_config(
    config: WebhookClientConfig, before: CustomResourceDefinition | None
) -> FieldErrors:
    if (config.url is None) == (config.service is None):
        yield required(_CONFIG, "exactly one of url or service is required")
    elif config.url is not None:
        yield from validate_webhook_url(config.url, _CONFIG.child("url"))
    elif config.service is not None:
        yield from validate_webhook_service(config.service, _CONFIG.child("service"))
    if config.ca_bundle and not _allows_any_bundle(before):
        shown = b64encode(config.ca_bundle).decode()
        for problem in _bundle_problems(config.ca_bundle):
            rule = f"unable to load root certificates: {problem}"
            yield invalid(_CONFIG.child("caBundle"), shown, rule)


def _validate_versions(
    versions: Sequence[str], before: CustomResourceDefinition | None
) -> FieldErrors:
    if not versions:
        yield required(_VERSIONS)
        return
    for position, version in enumerate(versions):
        path = _VERSIONS.index(position)
        if version in versions[:position]:
            yield invalid(path, version, "duplicate version")
            continue
        for problem in is_dns1035_label(version):
            yield invalid(path, version, problem)
    if not _are_known(versions) and _requires_known_versions(before):
        rule = f"must include at least one of {', '.join(REVIEW_VERSIONS)}"
        yield invalid(_VERSIONS, list(versions), rule)


def _requires_known_versions(before: CustomResourceDefinition | None) -> bool:
    """Return whether the webhook must know a version of reviews; not if it never did."""
    if before is None or before.spec.conversion is None:
        return True
    _, versions = _parts(before.spec.conversion)
    return not versions or _are_known(versions)


def _are_known(versions: Sequence[str]) -> bool:
    return any(version in REVIEW_VERSIONS for version in versions)


def _allows_any_bundle(before: CustomResourceDefinition | None) -> bool:
    """Return whether the certificates may be invalid: until it is served, or as they were."""
    if before is None or not is_true(before, ESTABLISHED):
        return True
    config, _ = _parts(before.spec.conversion)
    bundle = config.ca_bundle if config is not None else b""
    return bool(bundle) and any(_bundle_problems(bundle))


def _bundle_problems(bundle: bytes) -> Iterator[str]:
    """Yield why no certificate can be read, nothing if one can."""
    problem = "unable to parse bytes as PEM block"
    for block in pem_blocks(bundle):
        if block.type != "CERTIFICATE" or block.has_headers:
            problem = "no valid certificate authority data seen"
        elif read_certificate(block.content) is None:
            problem = "failed to parse certificate: x509: malformed certificate"
        else:
            return
    yield problem


def _parts(
    conversion: CustomResourceConversion | None,
) -> tuple[WebhookClientConfig | None, Sequence[str]]:
    """Return the client configuration and the versions of reviews."""
    webhook = conversion.webhook if conversion is not None else None
    if webhook is None:
        return None, ()
    return webhook.client_config, webhook.conversion_review_versions or ()
