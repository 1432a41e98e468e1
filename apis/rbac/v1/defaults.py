"""Defaults of rbac.authorization.k8s.io/v1."""

from apis.rbac import GROUP
from apis.rbac.v1.types import GROUP_KIND, USER, RoleRef, Subject


def set_role_ref_defaults(reference: RoleRef) -> None:
    reference.api_group = reference.api_group or GROUP


def set_subject_defaults(subject: Subject) -> None:
    if not subject.api_group and subject.kind in (USER, GROUP_KIND):
        subject.api_group = GROUP
