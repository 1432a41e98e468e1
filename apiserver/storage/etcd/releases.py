"""etcd releases with known faults: lost writes and unreliable progress notifications.

Kept apart because these are rules about etcd's releases: pure functions, tested against a table.
"""

import re

_FIXED = {(3, 4): 31, (3, 5): 13}
"""Minor releases with faulty progress notifications, and the patch release with the fix."""
_DIVERGING = re.compile(r"v?3\.5\.[012](\D.*)?", re.ASCII)
_VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(\+.*)?", re.ASCII)


def reports_progress_correctly(version: str) -> bool:
    """Return whether this release never reports progress ahead of the events it covers.

    Before 3.4.31 and 3.5.13 it could: the notification did not wait for watchers that were still
    catching up. Pre-releases and versions that cannot be parsed are not trusted.
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return False
    major, minor, patch = (int(number) for number in match.groups()[:3])
    if (major, minor) in _FIXED:
        return patch >= _FIXED[major, minor]
    return (major, minor) > max(_FIXED)


def may_lose_writes(version: str) -> bool:
    """Return whether a member of this release that is killed under load may lose a write.

    In 3.5.0 to 3.5.2 a member could record a write as applied before it was on disk. After a
    restart it skips that write, and differs from the other members from then on.
    """
    return _DIVERGING.fullmatch(version) is not None
