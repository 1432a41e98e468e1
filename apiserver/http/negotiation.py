"""Negotiation: in which form a request's body is read and its answer is written.

What a client may get depends on three things only: its Accept header, whether it wants one object,
a list or a stream, and what the resource offers. So a `MediaTypeOffer` answers each header once and
remembers what it said.
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
_REMEMBERED: Final = 256
_PRETTY_AGENTS: Final = ("curl", "Wget", "Mozilla/5.0")
TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})


class Shape(Enum):
    """What an answer consists of."""

    OBJECT = "object"
    LIST = "list"
    STREAM = "stream"


@dataclass(frozen=True, slots=True)
class Accepted:
    """How an answer is to be written."""

    media_type: str
    transform: str = ""
    """What to make of the object: empty for itself, else Table or PartialObjectMetadata(List)."""
    pretty: bool = False
    meta_version: str = "v1"
    """The version of meta.k8s.io that a transform is written in."""

    @property
    def stream_type(self) -> str:
        """The Content-Type of a stream."""
        return self.media_type if self.media_type == JSON else self.media_type + WATCH_STREAM


PLAIN: Final = Accepted(JSON)


class MediaTypeOffer:
    """The forms in which one resource can be answered, and the answers given so far."""

    def __init__(self, media_types: Sequence[str], *, transforms: bool = True) -> None:
        self.media_types = tuple(media_types)
        self._transforms = transforms
        self._known: dict[tuple[str, Shape], Accepted] = {}

    def accept(self, header: str, shape: Shape = Shape.OBJECT) -> Accepted:
        """The form to answer in, or NotAcceptable."""
        found = self._known.get((header, shape))
        if found is None:
            found = self._choose(header, shape)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[header, shape] = found
        return found

    def _choose(self, header: str, shape: Shape) -> Accepted:
        # Parts that no type of ours matches at all are told apart, as in the original.
        candidates = negotiate(header, ALL_TYPES)
        if not candidates:
            raise _no_representation(self._spelled(shape))
        for candidate in candidates:
            found = self._accepted(candidate, shape)
            if found is not None:
                _check_list(found.transform, shape)
                return found
        raise NotAcceptable.of(self._spelled(shape, only_streams=True))

    def _accepted(self, candidate: Negotiated, shape: Shape) -> Accepted | None:
        media, parameters = candidate.media_type, candidate.parameters
        if shape is Shape.STREAM and media == YAML:
            return None
        if parameters.get("stream", "watch") != "watch":
            return None
        pretty = parameters.get("pretty") == "1"
        if not {"as", "g", "v"} & parameters.keys():
            return Accepted(media, pretty=pretty) if media in self.media_types else None
        kind, version = parameters.get("as", ""), parameters.get("v", "")
        known = parameters.get("g") == META_GROUP and version in _META_VERSIONS
        if not known or not self._transforms:
            return None
        if kind == TABLE and media in TEXT_TYPES:
            return Accepted(media, TABLE, pretty, version)
        # In v1beta1 the message of a list has other numbers.
        if kind in (PARTIAL, PARTIAL_LIST) and (version == "v1" or media in TEXT_TYPES):
            return Accepted(media, kind, pretty, version)
        return None

    def _spelled(self, shape: Shape, *, only_streams: bool = False) -> list[str]:
        streams = [media + WATCH_STREAM for media in self.media_types if media != YAML]
        if shape is Shape.OBJECT:
            return list(self.media_types)
        if shape is Shape.STREAM and only_streams:
            return streams
        return [*self.media_types] if only_streams else [*self.media_types, *streams]


def _check_list(transform: str, shape: Shape) -> None:
    if transform == PARTIAL and shape is Shape.LIST:
        raise NotAcceptable(f"you requested {PARTIAL}, but the requested object is a list")
    if transform == PARTIAL_LIST and shape is not Shape.LIST:
        raise NotAcceptable(f"you requested {PARTIAL_LIST}, but the requested object is not a list")


def _no_representation(available: Sequence[str]) -> NotAcceptable:
    return NotAcceptable(
        f"406: Not Acceptable\n\nAvailable representations: {', '.join(available)}",
        details=StatusDetails(),
    )


@lru_cache(maxsize=_REMEMBERED)
def error_media_type(header: str) -> str:
    """The type in which an error is told; empty when the client accepts none of ours."""
    found = negotiate(header, ALL_TYPES)
    return found[0].media_type if found else ""


@lru_cache(maxsize=_REMEMBERED)
def body_media_type(header: str, readable: tuple[str, ...]) -> str:
    """The type of a body by its Content-Type, or UnsupportedMediaType; none given is the first."""
    if not header:
        return readable[0]
    media = parse_media_type(header)
    if media is None or media.name not in readable:
        raise UnsupportedMediaType.of(readable)
    return media.name


def wants_pretty(parameter: str, user_agent: str) -> bool:
    """Whether JSON is to be indented: as the query says, else for whoever reads it themselves."""
    if parameter:
        return parameter in TRUE
    return user_agent.startswith(_PRETTY_AGENTS)


def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header allows gzip."""
    return "gzip" in header and any(
        media.type == "x" and media.subtype == "gzip"
        for media in parse_accept(",".join(f"x/{part.strip()}" for part in header.split(",")))
    )
