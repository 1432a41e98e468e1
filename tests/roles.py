"""Who may do what by the roles of every server, for an application that stores no roles."""

from apis.rbac.bootstrap import bootstrap_bindings, bootstrap_roles
from apis.rbac.policy import Policy
from apiserver.controlplane.role_authorizer import RoleAuthorizer


def standard_authorizer() -> RoleAuthorizer:
    """Decides by the roles and bindings that a server begins with."""
    policy = Policy()
    for role in bootstrap_roles():
        policy.put_role(role)
    for binding in bootstrap_bindings():
        policy.put_binding(binding)
    return RoleAuthorizer(policy)
