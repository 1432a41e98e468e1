"""Continue tokens: encode and decode the start key and the revision of the next page of a list.

The format is the one of Kubernetes, because some clients decode tokens. A token is untrusted input,
so every part is validated: no token can reach a key outside its prefix.
"""

import base64
import posixpath
import re
from dataclasses import dataclass
from typing import Any, Final

import orjson

from apimachinery.scalars.wire_types import INT64_MAX, INT64_MIN
from apimachinery.serialization.go_json import syntax_error

NEWEST: Final = -1
"""The revision of a token that continues at the newest revision, because its own was compacted."""

_VERSION: Final = "meta.k8s.io/v1"
_INVALID: Final = "continue key is not valid"
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9_-]")


class InvalidToken(ValueError):
    """The text is not a continue token; the message is the one Kubernetes sends."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """Where a paginated list continues: at the key *start*, as of *revision*."""

    start: str
    revision: int

    @property
    def consistent(self) -> bool:
        """Return whether the next page is from the same snapshot as the first."""
        return self.revision > 0


def encode_token(continuation: Continuation, *, prefix: str) -> str:
    """Encode the continue token of a list of *prefix*, with which the start key must begin."""
    start = continuation.start.removeprefix(prefix)
    document = {"v": _VERSION, "rv": continuation.revision, "start": start}
    return base64.urlsafe_b64encode(orjson.dumps(document)).rstrip(b"=").decode()


def decode_token(token: str, *, prefix: str) -> Continuation:
    """Decode the continue token of a list of *prefix*. Raises InvalidToken if it is malformed."""
    document = _decode_document(token)
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
    # A path such as `/../x` could leave the prefix, so only normalized paths are accepted.
    if path.startswith("//") or posixpath.normpath(path) != path:
        raise InvalidToken(f"{_INVALID}: {start}")
    return Continuation(prefix + path[1:], revision)


def _decode_document(token: str) -> dict[str, Any]:
    illegal = _NOT_BASE64.search(token)
    position = illegal.start() if illegal else len(token) - 1 if len(token) % 4 == 1 else -1
    if position >= 0:
        raise InvalidToken(f"{_INVALID}: illegal base64 data at input byte {position}")
    data = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InvalidToken(f"{_INVALID}: {syntax_error(data) or error}") from None
    if not isinstance(document, dict):
        raise InvalidToken(f"{_INVALID}: expected an object, got {type(document).__name__}")
    return document
