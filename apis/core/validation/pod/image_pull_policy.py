"""Validation of the image pull policy, of containers and of image volumes."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, not_supported, required

_POLICIES: Final = ("Always", "IfNotPresent", "Never")


def validate_pull_policy(policy: str, path: Path) -> FieldErrors:
    if not policy:
        yield required(path)
    elif policy not in _POLICIES:
        yield not_supported(path, policy, _POLICIES)
