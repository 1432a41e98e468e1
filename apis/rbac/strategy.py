"""Strategies of roles and bindings.

Their names may be any text that fits into a URL, such as `system:discovery`. A PUT creates a
missing object, as `kubectl auth reconcile` and many installers expect.
"""

from typing import TypeVar

from apimachinery.fieldpath import FieldErrors
from apimachinery.meta.metadata_validation import path_segment_name
from apimachinery.meta.types import Object
from apis.rbac.v1 import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from apis.rbac.validation import (
    validate_cluster_role,
    validate_cluster_role_binding,
    validate_role,
    validate_role_binding,
    validate_same_role,
)
from apiserver import Strategy

T = TypeVar("T", bound=Object)


class _RBACStrategy(Strategy[T]):
    qualified_finalizers = True
    allow_create_on_update = True

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return path_segment_name(name, False)

    def desired_state(self, obj: T) -> object:
        return None


class RoleStrategy(_RBACStrategy[Role]):
    def validate(self, obj: Role) -> FieldErrors:
        yield from validate_role(obj)


class ClusterRoleStrategy(_RBACStrategy[ClusterRole]):
    def validate(self, obj: ClusterRole) -> FieldErrors:
        yield from validate_cluster_role(obj)


class RoleBindingStrategy(_RBACStrategy[RoleBinding]):
    def validate(self, obj: RoleBinding) -> FieldErrors:
        yield from validate_role_binding(obj)

    def validate_update(self, new: RoleBinding, old: RoleBinding) -> FieldErrors:
        yield from self.validate(new)
        yield from validate_same_role(new.role_ref, old.role_ref)


class ClusterRoleBindingStrategy(_RBACStrategy[ClusterRoleBinding]):
    def validate(self, obj: ClusterRoleBinding) -> FieldErrors:
        yield from validate_cluster_role_binding(obj)

    def validate_update(self, new: ClusterRoleBinding, old: ClusterRoleBinding) -> FieldErrors:
        yield from self.validate(new)
        yield from validate_same_role(new.role_ref, old.role_ref)
