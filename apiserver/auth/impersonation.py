"""Impersonation: act as another user, if permitted (`kubectl --as`).

Each impersonated attribute (the name, each group, the UID, each extra value) requires a permission
of its own: the verb "impersonate" on a resource that exists only for this purpose.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from apimachinery.errors import BadRequest
from apiserver.auth.authentication import Headers
from apiserver.auth.authorization import Authorizer, require
from apiserver.auth.user import (
    ANONYMOUS,
    AUTHENTICATED,
    UNAUTHENTICATED,
    User,
    parse_service_account_username,
    service_account_groups,
)
from apiserver.http.request_info import RequestInfo

_PREFIX: Final = b"impersonate-"
_EXTRA: Final = b"impersonate-extra-"
_GROUP: Final = "authentication.k8s.io"


@dataclass(slots=True)
class _Requested:
    name: str = ""
    uid: str = ""
    groups: list[str] = field(default_factory=list)
    extra: dict[str, list[str]] = field(default_factory=dict)


async def impersonate(user: User, headers: Headers, authorizer: Authorizer) -> User:
    """Return the user requested by the headers, or *user* if they request none.

    Raises Forbidden unless *user* may impersonate every requested attribute.
    """
    requested = _read_headers(headers)
    if requested is None:
        return user
    if not requested.name:
        raise BadRequest(f"requested {_describe(requested)} without impersonating a user name")
    for attributes in _permissions(requested):
        await require(authorizer, user, attributes)
    extra = {key: tuple(values) for key, values in requested.extra.items()}
    return User(requested.name, requested.uid, tuple(_groups(requested)), extra)


def _read_headers(headers: Headers) -> _Requested | None:
    requested: _Requested | None = None
    for name, raw in headers:
        if not name.startswith(_PREFIX):
            continue
        requested = requested or _Requested()
        value = raw.decode("utf-8", "replace")
        if name == b"impersonate-user":
            requested.name = requested.name or value
        elif name == b"impersonate-uid":
            requested.uid = requested.uid or value
        elif name == b"impersonate-group":
            requested.groups.append(value)
        elif name.startswith(_EXTRA):
            key = unquote(name[len(_EXTRA) :].decode("latin-1"), errors="replace")
            requested.extra.setdefault(key, []).append(value)
    if requested is None or not (
        requested.name or requested.uid or requested.groups or requested.extra
    ):
        return None
    return requested


def _permissions(requested: _Requested) -> Iterator[RequestInfo]:
    account = parse_service_account_username(requested.name)
    if account:
        yield _permission("serviceaccounts", account[1], namespace=account[0])
    else:
        yield _permission("users", requested.name)
    for group in requested.groups:
        yield _permission("groups", group)
    for key, values in requested.extra.items():
        for value in values:
            yield _permission("userextras", value, group=_GROUP, subresource=key)
    if requested.uid:
        yield _permission("uids", requested.uid, group=_GROUP)


def _permission(
    resource: str, name: str, *, group: str = "", namespace: str = "", subresource: str = ""
) -> RequestInfo:
    return RequestInfo(
        path="",
        verb="impersonate",
        is_resource=True,
        group=group,
        version="v1",
        resource=resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
    )


def _groups(requested: _Requested) -> Iterator[str]:
    groups = requested.groups
    account = parse_service_account_username(requested.name)
    if account and not groups:
        groups = list(service_account_groups(account[0]))
    yield from groups
    if requested.name == ANONYMOUS.name:
        if UNAUTHENTICATED not in groups:
            yield UNAUTHENTICATED
    elif AUTHENTICATED not in groups and UNAUTHENTICATED not in groups:
        yield AUTHENTICATED


def _describe(requested: _Requested) -> str:
    parts = [f"group {group!r}" for group in requested.groups]
    parts += [f"extra {key!r}" for key in requested.extra]
    if requested.uid:
        parts.append(f"uid {requested.uid!r}")
    return ", ".join(parts)
