"""Impersonation: acting as another user, for those who may (`kubectl --as`).

Each thing taken on (the name, each group, the uid, each extra value) is a permission of its own,
the verb "impersonate" on a resource that exists for nothing else.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from apimachinery.errors import BadRequest
from apiserver.auth.authentication import Headers
from apiserver.auth.authorization import Authorizer, require
from apiserver.auth.user import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User
from apiserver.http.request_info import RequestInfo

_PREFIX: Final = b"impersonate-"
_EXTRA: Final = b"impersonate-extra-"
_SERVICE_ACCOUNT: Final = "system:serviceaccount:"
_GROUP: Final = "authentication.k8s.io"


@dataclass(slots=True)
class _Wanted:
    name: str = ""
    uid: str = ""
    groups: list[str] = field(default_factory=list)
    extra: dict[str, list[str]] = field(default_factory=dict)


async def impersonated(user: User, headers: Headers, authorizer: Authorizer) -> User:
    """The user whom the headers ask for, or *user* if they ask for nobody."""
    wanted = _wanted(headers)
    if wanted is None:
        return user
    if not wanted.name:
        raise BadRequest(f"requested {_shown(wanted)} without impersonating a user name")
    for attributes in _permissions(wanted):
        await require(authorizer, user, attributes)
    extra = {key: tuple(values) for key, values in wanted.extra.items()}
    return User(wanted.name, wanted.uid, tuple(_groups(wanted)), extra)


def _wanted(headers: Headers) -> _Wanted | None:
    wanted: _Wanted | None = None
    for name, raw in headers:
        if not name.startswith(_PREFIX):
            continue
        wanted = wanted or _Wanted()
        value = raw.decode("utf-8", "replace")
        if name == b"impersonate-user":
            wanted.name = wanted.name or value
        elif name == b"impersonate-uid":
            wanted.uid = wanted.uid or value
        elif name == b"impersonate-group":
            wanted.groups.append(value)
        elif name.startswith(_EXTRA):
            key = unquote(name[len(_EXTRA) :].decode("latin-1"), errors="replace")
            wanted.extra.setdefault(key, []).append(value)
    if wanted is None or not (wanted.name or wanted.uid or wanted.groups or wanted.extra):
        return None
    return wanted


def _permissions(wanted: _Wanted) -> Iterator[RequestInfo]:
    account = _service_account(wanted.name)
    if account:
        yield _permission("serviceaccounts", account[1], namespace=account[0])
    else:
        yield _permission("users", wanted.name)
    for group in wanted.groups:
        yield _permission("groups", group)
    for key, values in wanted.extra.items():
        for value in values:
            yield _permission("userextras", value, group=_GROUP, subresource=key)
    if wanted.uid:
        yield _permission("uids", wanted.uid, group=_GROUP)


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


def _groups(wanted: _Wanted) -> Iterator[str]:
    groups = wanted.groups
    account = _service_account(wanted.name)
    if account and not groups:
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{account[0]}"]
    yield from groups
    if wanted.name == ANONYMOUS.name:
        if UNAUTHENTICATED not in groups:
            yield UNAUTHENTICATED
    elif AUTHENTICATED not in groups and UNAUTHENTICATED not in groups:
        yield AUTHENTICATED


def _service_account(name: str) -> tuple[str, str] | None:
    """Namespace and name of the service account whose user name this is."""
    parts = name.removeprefix(_SERVICE_ACCOUNT).split(":")
    if not name.startswith(_SERVICE_ACCOUNT) or len(parts) != 2 or not all(parts):
        return None
    return parts[0], parts[1]


def _shown(wanted: _Wanted) -> str:
    parts = [f"group {group!r}" for group in wanted.groups]
    parts += [f"extra {key!r}" for key in wanted.extra]
    if wanted.uid:
        parts.append(f"uid {wanted.uid!r}")
    return ", ".join(parts)
