"""A request as a plain value: built here, sent elsewhere.

Whatever a client is asked for ends as one `Request`, which can be printed, compared and tested
without a server. `Location` knows how the objects of one resource are addressed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlencode

from apimachinery.names import is_path_segment_name
from apimachinery.schema import GroupResource, GroupVersionResource
from apimachinery.serialization.media_types import (
    APPLY_PATCH,
    JSON,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
)

Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values in order; a name may stand several times."""

ALL_NAMESPACES: Final = "*"
"""Given as a namespace: the objects of every namespace."""


class InvalidRequest(ValueError):
    """A request that cannot be put into words: a name that fits no URL, a body that is no JSON."""


class PatchType(StrEnum):
    """How the body of a patch is to be understood."""

    JSON = JSON_PATCH
    MERGE = MERGE_PATCH
    STRATEGIC = STRATEGIC_PATCH
    APPLY = APPLY_PATCH


@dataclass(frozen=True, slots=True)
class Request:
    """One request, without the server it goes to and without credentials."""

    verb: str
    """Kubernetes' word for it (get, list, watch, deletecollection); a plain read has `get`."""
    method: str
    path: str
    query: Pairs = ()
    headers: Pairs = ()
    body: bytes = b""
    resource: GroupResource = field(default_factory=GroupResource)
    name: str = ""
    timeout: float | None = None
    """Seconds for one attempt; None is what the client was configured with."""
    websocket: bool = False
    """Whether a watch is asked for over a WebSocket."""

    @property
    def target(self) -> str:
        """Path and query, as they stand in the first line of HTTP."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    def with_headers(self, headers: Iterable[tuple[str, str]]) -> "Request":
        """This request with *headers* added; those it has already are kept."""
        present = {name.lower() for name, _ in self.headers}
        added = tuple(pair for pair in headers if pair[0].lower() not in present)
        return replace(self, headers=(*self.headers, *added)) if added else self


@dataclass(frozen=True, slots=True)
class Location:
    """Where the objects of one resource are."""

    resource: GroupVersionResource
    namespaced: bool

    def path(self, *, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of one object, or of the collection when there is no name."""
        version = self.resource.group_version
        root = f"/apis/{version}" if version.group else f"/api/{version}"
        if self.namespaced and namespace:
            root += f"/namespaces/{segment('namespace', namespace)}"
        root += f"/{self.resource.resource}"
        if name:
            if self.namespaced and not namespace:
                raise InvalidRequest(
                    "an empty namespace may not be set when a resource name is provided"
                )
            root += f"/{segment('resource name', name)}"
        return f"{root}/{subresource}" if subresource else root


def segment(what: str, value: str) -> str:
    """*value* as one segment of a path."""
    if not value:
        raise InvalidRequest(f"{what} may not be empty")
    if problems := is_path_segment_name(value):
        raise InvalidRequest(f'invalid {what} "{value}": [{" ".join(problems)}]')
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise InvalidRequest(f"invalid {what} {value!r}: not UTF-8") from None


def query_of(options: Any) -> Pairs:
    """The parameters of some options (`apimachinery.meta.options`), sorted by name."""
    # Imported late: most requests have no options, and the library behind this is slow to load.
    from apimachinery.meta.query_parameters import dump

    return tuple((name, value) for name, values in dump(options).items() for value in values)


def accept(kind: str = "", *, group: str = "meta.k8s.io", version: str = "v1") -> Pairs:
    """The Accept header for JSON, transformed into *kind* when one is given."""
    if not kind:
        return (("Accept", JSON),)
    return (("Accept", f"{JSON};as={kind};g={group};v={version},{JSON}"),)
