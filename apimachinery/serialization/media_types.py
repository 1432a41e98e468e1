"""Media types: the ones Kubernetes uses, and the parsing of `Content-Type` and `Accept` headers.

Header parsing is as lenient as Kubernetes': unknown parameters are ignored, a malformed part of an
Accept header is skipped, and a request without an Accept header gets the first available type.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

JSON: Final = "application/json"
YAML: Final = "application/yaml"
PROTOBUF: Final = "application/vnd.kubernetes.protobuf"

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"

WATCH_STREAM: Final = ";stream=watch"
"""The parameter of a media type that is streamed, one watch event per frame."""

MAX_HEADER = 8192
"""Headers are truncated to this many characters before they are parsed."""


@dataclass(frozen=True, slots=True)
class MediaType:
    """`type/subtype; name=value`, in lower case except for the parameter values."""

    type: str
    subtype: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    quality: float = 1.0

    @property
    def name(self) -> str:
        return f"{self.type}/{self.subtype}"

    def matches(self, media_type: str) -> bool:
        """Return whether this media type, which may have wildcards, includes *media_type*."""
        main_type, _, subtype = media_type.partition("/")
        return self.type in ("*", main_type) and self.subtype in ("*", subtype)


@dataclass(frozen=True, slots=True)
class Negotiated:
    """A media type that the server can respond with, and the client's parameters for it."""

    media_type: str
    parameters: Mapping[str, str]


def parse_media_type(text: str) -> MediaType | None:
    """Parse one media type; return None if *text* is malformed."""
    full_type, *parameter_texts = _split_unquoted(text[:MAX_HEADER], ";")
    main_type, slash, subtype = full_type.strip().lower().partition("/")
    if not slash or not main_type or not subtype or "/" in subtype:
        return None
    parameters = {}
    quality = 1.0
    for part in parameter_texts:
        key, equals, value = part.strip().partition("=")
        key = key.strip().lower()
        value = value.strip().strip('"')
        if key == "q":
            quality = _quality(value)
        elif equals and key:
            parameters[key] = value
    return MediaType(main_type, subtype, parameters, quality)


def strip_parameters(content_type: str) -> str:
    """Return the bare media type of a Content-Type header; nothing is checked."""
    return content_type.partition(";")[0].strip().lower()


def parse_accept(header: str) -> list[MediaType]:
    """Return the media types that a client accepts, in order of preference.

    Types of equal quality stay in the order of the header, wildcards after concrete types.
    """
    parts = _split_unquoted(header[:MAX_HEADER], ",")
    accepted = [media for part in parts if (media := parse_media_type(part)) and media.quality > 0]
    return sorted(
        accepted, key=lambda media: (-media.quality, media.type == "*", media.subtype == "*")
    )


def negotiate(accept: str, available: Sequence[str]) -> list[Negotiated]:
    """Return the *available* types that an Accept header allows, in order of preference.

    An empty result means 406. All candidates are returned because only the caller can decide
    whether it supports the parameters of one (`as=Table`): it takes the first that it supports.
    """
    if not accept.strip():
        return [Negotiated(available[0], {})]
    return [
        Negotiated(media_type, accepted.parameters)
        for accepted in parse_accept(accept)
        for media_type in available
        if accepted.matches(media_type)
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
