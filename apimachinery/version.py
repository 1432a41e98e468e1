"""Version priority: v2 before v1, before v1beta2, before v1alpha1.

The order is Kubernetes' own and not alphabetical: v10 comes before v2. It decides the order of
versions in discovery and the preferred version, so server and client share it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias

_KUBE_VERSION: Final = re.compile(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?")
_STABILITY: Final = {None: 2, "beta": 1, "alpha": 0}
_INT_MAX: Final = 2**63 - 1

PreferenceKey: TypeAlias = tuple[bool, int, int, int, str]


def preference_key(version: str) -> PreferenceKey:
    """Return a sort key: the preferred version first, names outside the convention last."""
    parsed = _parse(version)
    if parsed is None:
        return (True, 0, 0, 0, version)
    stability, major, minor = parsed
    return (False, -stability, -major, -minor, "")


def sort_versions(versions: Iterable[str]) -> list[str]:
    """Return version names in order of preference."""
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
    # More digits do not fit an int64, and Python's int() refuses to parse thousands of them.
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= 19 else _INT_MAX + 1
