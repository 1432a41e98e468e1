"""Texts without what differs from run to run: ages, times, uids, versions, names of namespaces.

A transcript writes `AGE`, `TIME`, `UID`, `VERSION` and `NAMESPACE` in their places. The width of
columns depends on such values, so the number of spaces inside a line does not count.
"""

import re
from typing import Final

_UID: Final = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_TIME: Final = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| \+0000)")
_VERSION: Final = re.compile(r'((?:resourceVersion"?|Resource Version):\s+)("?)\d+\2')
_AGE: Final = re.compile(r"(?<=  )(\d+[dhms])+(?=\s|$)")
_GAP: Final = re.compile(r"(?<=\S) {2,}")
_FOLDER: Final = re.compile(r"/\S*/(LIVE|MERGED)-\d+/")


def normal(text: str, namespace: str) -> str:
    """*text* with the names of its values for the values that differ."""
    text = _UID.sub("UID", text)
    text = _TIME.sub("TIME", text)
    text = _VERSION.sub(r"\1\2VERSION\2", text)
    text = _FOLDER.sub(r"\1/", text)
    # Newer ones also say where something was deleted.
    text = text.replace(f" from {namespace} namespace\n", "\n")
    text = re.sub(rf"\b{re.escape(namespace)}\b", "NAMESPACE", text)
    text = _GAP.sub("  ", _AGE.sub("AGE", text))
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
