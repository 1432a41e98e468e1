"""What is known of etcd's releases: which keep their data, which tell truly how far a watch is.

Apart because these are rules about other people's releases: pure, and tested against a table.
"""

import re

_FIXED = {(3, 4): 31, (3, 5): 13}
"""Minor releases with the fault, and the patch release that mended it."""
_DIVERGING = re.compile(r"v?3\.5\.[012](\D.*)?", re.ASCII)
_VERSION = re.compile(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(\+.*)?", re.ASCII)


def reports_progress_rightly(version: str) -> bool:
    """Whether a progress notification of this etcd never arrives ahead of events it speaks of.

    Before 3.4.31 and 3.5.13 it could: the notification did not wait for watchers that were still
    catching up. Neither pre-releases nor versions that cannot be read are trusted.
    """
    found = _VERSION.fullmatch(version)
    if found is None:
        return False
    major, minor, patch = (int(number) for number in found.groups()[:3])
    if (major, minor) in _FIXED:
        return patch >= _FIXED[major, minor]
    return (major, minor) > max(_FIXED)


def loses_data(version: str) -> bool:
    """Whether a member of this etcd that is killed under load may come back without a write.

    In 3.5.0 to 3.5.2 a member could record that it had applied a write which was not on its disk
    yet. Restarted, it leaves that write out, and differs from the others from then on.
    """
    return _DIVERGING.fullmatch(version) is not None
