"""Columns of `kubectl get` for roles, which show when they were made, and for bindings."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.scalars.time import format_time
from apis.rbac.v1 import ClusterRoleBinding, RoleBinding
from apis.rbac.v1.types import GROUP_KIND, SERVICE_ACCOUNT, USER
from apiserver.views.table import NAME, UNKNOWN, Column

Binding = RoleBinding | ClusterRoleBinding


def created_at(obj: Object) -> str:
    created = obj.metadata.creation_timestamp
    return format_time(created) if created else UNKNOWN


def role(binding: Binding) -> str:
    return f"{binding.role_ref.kind}/{binding.role_ref.name}"


def users(binding: Binding) -> str:
    return _named(binding, USER)


def groups(binding: Binding) -> str:
    return _named(binding, GROUP_KIND)


def service_accounts(binding: Binding) -> str:
    found = [each for each in binding.subjects if each.kind == SERVICE_ACCOUNT]
    return ", ".join(f"{subject.namespace}/{subject.name}" for subject in found)


def _named(binding: Binding, kind: str) -> str:
    return ", ".join(subject.name for subject in binding.subjects if subject.kind == kind)


ROLE_COLUMNS: Final = (
    NAME,
    Column("Created At", created_at, type="date", description="When the role was created."),
)

BINDING_COLUMNS: Final = (
    Column("Role", role, description="The role that is given."),
    Column("Users", users, priority=1, description="The users who get it."),
    Column("Groups", groups, priority=1, description="The groups that get it."),
    Column(
        "ServiceAccounts",
        service_accounts,
        priority=1,
        description="The service accounts that get it.",
    ),
)
