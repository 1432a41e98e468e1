"""Registration of rbac.authorization.k8s.io, for clients and servers."""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.rbac import GROUP, v1
from apis.rbac.v1 import defaults


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(
        GroupVersion(GROUP, "v1"),
        v1.ClusterRole,
        v1.ClusterRoleBinding,
        v1.Role,
        v1.RoleBinding,
        internal=True,
    )
    scheme.add_defaults(defaults.set_role_ref_defaults, defaults.set_subject_defaults)
