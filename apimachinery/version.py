"""The order of version names: v2 before v1, before v1beta2, before v1alpha1.

The order is Kubernetes' own and not alphabetical (v10 is newer than v2). It decides the
order of versions in discovery and which one is preferred, so server and client share it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

_KUBE_VERSION: Final = re.compile(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?")
_STABILITY: Final = {None: 2, "beta": 1, "alpha": 0}
_INT_MAX: Final = 2**63 - 1

PreferenceKey: TypeAlias = tuple[bool, int, int, int, str]


def is_kube_version(version: str) -> bool:
    """Tell whether a version name follows the convention `v1`, `v1beta1`, `v1alpha1`."""
    return _parse(version) is not None


def preference_key(version: str) -> PreferenceKey:
    """Return a sort key that puts the preferred version first and odd names last."""
    parsed = _parse(version)
    if parsed is None:
        return (True, 0, 0, 0, version)
    stability, major, minor = parsed
    return (False, -stability, -major, -minor, "")


def compare(left: str, right: str) -> int:
    """Return 1 if *left* is preferred to *right*, -1 if it is the other way round, else 0."""
    left_key, right_key = preference_key(left), preference_key(right)
    return (left_key < right_key) - (left_key > right_key)


def sort_versions(versions: Iterable[str]) -> list[str]:
    """Return versions in order, the preferred one first."""
    return sorted(versions, key=preference_key)


def _parse(version: str) -> tuple[int, int, int] | None:
    match = _KUBE_VERSION.fullmatch(version)
    if match is None:
        return None
    numbers = _number(match[1]), _number(match[3] or "0")
    if max(numbers) > _INT_MAX:
        return None
    return (_STABILITY[match[2]], *numbers)


def _number(digits: str) -> int:
    # Longer ones do not fit Kubernetes' integers, and int() may refuse to read them.
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= 19 else _INT_MAX + 1
