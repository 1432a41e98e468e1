"""Aggregation: the rules of a ClusterRole that selects other ClusterRoles by their labels."""

from collections.abc import Iterable

from apimachinery.selectors import label_selector as labels
from apis.rbac.v1 import ClusterRole, PolicyRule


def aggregated_rules(role: ClusterRole, roles: Iterable[ClusterRole]) -> list[PolicyRule]:
    """Return the rules that *role* should have, each once, by selector and contributor's name."""
    candidates = sorted(roles, key=lambda candidate: candidate.metadata.name)
    rules: dict[tuple[tuple[str, ...], ...], PolicyRule] = {}
    aggregation = role.aggregation_rule
    for label_selector in aggregation.cluster_role_selectors if aggregation else ():
        selector = labels.from_label_selector(label_selector)
        for candidate in candidates:
            is_itself = candidate.metadata.name == role.metadata.name
            if not is_itself and selector.matches(candidate.metadata.labels):
                for rule in candidate.rules:
                    rules.setdefault(_identity(rule), rule)
    return [rule.deep_copy() for rule in rules.values()]


def _identity(rule: PolicyRule) -> tuple[tuple[str, ...], ...]:
    return (
        tuple(rule.verbs),
        tuple(rule.api_groups),
        tuple(rule.resources),
        tuple(rule.resource_names),
        tuple(rule.non_resource_urls),
    )
