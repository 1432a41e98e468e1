"""The default roles and bindings of a server with every kind, beside those of every server.

They are for programs of Kubernetes that run against the server: its controllers, the scheduler,
nodes, and those that approve and sign certificates. Some are about kinds that are alpha or beta in
Kubernetes and not served here; they are granted as Kubernetes grants them.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from apis.rbac import GROUP
from apis.rbac.component_roles import (
    COMPONENT_RULES,
    COMPONENT_SUBJECTS,
    NAMESPACED_RULES,
    NAMESPACED_SUBJECTS,
)
from apis.rbac.controller_roles import CONTROLLER_RULES
from apis.rbac.default_metadata import default_metadata
from apis.rbac.rule_texts import parse_rule, parse_subject
from apis.rbac.v1 import (
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    Role,
    RoleBinding,
    RoleRef,
    Subject,
)
from apis.rbac.v1.types import CLUSTER_ROLE, ROLE

_AGGREGATE_TO: Final = "system:aggregate-to-"
_CONTROLLER: Final = "system:controller:"


def component_roles() -> Iterator[ClusterRole]:
    """Yield the cluster roles of components, nodes and controllers."""
    for name, texts in COMPONENT_RULES.items():
        into = [name.removeprefix(_AGGREGATE_TO)] if name.startswith(_AGGREGATE_TO) else []
        yield ClusterRole(metadata=default_metadata(name, into=into), rules=_rules(texts))
    for name, texts in CONTROLLER_RULES.items():
        yield ClusterRole(metadata=default_metadata(_CONTROLLER + name), rules=_rules(texts))


def component_bindings() -> Iterator[ClusterRoleBinding]:
    """Yield the bindings of these roles, each named like its role."""
    subjects = {
        **COMPONENT_SUBJECTS,
        **{_CONTROLLER + name: (f"account kube-system/{name}",) for name in CONTROLLER_RULES},
    }
    for name, texts in subjects.items():
        yield ClusterRoleBinding(
            metadata=default_metadata(name),
            role_ref=RoleRef(api_group=GROUP, kind=CLUSTER_ROLE, name=name),
            subjects=_subjects(texts),
        )


def namespaced_roles(namespace: str) -> list[Role]:
    """Return the default roles in a namespace."""
    return [
        Role(metadata=default_metadata(name, namespace=namespace), rules=_rules(texts))
        for name, texts in NAMESPACED_RULES.get(namespace, {}).items()
    ]


def namespaced_bindings(namespace: str) -> list[RoleBinding]:
    """Return the bindings of the default roles in a namespace."""
    return [
        RoleBinding(
            metadata=default_metadata(_binding_name(role), namespace=namespace),
            role_ref=RoleRef(api_group=GROUP, kind=ROLE, name=role),
            subjects=_subjects(texts),
        )
        for role, texts in NAMESPACED_SUBJECTS.get(namespace, {}).items()
    ]


def _binding_name(role: str) -> str:
    return role if role.startswith("system:") else f"system::{role}"


def _rules(texts: Iterable[str]) -> list[PolicyRule]:
    return [parse_rule(text) for text in texts]


def _subjects(texts: Iterable[str]) -> list[Subject]:
    return [parse_subject(text) for text in texts]
