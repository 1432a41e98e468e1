"""Media types of requests and answers: reading `Content-Type` and choosing by `Accept`.

Lenient as the original is: parameters nobody knows are ignored, a malformed part of an Accept
header is passed over, and no header at all means the first that is available.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MAX_HEADER = 8192
"""Longer headers are cut before they are read."""


@dataclass(frozen=True, slots=True)
class MediaType:
    """`type/subtype; name=value`, in lower case but for the values."""

    type: str
    subtype: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    quality: float = 1.0

    @property
    def name(self) -> str:
        return f"{self.type}/{self.subtype}"

    def matches(self, media_type: str) -> bool:
        """Whether this, perhaps with wildcards, includes *media_type*."""
        kind, _, subtype = media_type.partition("/")
        return self.type in ("*", kind) and self.subtype in ("*", subtype)


@dataclass(frozen=True, slots=True)
class Negotiated:
    """What an answer will be: one of the available types, and what else the client said of it."""

    media_type: str
    parameters: Mapping[str, str]


def parse_media_type(text: str) -> MediaType | None:
    """One media type, or None when *text* is none."""
    kind, *rest = _split_unquoted(text[:MAX_HEADER], ";")
    name, slash, subtype = kind.strip().lower().partition("/")
    if not slash or not name or not subtype or "/" in subtype:
        return None
    parameters = {}
    quality = 1.0
    for part in rest:
        key, equals, value = part.strip().partition("=")
        key = key.strip().lower()
        value = value.strip().strip('"')
        if key == "q":
            quality = _quality(value)
        elif equals and key:
            parameters[key] = value
    return MediaType(name, subtype, parameters, quality)


def parse_accept(header: str) -> list[MediaType]:
    """What a client accepts, the most welcome first; equals stay in the order given."""
    parts = _split_unquoted(header[:MAX_HEADER], ",")
    found = [media for part in parts if (media := parse_media_type(part)) and media.quality > 0]
    return sorted(
        found, key=lambda media: (-media.quality, media.type == "*", media.subtype == "*")
    )


def negotiate(accept: str, available: Sequence[str]) -> list[Negotiated]:
    """What could be answered, the most welcome first; empty means 406.

    Several, because whether a parameter can be honoured (`as=Table`) is for the caller to know:
    the first whose parameters it can honour is the answer.
    """
    if not accept.strip():
        return [Negotiated(available[0], {})]
    return [
        Negotiated(media_type, wanted.parameters)
        for wanted in parse_accept(accept)
        for media_type in available
        if wanted.matches(media_type)
    ]


def _quality(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 1.0


def _split_unquoted(text: str, separator: str) -> list[str]:
    if '"' not in text:
        return text.split(separator)
    parts, start, quoted = [], 0, False
    for position, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character == separator and not quoted:
            parts.append(text[start:position])
            start = position + 1
    return [*parts, text[start:]]
