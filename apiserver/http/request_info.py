"""RequestInfo: the verb, resource and name that a method and a URL request.

Authorization, routing, logs and metrics all read the same RequestInfo. It is derived from the
request alone, by the rules of Kubernetes, including the old `/watch/` paths.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qs

from apimachinery.errors import BadRequest
from apimachinery.names import is_path_segment_name
from apimachinery.selectors import InvalidSelector
from apimachinery.selectors import field_selector as fields

Query = Mapping[str, Sequence[str]]

_VERBS: Final = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
_NAMESPACE_SUBRESOURCES: Final = frozenset({"status", "finalize"})
_NAME_LABEL: Final = "metadata.name"
_MAX_PARSED: Final = 2_048
"""The longest field selector that is parsed before authorization."""


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """The attributes of one request, for authorization, routing, logs and metrics."""

    path: str
    verb: str
    """For resources: get, list, watch, create and so on; otherwise the method in lower case."""
    is_resource: bool = False
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    """From the path, or from a field selector that can match only one name."""
    name_in_path: bool = False
    rest: tuple[str, ...] = ()
    """The path segments after the subresource."""

    @property
    def mutates(self) -> bool:
        return self.verb not in ("get", "list", "watch")

    @property
    def group_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


def parse_query(query_string: bytes) -> Query:
    """Parse a query string; bytes that are not UTF-8 become surrogates, rejected later."""
    if not query_string:
        return {}
    try:
        return parse_qs(
            query_string.decode("latin-1"),
            keep_blank_values=True,
            errors="surrogateescape",
            max_num_fields=1000,
        )
    except ValueError:
        raise BadRequest("the query has too many parameters: the limit is 1000") from None


def request_info(method: str, path: str, query: Query) -> RequestInfo:
    """Parse a request; a URL that is not one of a resource is a plain path."""
    parts = path.strip("/").split("/")
    if parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    elif parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    else:
        return RequestInfo(path, method.lower())
    verb = _VERBS.get(method, "")
    if rest[0] == "watch" and len(rest) > 1:
        verb, rest = "watch", rest[1:]
    info = _resource_info(path, verb, group, version, rest)
    return _collection_info(info, query) if not info.name else info


def _resource_info(path: str, verb: str, group: str, version: str, rest: list[str]) -> RequestInfo:
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
            rest = rest[2:]
    size = len(rest)
    return RequestInfo(
        path,
        verb,
        True,
        group,
        version,
        rest[0],
        rest[2] if size > 2 else "",
        namespace,
        rest[1] if size > 1 else "",
        size > 1,
        tuple(rest[3:]) if size > 3 else (),
    )


def _collection_info(info: RequestInfo, query: Query) -> RequestInfo:
    """Complete a request without a name in its path: for a collection, or one name in it."""
    verb = info.verb
    if verb == "get":
        verb = "watch" if _is_true(query.get("watch")) else "list"
    elif verb == "delete":
        verb = "deletecollection"
    name = _selected_name(query) if verb in ("list", "watch", "deletecollection") else ""
    if verb == info.verb and not name:
        return info
    return replace(info, verb=verb, name=name)


def _is_true(values: Sequence[str] | None) -> bool:
    return bool(values) and values[0] != "0" and values[0].casefold() != "false"  # type: ignore[index]


def _selected_name(query: Query) -> str:
    """Return the only name that a field selector can match, empty if there may be several.

    Malformed selectors are rejected later. Of a very long selector no name is taken: parsing it
    here would cost others time, before it is known whether the user may do anything at all.
    """
    text = query.get("fieldSelector")
    if not text or _NAME_LABEL not in text[0] or len(text[0]) > _MAX_PARSED:
        return ""
    try:
        name = fields.parse(text[0]).requires_exact_match(_NAME_LABEL)
    except InvalidSelector:
        return ""
    return name if name and not is_path_segment_name(name) else ""
