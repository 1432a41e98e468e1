"""Aggregation: the rules of a ClusterRole that combines other ClusterRoles by label selectors."""

from collections.abc import Iterable

from apimachinery.selectors import label_selector as labels
from apis.rbac.v1 import ClusterRole, PolicyRule


def aggregated_rules(role: ClusterRole, roles: Iterable[ClusterRole]) -> list[PolicyRule]:
    """Return the rules that *role* aggregates, without duplicates.

    They are in the order of the selectors, and for each selector of the names of the roles.
    """
    candidates = sorted(
        (other for other in roles if other.metadata.name != role.metadata.name),
        key=lambda other: other.metadata.name,
    )
    aggregated: dict[tuple[tuple[str, ...], ...], PolicyRule] = {}
    aggregation = role.aggregation_rule
    for label_selector in aggregation.cluster_role_selectors if aggregation else ():
        selector = labels.from_label_selector(label_selector)
        for candidate in candidates:
            if selector.matches(candidate.metadata.labels):
                for rule in candidate.rules:
                    aggregated.setdefault(_identity(rule), rule)
    return [rule.deep_copy() for rule in aggregated.values()]


def _identity(rule: PolicyRule) -> tuple[tuple[str, ...], ...]:
    return (
        tuple(rule.verbs),
        tuple(rule.api_groups),
        tuple(rule.resources),
        tuple(rule.resource_names),
        tuple(rule.non_resource_urls),
    )
