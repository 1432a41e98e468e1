"""Short ways to say who may do what."""

from typing import Any

from apimachinery.meta.types import ObjectMeta
from apis.rbac import GROUP
from apis.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef
from apis.rbac.v1 import Subject as SubjectModel
from apiserver.http.request_info import RequestInfo


def rule(verbs: str, resources: str = "", *, groups: str = "", names: str = "") -> PolicyRule:
    """Verbs, resources and names with spaces between them; groups with commas."""
    return PolicyRule(
        verbs=verbs.split(),
        api_groups=groups.split(","),
        resources=resources.split(),
        resource_names=names.split(),
    )


def paths(verbs: str, urls: str) -> PolicyRule:
    return PolicyRule(verbs=verbs.split(), non_resource_urls=urls.split())


def role(name: str, *rules: PolicyRule, namespace: str = "ns") -> Role:
    return Role(metadata=ObjectMeta(name=name, namespace=namespace), rules=list(rules))


def cluster_role(name: str, *rules: PolicyRule, **labels: str) -> ClusterRole:
    return ClusterRole(metadata=ObjectMeta(name=name, labels=labels), rules=list(rules))


def subject(text: str) -> SubjectModel:
    """`User ann`, `Group devs` or `ServiceAccount sa ns`."""
    kind, name, *namespace = text.split()
    group = "" if kind == "ServiceAccount" else GROUP
    return SubjectModel(kind=kind, name=name, api_group=group, namespace="".join(namespace))


def binding(name: str, role: str, *subjects: str, namespace: str = "ns") -> RoleBinding:
    """*role* is `Role name` or `ClusterRole name`."""
    return RoleBinding(
        metadata=ObjectMeta(name=name, namespace=namespace),
        role_ref=_reference(role),
        subjects=[subject(each) for each in subjects],
    )


def cluster_binding(name: str, role: str, *subjects: str) -> ClusterRoleBinding:
    return ClusterRoleBinding(
        metadata=ObjectMeta(name=name),
        role_ref=_reference(f"ClusterRole {role}"),
        subjects=[subject(each) for each in subjects],
    )


def asks(verb: str, resource: str, *, namespace: str = "ns", **more: Any) -> RequestInfo:
    """*resource* is `resource` or `resource/subresource`."""
    resource, _, subresource = resource.partition("/")
    return RequestInfo(
        "", verb, True, resource=resource, subresource=subresource, namespace=namespace, **more
    )


def asks_path(verb: str, path: str) -> RequestInfo:
    return RequestInfo(path, verb)


def _reference(text: str) -> RoleRef:
    kind, name = text.split()
    return RoleRef(api_group=GROUP, kind=kind, name=name)
