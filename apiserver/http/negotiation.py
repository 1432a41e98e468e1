"""Content negotiation: selects the media types of request bodies and responses.

The response type depends only on the Accept header, on whether the response is an object, a list or
a stream, and on the types that the resource offers. So a `MediaTypeOffer` caches its answer for
each header.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from apimachinery.errors import NotAcceptable, UnsupportedMediaType
from apimachinery.meta.status import StatusDetails
from apimachinery.serialization.media_types import (
    JSON,
    MAX_HEADER,
    PROTOBUF,
    WATCH_STREAM,
    YAML,
    Negotiated,
    negotiate,
    parse_accept,
    parse_media_type,
)

META_GROUP: Final = "meta.k8s.io"
TABLE: Final = "Table"
PARTIAL: Final = "PartialObjectMetadata"
PARTIAL_LIST: Final = "PartialObjectMetadataList"

ALL_TYPES: Final = (JSON, YAML, PROTOBUF)
TEXT_TYPES: Final = (JSON, YAML)

_META_VERSIONS: Final = ("v1", "v1beta1")
_CACHE_SIZE: Final = 256
# Longer headers are not cached, or clients could fill the caches with megabytes.
_CACHED_LENGTH: Final = 1024
_PRETTY_AGENTS: Final = ("curl", "Wget", "Mozilla/5.0")
TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})


class Shape(Enum):
    """The shape of a response: an object, a list or a stream."""

    OBJECT = "object"
    LIST = "list"
    STREAM = "stream"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The negotiated form of a response."""

    media_type: str
    transform: str = ""
    """The kind to transform objects to: Table, PartialObjectMetadata(List), or empty for none."""
    pretty: bool = False
    meta_version: str = "v1"
    """The version of meta.k8s.io in which a transform is encoded."""

    @property
    def stream_type(self) -> str:
        """The Content-Type of a stream."""
        return self.media_type if self.media_type == JSON else self.media_type + WATCH_STREAM


PLAIN: Final = Accepted(JSON)


class MediaTypeOffer:
    """The forms that one resource offers, with a cache of negotiated results."""

    def __init__(self, media_types: Sequence[str], *, transforms: bool = True) -> None:
        self.media_types = tuple(media_types)
        self._transforms = transforms
        self._cache: dict[tuple[str, Shape], Accepted] = {}

    def accept(self, header: str, shape: Shape = Shape.OBJECT) -> Accepted:
        """Negotiate the form of the response. Raises NotAcceptable."""
        accepted = self._cache.get((header, shape))
        if accepted is None:
            accepted = self._choose(header, shape)
            if len(header) > _CACHED_LENGTH:
                return accepted
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            self._cache[header, shape] = accepted
        return accepted

    def _choose(self, header: str, shape: Shape) -> Accepted:
        # As in Kubernetes, an Accept header that matches none of our types gets a different error.
        candidates = negotiate(header, ALL_TYPES)
        if not candidates:
            raise _not_acceptable(self._available_types(shape))
        for candidate in candidates:
            accepted = self._form(candidate, shape)
            if accepted is not None:
                _check_list_transform(accepted.transform, shape)
                return accepted
        raise NotAcceptable.of(self._available_types(shape, only_streams=True))

    def _form(self, candidate: Negotiated, shape: Shape) -> Accepted | None:
        media, parameters = candidate.media_type, candidate.parameters
        if shape is Shape.STREAM and media == YAML:
            return None
        if parameters.get("stream", "watch") != "watch":
            return None
        pretty = parameters.get("pretty") == "1"
        if not {"as", "g", "v"} & parameters.keys():
            return Accepted(media, pretty=pretty) if media in self.media_types else None
        kind, version = parameters.get("as", ""), parameters.get("v", "")
        supported = parameters.get("g") == META_GROUP and version in _META_VERSIONS
        if not supported or not self._transforms:
            return None
        if kind == TABLE and media in TEXT_TYPES:
            return Accepted(media, TABLE, pretty, version)
        # The protobuf message of a list has other field numbers in v1beta1.
        if kind in (PARTIAL, PARTIAL_LIST) and (version == "v1" or media in TEXT_TYPES):
            return Accepted(media, kind, pretty, version)
        return None

    def _available_types(self, shape: Shape, *, only_streams: bool = False) -> list[str]:
        streams = [media + WATCH_STREAM for media in self.media_types if media != YAML]
        if shape is Shape.OBJECT:
            return list(self.media_types)
        if shape is Shape.STREAM and only_streams:
            return streams
        return [*self.media_types] if only_streams else [*self.media_types, *streams]


def _check_list_transform(transform: str, shape: Shape) -> None:
    if transform == PARTIAL and shape is Shape.LIST:
        raise NotAcceptable(f"you requested {PARTIAL}, but the requested object is a list")
    if transform == PARTIAL_LIST and shape is not Shape.LIST:
        raise NotAcceptable(f"you requested {PARTIAL_LIST}, but the requested object is not a list")


def _not_acceptable(available: Sequence[str]) -> NotAcceptable:
    return NotAcceptable(
        f"406: Not Acceptable\n\nAvailable representations: {', '.join(available)}",
        details=StatusDetails(),
    )


def error_media_type(header: str) -> str:
    """Return the media type of an error response; empty if the client accepts none of ours."""
    return _error_media_type(header[:MAX_HEADER])


@lru_cache(maxsize=_CACHE_SIZE)
def _error_media_type(header: str) -> str:
    candidates = negotiate(header, ALL_TYPES)
    return candidates[0].media_type if candidates else ""


def body_media_type(header: str, readable: tuple[str, ...]) -> str:
    """Return the media type of a body by its Content-Type, which defaults to the first *readable*.

    Raises UnsupportedMediaType.
    """
    return _body_media_type(header[:MAX_HEADER], readable)


@lru_cache(maxsize=_CACHE_SIZE)
def _body_media_type(header: str, readable: tuple[str, ...]) -> str:
    if not header:
        return readable[0]
    media = parse_media_type(header)
    if media is None or media.name not in readable:
        raise UnsupportedMediaType.of(readable)
    return media.name


def wants_pretty(parameter: str, user_agent: str) -> bool:
    """Return whether to indent JSON: as `?pretty` requests, otherwise for browsers and curl."""
    if parameter:
        return parameter in TRUE
    return user_agent.startswith(_PRETTY_AGENTS)


def accepts_gzip(header: str) -> bool:
    """Return whether an Accept-Encoding header allows gzip."""
    return "gzip" in header and any(
        media.type == "x" and media.subtype == "gzip"
        for media in parse_accept(",".join(f"x/{part.strip()}" for part in header.split(",")))
    )
