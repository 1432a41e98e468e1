"""Continue tokens: where the next page of a list starts, and of which revision it is.

The form is Kubernetes' own, because clients have been seen to look inside. A token is a client's
text, so everything about it is checked: whatever it says, it cannot lead out of its prefix.
"""

import base64
import posixpath
import re
from dataclasses import dataclass
from typing import Any, Final

import orjson

from apimachinery.scalars.wire_types import INT64_MAX, INT64_MIN

NEWEST: Final = -1
"""The revision of a token that goes on at whatever is newest, after its own was forgotten."""

_VERSION: Final = "meta.k8s.io/v1"
_INVALID: Final = "continue key is not valid"
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9_-]")


class InvalidToken(ValueError):
    """A text that is no continue token; the message is the wire's."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """Where a list goes on: at the key *start*, as things were at *revision*."""

    start: str
    revision: int

    @property
    def consistent(self) -> bool:
        """Whether it is still the list that the first page is of."""
        return self.revision > 0


def encode_token(continuation: Continuation, *, prefix: str) -> str:
    """The token of a list of *prefix*, with which the start must begin."""
    start = continuation.start.removeprefix(prefix)
    document = {"v": _VERSION, "rv": continuation.revision, "start": start}
    return base64.urlsafe_b64encode(orjson.dumps(document)).rstrip(b"=").decode()


def decode_token(token: str, *, prefix: str) -> Continuation:
    """Read a token of a list of *prefix*, or raise InvalidToken."""
    document = _document(token)
    version = document.get("v", "")
    if version != _VERSION:
        raise InvalidToken(f"{_INVALID}: server does not recognize this encoded version {version}")
    revision, start = document.get("rv", 0), document.get("start", "")
    if type(revision) is not int or not INT64_MIN <= revision <= INT64_MAX:
        raise InvalidToken(f"{_INVALID}: rv must be an integer of 64 bits")
    if not isinstance(start, str):
        raise InvalidToken(f"{_INVALID}: start must be a string")
    if revision == 0:
        raise InvalidToken(
            f"{_INVALID}: incorrect encoded start resourceVersion (version {_VERSION})"
        )
    if not start:
        raise InvalidToken(f"{_INVALID}: encoded start key empty (version {_VERSION})")
    path = start if start.startswith("/") else f"/{start}"
    # A path that means another one could climb out of the prefix.
    if path.startswith("//") or posixpath.normpath(path) != path:
        raise InvalidToken(f"{_INVALID}: {start}")
    return Continuation(prefix + path[1:], revision)


def _document(token: str) -> dict[str, Any]:
    found = _NOT_BASE64.search(token)
    position = found.start() if found else len(token) - 1 if len(token) % 4 == 1 else -1
    if position >= 0:
        raise InvalidToken(f"{_INVALID}: illegal base64 data at input byte {position}")
    data = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InvalidToken(f"{_INVALID}: {error}") from None
    if not isinstance(document, dict):
        raise InvalidToken(f"{_INVALID}: expected an object, got {type(document).__name__}")
    return document
