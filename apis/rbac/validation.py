"""Validation of roles and bindings.

Kubernetes reports values that its types require after everything else.
"""

from collections.abc import Iterable
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    immutable,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.internal_form import internal_form
from apimachinery.meta.metadata_validation import dns_subdomain_name, validate_label_selector
from apimachinery.names import is_path_segment_name
from apimachinery.selectors.label_selector import try_label_selector
from apis.rbac import GROUP
from apis.rbac.v1 import (
    AggregationRule,
    ClusterRole,
    ClusterRoleBinding,
    PolicyRule,
    Role,
    RoleBinding,
    RoleRef,
    Subject,
)
from apis.rbac.v1.types import CLUSTER_ROLE, GROUP_KIND, ROLE, SERVICE_ACCOUNT, USER

_BOUND: Final = (ROLE, CLUSTER_ROLE)
_SUBJECTS: Final = (SERVICE_ACCOUNT, USER, GROUP_KIND)
_BOTH: Final = "rules cannot apply to both regular resources and non-resource URLs"


def validate_role(role: Role) -> FieldErrors:
    yield from _validate_rules(role.rules, namespaced=True)
    yield from _require_verbs(role.rules)


def validate_cluster_role(role: ClusterRole) -> FieldErrors:
    yield from _validate_rules(role.rules, namespaced=False)
    if role.aggregation_rule is not None:
        path = Path("aggregationRule.clusterRoleSelectors")
        yield from _validate_aggregation(role.aggregation_rule, path)
    yield from _require_verbs(role.rules)


def validate_role_binding(binding: RoleBinding) -> FieldErrors:
    yield from _validate_role_ref(binding.role_ref, _BOUND)
    yield from _validate_subjects(binding.subjects, namespaced=True)
    yield from _require_names(binding)


def validate_cluster_role_binding(binding: ClusterRoleBinding) -> FieldErrors:
    yield from _validate_role_ref(binding.role_ref, (CLUSTER_ROLE,))
    yield from _validate_subjects(binding.subjects, namespaced=False)
    yield from _require_names(binding)


def validate_same_role(new: RoleRef, old: RoleRef) -> FieldErrors:
    """Refuse a change of roleRef: whether a user may bind depends on the role."""
    if new != old:
        yield immutable(Path("roleRef"), internal_form(new))


def _validate_rules(rules: Iterable[PolicyRule], *, namespaced: bool) -> FieldErrors:
    for position, rule in enumerate(rules):
        yield from _validate_rule(rule, Path("rules").index(position), namespaced=namespaced)


def _validate_rule(rule: PolicyRule, path: Path, *, namespaced: bool) -> FieldErrors:
    if rule.non_resource_urls:
        urls, here = rule.non_resource_urls, path.child("nonResourceURLs")
        if namespaced:
            yield invalid(here, urls, "namespaced rules cannot apply to non-resource URLs")
        if rule.api_groups or rule.resources or rule.resource_names:
            yield invalid(here, urls, _BOTH)
        return
    if not rule.api_groups:
        rule_text = "resource rules must supply at least one api group"
        yield required(path.child("apiGroups"), rule_text)
    if not rule.resources:
        yield required(path.child("resources"), "resource rules must supply at least one resource")


def _validate_aggregation(rule: AggregationRule, path: Path) -> FieldErrors:
    if not rule.cluster_role_selectors:
        yield required(
            path, "at least one clusterRoleSelector required if aggregationRule is non-nil"
        )
    for position, selector in enumerate(rule.cluster_role_selectors):
        yield from validate_label_selector(selector, path.index(position))
        if try_label_selector(selector) is None:
            yield invalid(path.index(position), None, "invalid label selector.")


def _validate_role_ref(reference: RoleRef, kinds: tuple[str, ...]) -> FieldErrors:
    path = Path("roleRef")
    if reference.api_group != GROUP:
        yield not_supported(path.child("apiGroup"), reference.api_group, (GROUP,))
    if reference.kind not in kinds:
        yield not_supported(path.child("kind"), reference.kind, kinds)
    for error in is_path_segment_name(reference.name):
        yield invalid(path.child("name"), reference.name, error)


def _validate_subjects(subjects: Iterable[Subject], *, namespaced: bool) -> FieldErrors:
    for position, subject in enumerate(subjects):
        path = Path("subjects").index(position)
        if subject.kind == SERVICE_ACCOUNT:
            yield from _validate_service_account(subject, path, namespaced=namespaced)
        elif subject.kind not in (USER, GROUP_KIND):
            yield not_supported(path.child("kind"), subject.kind, _SUBJECTS)
        elif subject.api_group != GROUP:
            yield not_supported(path.child("apiGroup"), subject.api_group, (GROUP,))


def _validate_service_account(subject: Subject, path: Path, *, namespaced: bool) -> FieldErrors:
    for error in dns_subdomain_name(subject.name, False) if subject.name else ():
        yield invalid(path.child("name"), subject.name, error)
    if subject.api_group:
        yield not_supported(path.child("apiGroup"), subject.api_group, ("",))
    if not namespaced and not subject.namespace:
        yield required(path.child("namespace"))


def _require_verbs(rules: Iterable[PolicyRule]) -> FieldErrors:
    for position, rule in enumerate(rules):
        if not rule.verbs:
            yield required(Path("rules").index(position).child("verbs"))


def _require_names(binding: RoleBinding | ClusterRoleBinding) -> FieldErrors:
    for position, subject in enumerate(binding.subjects):
        if not subject.name:
            yield required(Path("subjects").index(position).child("name"))
    if not binding.role_ref.name:
        yield required(Path("roleRef", "name"))
