"""Printer columns of roles, which show their creation time instead of an age, and bindings."""

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
    return _subject_names(binding, USER)


def groups(binding: Binding) -> str:
    return _subject_names(binding, GROUP_KIND)


def service_accounts(binding: Binding) -> str:
    accounts = [subject for subject in binding.subjects if subject.kind == SERVICE_ACCOUNT]
    return ", ".join(f"{account.namespace}/{account.name}" for account in accounts)


def _subject_names(binding: Binding, kind: str) -> str:
    return ", ".join(subject.name for subject in binding.subjects if subject.kind == kind)


ROLE_COLUMNS: Final = (
    NAME,
    Column("Created At", created_at, type="date", description="Time when the role was created."),
)

BINDING_COLUMNS: Final = (
    Column("Role", role, description="Role that the binding grants."),
    Column("Users", users, priority=1, description="Users that the role is granted to."),
    Column("Groups", groups, priority=1, description="Groups that the role is granted to."),
    Column(
        "ServiceAccounts",
        service_accounts,
        priority=1,
        description="Service accounts that the role is granted to.",
    ),
)
