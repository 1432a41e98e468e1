"""The group rbac.authorization.k8s.io, built for the authorizer that guards its writes."""

from collections.abc import Awaitable, Callable

from apis.rbac import GROUP, v1
from apis.rbac.escalation import EscalationCheck
from apis.rbac.policy import Policy
from apis.rbac.printers import BINDING_COLUMNS, ROLE_COLUMNS
from apis.rbac.register import add_to_scheme
from apis.rbac.strategy import (
    ClusterRoleBindingStrategy,
    ClusterRoleStrategy,
    RoleBindingStrategy,
    RoleStrategy,
)
from apiserver import Authorizer, Group, Resource


def rbac_group(authorizer: Authorizer, newest_policy: Callable[[], Awaitable[Policy]]) -> Group:
    """Return the group for a server with this authorizer.

    *newest_policy* returns the policy after it has caught up with storage.
    """
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
        mutating=(EscalationCheck(authorizer, newest_policy),),
    )
