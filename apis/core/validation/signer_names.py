"""Validation of signer names, such as `kubernetes.io/kube-apiserver-client`.

What pods may ask of a signer is here too: projected volumes and certificate requests share it.
"""

from collections.abc import Callable, Mapping
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, quote, required, too_long
from apimachinery.meta.metadata_validation import ANNOTATIONS_MAX
from apimachinery.names import (
    LABEL_MAX,
    SUBDOMAIN_MAX,
    byte_length,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_domain_prefixed_key,
)

LIFETIME_MIN: Final = 60 * 60
"""Of the certificate of a pod, in seconds."""
_LIFETIME_MAX: Final = 91 * 24 * 60 * 60
_KUBERNETES_LIFETIME_MAX: Final = 24 * 60 * 60

# A domain, a slash, and the name of a namespace and of an object joined by a dot.
_LENGTH_MAX: Final = SUBDOMAIN_MAX + 1 + LABEL_MAX + 1 + SUBDOMAIN_MAX


def lifetime_max(signer: str) -> int:
    """Return the longest lifetime that the certificate of a pod may have, in seconds."""
    domain = signer.partition("/")[0]
    own = f".{domain}".endswith(".kubernetes.io")
    return _KUBERNETES_LIFETIME_MAX if own else _LIFETIME_MAX


def validate_user_annotations(annotations: Mapping[str, str], path: Path) -> FieldErrors:
    """Validate what the author of a pod tells the signer."""
    size = 0
    for key, value in annotations.items():
        size += byte_length(key) + byte_length(value)
        for error in is_domain_prefixed_key(key.lower()):
            yield invalid(path, key.lower(), error)
    if size > ANNOTATIONS_MAX:
        yield too_long(path, ANNOTATIONS_MAX)


def validate_signer_name(name: str, path: Path) -> FieldErrors:
    if not name:
        yield required(path)
        return
    domain, _, rest = name.partition("/")
    if name.count("/") != 1:
        rule = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield invalid(path, name, rule)
        return
    if byte_length(domain) > SUBDOMAIN_MAX:
        yield too_long(path, SUBDOMAIN_MAX)
    yield from _validate_labels(domain, is_dns1123_label, path)
    if "." not in domain:
        rule = "should be a domain with at least two segments separated by dots"
        yield invalid(path, domain, rule)
    # Labels of the second part may be as long as names of objects.
    yield from _validate_labels(rest, is_dns1123_subdomain, path)
    if byte_length(name) > _LENGTH_MAX:
        yield too_long(path, _LENGTH_MAX)


def _validate_labels(text: str, rule: Callable[[str], list[str]], path: Path) -> FieldErrors:
    """Validate labels that dots separate, up to the first that is invalid."""
    for label in text.split("."):
        if errors := rule(label):
            for error in errors:
                yield invalid(path, text, f"validating label {quote(label)}: {error}")
            return
