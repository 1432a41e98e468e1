"""Which versions of etcd say truly how far a watch has come.

Apart because it is a rule about other people's releases: pure, and tested against a table.
"""

import re

_FIXED = {(3, 4): 31, (3, 5): 13}
"""Minor releases with the fault, and the patch release that mended it."""
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
