"""Validation of FlowSchemas."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldError,
    FieldErrors,
    GoStruct,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.go_structs import go_struct
from apimachinery.meta.metadata_validation import dns_label_name, dns_subdomain_name
from apis.flowcontrol.bootstrap import mandatory_schemas
from apis.flowcontrol.v1 import (
    FlowSchema,
    FlowSchemaSpec,
    GroupSubject,
    NonResourcePolicyRule,
    PolicyRulesWithSubjects,
    ResourcePolicyRule,
    ServiceAccountSubject,
    Subject,
    UserSubject,
)
from apis.flowcontrol.v1.flow_schema import (
    ALL,
    BY_NAMESPACE,
    BY_USER,
    EXEMPT,
    GROUP_KIND,
    SERVICE_ACCOUNT,
    USER,
)
from apis.flowcontrol.validation.conditions import validate_conditions

MAX_PRECEDENCE: Final = 10000

_METHODS: Final = (BY_NAMESPACE, BY_USER)
_SUBJECT_KINDS: Final = (GROUP_KIND, SERVICE_ACCOUNT, USER)
_VERBS: Final = (
    *("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"),
)
_NAMESPACE_RULE: Final = "each member of this list must be '*' or a DNS-1123 label; "


def validate_flow_schema(schema: FlowSchema) -> FieldErrors:
    name, path = schema.metadata.name, Path("spec")
    yield from _validate_spec(name, schema.spec, path)
    for mandatory in mandatory_schemas():
        if mandatory.metadata.name == name and schema.spec != mandatory.spec:
            yield invalid(
                path, go_struct(schema.spec), f"spec of '{name}' must equal the fixed value"
            )
    yield from validate_conditions(schema.status.conditions)


def _validate_spec(name: str, spec: FlowSchemaSpec, path: Path) -> FieldErrors:
    yield from _validate_precedence(
        name, spec.matching_precedence, path.child("matchingPrecedence")
    )
    method = spec.distinguisher_method
    if method is not None and method.type not in _METHODS:
        shown = GoStruct(Type=method.type)  # Kubernetes shows the method, not its type
        yield not_supported(path.child("distinguisherMethod", "type"), shown, _METHODS)
    level = spec.priority_level_configuration.name
    here = path.child("priorityLevelConfiguration", "name")
    if not level:
        yield required(here, "must reference a priority level")
    for error in dns_subdomain_name(level, False) if level else ():
        yield invalid(here, level, error)
    for position, rules in enumerate(spec.rules):
        yield from _validate_rules(rules, path.child("rules").index(position))


def _validate_precedence(name: str, precedence: int, path: Path) -> FieldErrors:
    if precedence <= 0:
        yield invalid(path, precedence, "must be a positive value")
    if precedence > MAX_PRECEDENCE:
        yield invalid(path, precedence, f"must not be greater than {MAX_PRECEDENCE}")
    if precedence == 1 and name != EXEMPT:
        rule = "only the schema named 'exempt' may have matchingPrecedence 1"
        yield invalid(path, precedence, rule)


def _validate_rules(rules: PolicyRulesWithSubjects, path: Path) -> FieldErrors:
    if not rules.subjects:
        yield required(path.child("subjects"), "subjects must contain at least one value")
    for position, subject in enumerate(rules.subjects):
        yield from _validate_subject(subject, path.child("subjects").index(position))
    if not rules.resource_rules and not rules.non_resource_rules:
        rule = "at least one of resourceRules and nonResourceRules has to be non-empty"
        yield required(path, rule)
    for position, resource_rule in enumerate(rules.resource_rules):
        here = path.child("resourceRules").index(position)
        yield from _validate_resource_rule(resource_rule, here)
    for position, url_rule in enumerate(rules.non_resource_rules):
        here = path.child("nonResourceRules").index(position)
        yield from _validate_non_resource_rule(url_rule, here)


def _validate_subject(subject: Subject, path: Path) -> FieldErrors:
    if subject.kind not in _SUBJECT_KINDS:
        yield not_supported(path.child("kind"), subject.kind, _SUBJECT_KINDS)
        return
    account, user, group = subject.service_account, subject.user, subject.group
    if subject.kind == SERVICE_ACCOUNT:
        yield from _validate_account(account, path.child("serviceAccount"))
    elif subject.kind == USER:
        yield from _validate_named(user, "user", USER, path)
    else:
        yield from _validate_named(group, "group", GROUP_KIND, path)
    fields = (
        ("serviceAccount", SERVICE_ACCOUNT, account),
        ("user", USER, user),
        ("group", GROUP_KIND, group),
    )
    for field, kind, value in fields:
        if kind != subject.kind and value is not None:
            rule = f"{field} is forbidden when subject kind is not '{kind}'"
            yield forbidden(path.child(field), rule)


def _validate_named(
    subject: UserSubject | GroupSubject | None, field: str, kind: str, path: Path
) -> FieldErrors:
    if subject is None:
        yield required(path.child(field), f"{field} is required when subject kind is '{kind}'")
    elif not subject.name:
        yield required(path.child(field, "name"))


def _validate_account(account: ServiceAccountSubject | None, path: Path) -> FieldErrors:
    if account is None:
        yield required(path, "serviceAccount is required when subject kind is 'ServiceAccount'")
        return
    name, namespace = account.name, account.namespace
    if not name:
        yield required(path.child("name"))
    elif name != ALL:
        for error in dns_subdomain_name(name, False):
            yield invalid(path.child("name"), name, error)
    if not namespace:
        yield required(path.child("namespace"), "must specify namespace for service account")
    for error in dns_label_name(namespace, False) if namespace else ():
        yield invalid(path.child("namespace"), namespace, error)


def _validate_resource_rule(rule: ResourcePolicyRule, path: Path) -> FieldErrors:
    yield from _validate_verbs(rule.verbs, path.child("verbs"))
    groups, resources = path.child("apiGroups"), path.child("resources")
    if not rule.api_groups:
        yield required(groups, "resource rules must supply at least one api group")
    yield from _validate_wildcard(rule.api_groups, "api groups", groups)
    if not rule.resources:
        yield required(resources, "resource rules must supply at least one resource")
    yield from _validate_wildcard(rule.resources, "resources", resources)
    yield from _validate_namespaces(rule, path.child("namespaces"))


def _validate_namespaces(rule: ResourcePolicyRule, path: Path) -> FieldErrors:
    namespaces = rule.namespaces
    if not namespaces and not rule.cluster_scope:
        yield required(
            path, "resource rules that are not cluster scoped must supply at least one namespace"
        )
    elif ALL in namespaces:
        yield from _validate_wildcard(namespaces, "namespaces", path)
    else:
        for position, namespace in enumerate(namespaces):
            for error in dns_label_name(namespace, False):
                yield invalid(path.index(position), namespace, _NAMESPACE_RULE + error)


def _validate_non_resource_rule(rule: NonResourcePolicyRule, path: Path) -> FieldErrors:
    yield from _validate_verbs(rule.verbs, path.child("verbs"))
    urls, here = rule.non_resource_urls, path.child("nonResourceURLs")
    if not urls:
        yield required(here, "nonResourceURLs must contain at least one value")
    elif ALL in urls:
        yield from _validate_wildcard(urls, "non-resource URLs", here)
    else:
        for position, url in enumerate(urls):
            error = _url_error(url, here.index(position))
            if error is not None:
                yield error


def _validate_verbs(verbs: Sequence[str], path: Path) -> FieldErrors:
    if not verbs:
        yield required(path, "verbs must contain at least one value")
    elif ALL in verbs:
        yield from _validate_wildcard(verbs, "verbs", path)
    elif not set(verbs) <= set(_VERBS):
        yield not_supported(path, list(verbs), _VERBS)


def _validate_wildcard(values: Sequence[str], what: str, path: Path) -> FieldErrors:
    if ALL in values and len(values) > 1:
        yield invalid(path, list(values), f"if '*' is present, must not specify other {what}")


def _url_error(url: str, path: Path) -> FieldError | None:
    """Return the error of a path: it starts with a slash, and `*` may only be its last part."""
    wildcards = url.count(ALL)
    rules = (
        (not url, "must not be empty"),
        (not url.startswith("/"), "must start with slash"),
        (" " in url, "must not contain white-space"),
        ("//" in url, "must not contain double slash"),
        (
            wildcards > 1 or (wildcards == 1 and not url.endswith("/*")),
            "wildcard can only do suffix matching",
        ),
    )
    return next((invalid(path, url, rule) for broken, rule in rules if broken), None)
