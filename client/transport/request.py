"""Request: one HTTP request to an API server, as a plain value that `Sender` sends.

Every method of a client builds a `Request`, which can be printed, compared and tested without a
server. `ResourceLocation` builds the paths of a resource.
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
"""Names and values in order; a name may occur several times."""

ALL_NAMESPACES: Final = "*"
"""The value of a `namespace` argument that selects the objects of every namespace."""


class InvalidRequest(ValueError):
    """A request cannot be built: a name is not valid in a URL, a body is not valid as JSON."""


class PatchType(StrEnum):
    """The format of a patch, by its media type."""

    JSON = JSON_PATCH
    MERGE = MERGE_PATCH
    STRATEGIC = STRATEGIC_PATCH
    APPLY = APPLY_PATCH


@dataclass(frozen=True, slots=True)
class Request:
    """One request, without the server's address and without credentials."""

    verb: str
    """Kubernetes' verb (get, list, watch, deletecollection); `get` for paths of no resource."""
    method: str
    path: str
    query: Pairs = ()
    headers: Pairs = ()
    body: bytes = b""
    resource: GroupResource = field(default_factory=GroupResource)
    name: str = ""
    timeout: float | None = None
    """Seconds for one attempt; None means the timeout of the client."""
    websocket: bool = False
    """Whether to watch over a WebSocket."""

    @property
    def target(self) -> str:
        """The path and query, as in the request line of HTTP."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    def with_headers(self, headers: Iterable[tuple[str, str]]) -> "Request":
        """Return a copy with *headers* added, except those that the request already has."""
        existing = {name.lower() for name, _ in self.headers}
        added = tuple(pair for pair in headers if pair[0].lower() not in existing)
        return replace(self, headers=(*self.headers, *added)) if added else self


@dataclass(frozen=True, slots=True)
class ResourceLocation:
    """A resource and its scope, from which the paths of its objects are built."""

    resource: GroupVersionResource
    namespaced: bool

    def path(self, *, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the path of one object, or of the collection if *name* is empty.

        Raises InvalidRequest if a name is not valid or a namespace is missing.
        """
        version = self.resource.group_version
        path = f"/apis/{version}" if version.group else f"/api/{version}"
        if self.namespaced and namespace:
            path += f"/namespaces/{path_segment('namespace', namespace)}"
        path += f"/{self.resource.resource}"
        if name:
            if self.namespaced and not namespace:
                raise InvalidRequest(
                    "an empty namespace may not be set when a resource name is provided"
                )
            path += f"/{path_segment('resource name', name)}"
        return f"{path}/{subresource}" if subresource else path


def path_segment(field_name: str, value: str) -> str:
    """Return *value* quoted as one segment of a path.

    Raises InvalidRequest, with *field_name* in its message, if it cannot be one.
    """
    if not value:
        raise InvalidRequest(f"{field_name} may not be empty")
    if problems := is_path_segment_name(value):
        raise InvalidRequest(f'invalid {field_name} "{value}": [{" ".join(problems)}]')
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise InvalidRequest(f"invalid {field_name} {value!r}: not UTF-8") from None


def query_parameters(options: Any) -> Pairs:
    """Return the query parameters of an options object (`apimachinery.meta.options`), sorted."""
    # Imported late: most requests have no options, and the library behind dump() loads slowly.
    from apimachinery.meta.query_parameters import dump

    return tuple((name, value) for name, values in dump(options).items() for value in values)


def accept_header(kind: str = "", *, group: str = "meta.k8s.io", version: str = "v1") -> Pairs:
    """Return the Accept header for JSON; with *kind*, request that transformation of the object."""
    if not kind:
        return (("Accept", JSON),)
    return (("Accept", f"{JSON};as={kind};g={group};v={version},{JSON}"),)
