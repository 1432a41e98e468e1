"""Document heads: the first bytes of a stored document name its kind, version and shape.

    {"kind":"Gadget","apiVersion":"gadgets.example.io/__internal","$shape":"c819aa691131","metadata":{

The shape is the fingerprint of the type that wrote the document. Documents from before there were
shapes, and custom resources, name none.
"""

import re
from dataclasses import dataclass
from typing import Final

import orjson

from apimachinery.schema import GroupVersionKind

MARKER: Final = "$shape"

_HEAD: Final = re.compile(
    rb'\{"kind":"(\w+)","apiVersion":"((?:[\w.-]+/)?[\w.-]+)",'
    rb'(?:"\$shape":"([0-9a-f]+)",)?(?="metadata":)'
)


@dataclass(frozen=True, slots=True)
class StoredForm:
    """How an object is stored: its kind, its version, and the fingerprint of its type's shape."""

    kind: str = ""
    api_version: str = ""
    shape: str = ""
    """Empty for an object without a fingerprint, such as a custom resource."""


def stored_head(kind: GroupVersionKind, fingerprint: str = "") -> bytes:
    """Return the head of stored documents, up to the metadata; no name in it needs escapes."""
    marker = f'"{MARKER}":"{fingerprint}",' if fingerprint else ""
    return f'{{"kind":"{kind.kind}","apiVersion":"{kind.api_version}",{marker}'.encode()


def form_in_head(data: bytes) -> StoredForm | None:
    """Return what the head of a document says; None if it is not written as by `stored_head`."""
    head = _HEAD.match(data)
    return StoredForm(*(part.decode() for part in head.groups(b""))) if head is not None else None


def metadata_start(data: bytes) -> int | None:
    """Return where the metadata of stored bytes starts, None if they do not have our head."""
    head = _HEAD.match(data)
    return None if head is None else head.end() + len('"metadata":')


def stored_form(data: bytes) -> StoredForm:
    """Return the form of a stored document, whoever wrote it; an empty one if it is no object."""
    form = form_in_head(data)
    if form is not None:
        return form
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        return StoredForm()
    if not isinstance(document, dict):
        return StoredForm()
    return StoredForm(*(str(document.get(name) or "") for name in ("kind", "apiVersion", MARKER)))
