"""Classification: the flow schema that matches a request, and the flow that the request is in.

Schemas are tried by precedence, then by name. The last one matches everything, so every request has
a schema.
"""

from collections.abc import Collection, Iterable

from apiserver.auth.user import User
from apiserver.fairness.flow_configuration import (
    ALL,
    BY_NAMESPACE,
    BY_USER,
    FlowRule,
    PathRule,
    ResourceMatch,
    SchemaConfiguration,
    Subjects,
)
from apiserver.http.request_info import RequestInfo


def by_precedence(schemas: Iterable[SchemaConfiguration]) -> list[SchemaConfiguration]:
    """Return schemas in the order in which they are tried."""
    return sorted(schemas, key=lambda schema: (schema.precedence, schema.name))


def matches(schema: SchemaConfiguration, user: User, info: RequestInfo) -> bool:
    """Return whether a schema matches a request."""
    return any(_rule_matches(rule, user, info) for rule in schema.rules)


def distinguisher(schema: SchemaConfiguration, user: User, info: RequestInfo) -> str:
    """Return what distinguishes the flow of a request from the others of its schema."""
    if schema.distinguisher == BY_USER:
        return user.name
    if schema.distinguisher == BY_NAMESPACE:
        return info.namespace
    return ""


def _rule_matches(rule: FlowRule, user: User, info: RequestInfo) -> bool:
    if not _is_subject(rule.subjects, user):
        return False
    if info.is_resource:
        return any(_resource_matches(resource, info) for resource in rule.resources)
    return any(_path_matches(path, info) for path in rule.paths)


def _is_subject(subjects: Subjects, user: User) -> bool:
    groups, users = subjects.groups, subjects.users
    return (
        user.name in users
        or ALL in users
        or ALL in groups
        or not groups.isdisjoint(user.groups)
        or user.name.startswith(subjects.account_prefixes)
    )


def _resource_matches(rule: ResourceMatch, info: RequestInfo) -> bool:
    resource = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    return (
        _contains(rule.verbs, info.verb)
        and _contains(rule.resources, resource)
        and _contains(rule.groups, info.group)
        and (_contains(rule.namespaces, info.namespace) if info.namespace else rule.cluster_scope)
    )


def _path_matches(rule: PathRule, info: RequestInfo) -> bool:
    if not _contains(rule.verbs, info.verb):
        return False
    for path in rule.paths:
        if path in (ALL, info.path) or info.path.startswith(
            path.removesuffix("*").rstrip("/") + "/"
        ):
            return True
    return False


def _contains(values: Collection[str], value: str) -> bool:
    return value in values or ALL in values
