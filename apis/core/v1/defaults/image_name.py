"""Names of container images: the tag decides when an image is pulled.

The grammar is that of the distribution project. Every part is matched on its own, by an expression
without backtracking: names come from clients.
"""

import re
from typing import Final

LATEST: Final = "latest"

_IDENTIFIER: Final = re.compile(r"[a-f0-9]{64}")
_DOMAIN: Final = re.compile(
    r"(?:[a-zA-Z0-9-]++(?:\.[a-zA-Z0-9-]++)*+|\[[a-fA-F0-9:]++\])(?::[0-9]++)?+"
)
_COMPONENT: Final = re.compile(r"[a-z0-9]++(?:(?:\.|__?+|-++)[a-z0-9]++)*+")
_TAG: Final = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST: Final = re.compile(r"sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}")
_MAX_NAME: Final = 255


def pull_policy(image: str) -> str:
    """Return the default pull policy: Always for the tag `latest`, named or implied."""
    return "Always" if image_tag(image) == LATEST else "IfNotPresent"


def image_tag(image: str) -> str | None:
    """Return the tag of an image, `latest` if it has neither tag nor digest.

    None if the image has only a digest, or the name is malformed.
    """
    if _IDENTIFIER.fullmatch(image):
        return None
    domain, remainder = _split_domain(image)
    name, at, digest = remainder.partition("@")
    path, colon, tag = name.partition(":")
    parts = path.split("/")
    if not (
        len(domain) + 1 + len(path) <= _MAX_NAME
        and _is_domain(domain)
        and all(map(_COMPONENT.fullmatch, parts))
        and (not colon or _TAG.fullmatch(tag))
        and (not at or _DIGEST.fullmatch(digest))
    ):
        return None
    return tag if colon else None if at else LATEST


def _split_domain(image: str) -> tuple[str, str]:
    first, slash, rest = image.partition("/")
    if not slash:
        return "docker.io", f"library/{image}"
    if first == "localhost" or "." in first or ":" in first or first.lower() != first:
        return first, rest
    return "docker.io", image


def _is_domain(domain: str) -> bool:
    if not _DOMAIN.fullmatch(domain):
        return False
    host = domain.partition(":")[0] if not domain.startswith("[") else ""
    return not any(label.startswith("-") or label.endswith("-") for label in host.split("."))
