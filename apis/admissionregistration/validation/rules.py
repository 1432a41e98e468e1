"""Validation of rules, match resources and match conditions."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    invalid,
    not_supported,
    required,
    too_many,
)
from apimachinery.meta.metadata_validation import validate_label_selector
from apimachinery.names import is_path_segment_name, is_qualified_name
from apis.admissionregistration.v1 import (
    MatchCondition,
    MatchResources,
    NamedRuleWithOperations,
    RuleWithOperations,
)
from apis.admissionregistration.v1.rules import (
    ALL,
    CLUSTER_SCOPE,
    CONNECT,
    CREATE,
    DELETE,
    EQUIVALENT,
    EXACT,
    FAIL,
    IGNORE,
    NAMESPACED_SCOPE,
    UPDATE,
)
from apis.admissionregistration.validation.expressions import Expressions

FAILURE_POLICIES: Final = (FAIL, IGNORE)
MATCH_POLICIES: Final = (EQUIVALENT, EXACT)
MUTATING_OPERATIONS: Final = (ALL, CONNECT, CREATE, UPDATE)
MAX_MATCH_CONDITIONS: Final = 64

_OPERATIONS: Final = (ALL, CONNECT, CREATE, DELETE, UPDATE)
_SCOPES: Final = (ALL, CLUSTER_SCOPE, NAMESPACED_SCOPE)

AnyRule = RuleWithOperations | NamedRuleWithOperations


def validate_rule(rule: AnyRule, path: Path) -> FieldErrors:
    operations = path.child("operations")
    if not rule.operations:
        yield required(operations)
    if len(rule.operations) > 1 and ALL in rule.operations:
        detail = "if '*' is present, must not specify other operations"
        yield invalid(operations, rule.operations, detail)
    for position, operation in enumerate(rule.operations):
        if operation not in _OPERATIONS:
            yield not_supported(operations.index(position), operation, _OPERATIONS)
    yield from _validate_names(rule.api_groups, "API groups", path.child("apiGroups"))
    yield from _validate_names(rule.api_versions, "API versions", path.child("apiVersions"))
    for position, version in enumerate(rule.api_versions):
        if not version:
            yield required(path.child("apiVersions").index(position))
    yield from _validate_resources(rule.resources, path.child("resources"))
    if rule.scope is not None and rule.scope not in _SCOPES:
        yield not_supported(path.child("scope"), rule.scope, _SCOPES)


def validate_match_resources(resources: MatchResources | None, path: Path) -> FieldErrors:
    if resources is None:
        return
    policy = resources.match_policy
    if policy is None:
        yield required(path.child("matchPolicy"))
    elif policy not in MATCH_POLICIES:
        yield not_supported(path.child("matchPolicy"), policy, MATCH_POLICIES)
    for name, selector in (
        ("namespaceSelector", resources.namespace_selector),
        ("objectSelector", resources.object_selector),
    ):
        if selector is None:
            yield required(path.child(name))
        yield from validate_label_selector(selector, path.child(name))
    for name, rules in (
        ("resourceRules", resources.resource_rules),
        ("excludeResourceRules", resources.exclude_resource_rules),
    ):
        for position, rule in enumerate(rules):
            yield from _validate_named_rule(rule, path.child(name).index(position))


def validate_mutating_operations(resources: MatchResources | None, path: Path) -> FieldErrors:
    """Validate that only operations are matched whose objects can be changed."""
    for rule in resources.resource_rules if resources is not None else ():
        for operation in rule.operations:
            if operation not in MUTATING_OPERATIONS:
                yield not_supported(
                    path.child("resourceRules", "operations"), operation, MUTATING_OPERATIONS
                )


def validate_match_conditions(
    conditions: Sequence[MatchCondition], path: Path, expressions: Expressions
) -> FieldErrors:
    if len(conditions) > MAX_MATCH_CONDITIONS:
        yield too_many(path, len(conditions), MAX_MATCH_CONDITIONS)
    names: set[str] = set()
    for position, condition in enumerate(conditions):
        here = path.index(position)
        text, name = condition.expression.strip(), condition.name
        if not text:
            yield required(here.child("expression"))
        else:
            yield from expressions.check(text, here.child("expression"), ("bool",))
        if not name:
            yield required(here.child("name"))
            continue
        for problem in is_qualified_name(name):
            yield invalid(here.child("name"), name, problem)
        if name in names:
            yield duplicate(here.child("name"), name)
        names.add(name)


def _validate_names(names: Sequence[str], noun: str, path: Path) -> FieldErrors:
    if not names:
        yield required(path)
    if len(names) > 1 and ALL in names:
        yield invalid(path, names, f"if '*' is present, must not specify other {noun}")


def _validate_named_rule(rule: NamedRuleWithOperations, path: Path) -> FieldErrors:
    names: set[str] = set()
    for position, name in enumerate(rule.resource_names):
        here = path.child("resourceNames").index(position)
        for problem in is_path_segment_name(name):
            yield invalid(here, name, problem)
        if name in names:
            yield duplicate(here, name)
        names.add(name)
    yield from validate_rule(rule, path)


def _validate_resources(resources: Sequence[str], path: Path) -> FieldErrors:
    if not resources:
        yield required(path)
    with_any_subresource: set[str] = set()
    subresources_of_any: set[str] = set()
    for position, text in enumerate(resources):
        here = path.index(position)
        if not text:
            yield required(here)
        resource, slash, subresource = text.partition("/")
        if not slash:
            continue
        if resource in with_any_subresource:
            detail = f"if '{resource}/*' is present, must not specify {text}"
            yield invalid(here, text, detail)
        if subresource in subresources_of_any:
            detail = f"if '*/{subresource}' is present, must not specify {text}"
            yield invalid(here, text, detail)
        if subresource == ALL:
            with_any_subresource.add(resource)
        if resource == ALL:
            subresources_of_any.add(subresource)
    yield from _validate_wildcards(resources, path)


def _validate_wildcards(resources: Sequence[str], path: Path) -> FieldErrors:
    if len(resources) > 1 and "*/*" in resources:
        detail = "if '*/*' is present, must not specify other resources"
        yield invalid(path, resources, detail)
    plain = [text for text in resources if text and "/" not in text]
    # Kubernetes looks at the last resource without a subresource only.
    if ALL in plain and plain[-1] != ALL:
        detail = "if '*' is present, must not specify other resources without subresources"
        yield invalid(path, resources, detail)
