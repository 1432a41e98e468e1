"""Validation of roles and bindings."""

from collections.abc import Iterable
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported, required
from apimachinery.meta.metadata_validation import dns_subdomain_name, validate_label_selector
from apimachinery.names import is_path_segment_name
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


def validate_cluster_role(role: ClusterRole) -> FieldErrors:
    yield from _validate_rules(role.rules, namespaced=False)
    if role.aggregation_rule is not None:
        path = Path("aggregationRule.clusterRoleSelectors")
        yield from _validate_aggregation(role.aggregation_rule, path)


def validate_role_binding(binding: RoleBinding) -> FieldErrors:
    yield from _validate_role_ref(binding.role_ref, _BOUND)
    yield from _validate_subjects(binding.subjects, namespaced=True)


def validate_cluster_role_binding(binding: ClusterRoleBinding) -> FieldErrors:
    yield from _validate_role_ref(binding.role_ref, (CLUSTER_ROLE,))
    yield from _validate_subjects(binding.subjects, namespaced=False)


def validate_same_role(new: RoleRef, old: RoleRef) -> FieldErrors:
    """Refuse a change of roleRef: whether a user may bind depends on the role."""
    if new != old:
        yield invalid(Path("roleRef"), new, "cannot change roleRef")


def _validate_rules(rules: Iterable[PolicyRule], *, namespaced: bool) -> FieldErrors:
    for position, rule in enumerate(rules):
        yield from _validate_rule(rule, Path("rules").index(position), namespaced=namespaced)


def _validate_rule(rule: PolicyRule, path: Path, *, namespaced: bool) -> FieldErrors:
    if not rule.verbs:
        yield required(path.child("verbs"), "verbs must contain at least one value")
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


def _validate_role_ref(reference: RoleRef, kinds: tuple[str, ...]) -> FieldErrors:
    path = Path("roleRef")
    if reference.api_group != GROUP:
        yield not_supported(path.child("apiGroup"), reference.api_group, (GROUP,))
    if reference.kind not in kinds:
        yield not_supported(path.child("kind"), reference.kind, kinds)
    if not reference.name:
        yield required(path.child("name"))
    for error in is_path_segment_name(reference.name):
        yield invalid(path.child("name"), reference.name, error)


def _validate_subjects(subjects: Iterable[Subject], *, namespaced: bool) -> FieldErrors:
    for position, subject in enumerate(subjects):
        path = Path("subjects").index(position)
        if not subject.name:
            yield required(path.child("name"))
        if subject.kind == SERVICE_ACCOUNT:
            yield from _validate_service_account(subject, path, namespaced=namespaced)
        elif subject.kind in (USER, GROUP_KIND):
            yield from _validate_user_or_group(subject, path)
        else:
            yield not_supported(path.child("kind"), subject.kind, _SUBJECTS)


def _validate_service_account(subject: Subject, path: Path, *, namespaced: bool) -> FieldErrors:
    for error in dns_subdomain_name(subject.name, False) if subject.name else ():
        yield invalid(path.child("name"), subject.name, error)
    if subject.api_group:
        yield not_supported(path.child("apiGroup"), subject.api_group, ("",))
    if not namespaced and not subject.namespace:
        yield required(path.child("namespace"))


def _validate_user_or_group(subject: Subject, path: Path) -> FieldErrors:
    if not subject.name:
        rule = f"{subject.kind.lower()} name cannot be empty"
        yield invalid(path.child("name"), subject.name, rule)
    if subject.api_group != GROUP:
        yield not_supported(path.child("apiGroup"), subject.api_group, (GROUP,))
