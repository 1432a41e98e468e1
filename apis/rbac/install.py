"""What only a server needs. Writes are checked by its authority, so the group is made for one."""

from apis.rbac import GROUP, v1
from apis.rbac.escalation import Authority, EscalationCheck
from apis.rbac.printers import BINDING_COLUMNS, ROLE_COLUMNS
from apis.rbac.register import add_to_scheme
from apis.rbac.strategy import (
    ClusterRoleBindingStrategy,
    ClusterRoleStrategy,
    RoleBindingStrategy,
    RoleStrategy,
)
from apiserver.group import Group, Resource


def rbac_group(authority: Authority) -> Group:
    """The group as a server with this authority installs it."""
    return Group(
        name=GROUP,
        versions=("v1",),
        add_to_scheme=add_to_scheme,
        resources=(
            Resource(
                "clusterrolebindings",
                v1.ClusterRoleBinding,
                ClusterRoleBindingStrategy(),
                namespaced=False,
                columns=BINDING_COLUMNS,
            ),
            Resource(
                "clusterroles",
                v1.ClusterRole,
                ClusterRoleStrategy(),
                namespaced=False,
                columns=ROLE_COLUMNS,
            ),
            Resource(
                "rolebindings", v1.RoleBinding, RoleBindingStrategy(), columns=BINDING_COLUMNS
            ),
            Resource("roles", v1.Role, RoleStrategy(), columns=ROLE_COLUMNS),
        ),
        mutating=(EscalationCheck(authority),),
    )
