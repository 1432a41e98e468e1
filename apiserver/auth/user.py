"""User: the authenticated user of a request, and the well-known user and group names."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MASTERS = "system:masters"
"""Members of this group may do everything."""
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
SERVICE_ACCOUNTS = "system:serviceaccounts"
"""The group of all service accounts; each namespace has a group `system:serviceaccounts:<name>`."""
CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
"""The extra key that identifies the credential of a user."""

_SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class User:
    """An authenticated user; *groups* and *name* determine the permissions."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ANONYMOUS = User("system:anonymous", groups=(UNAUTHENTICATED,))


def service_account_username(namespace: str, name: str) -> str:
    """Return the user name of a service account."""
    return f"{_SERVICE_ACCOUNT_PREFIX}{namespace}:{name}"


def parse_service_account_username(username: str) -> tuple[str, str] | None:
    """Return namespace and name of the service account with this user name, None if not one."""
    parts = username.removeprefix(_SERVICE_ACCOUNT_PREFIX).split(":")
    if not username.startswith(_SERVICE_ACCOUNT_PREFIX) or len(parts) != 2 or not all(parts):
        return None
    return parts[0], parts[1]


def service_account_groups(namespace: str) -> tuple[str, str]:
    """Return the groups of the service accounts in *namespace*."""
    return SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}"
