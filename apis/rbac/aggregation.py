"""What a cluster role collects: the rules of all cluster roles that its selectors match."""

from collections.abc import Iterable

from apimachinery.selectors import label_selector as labels
from apis.rbac.v1 import ClusterRole, PolicyRule


def aggregated_rules(role: ClusterRole, roles: Iterable[ClusterRole]) -> list[PolicyRule]:
    """The rules that *role* should have, each once: by selector, then by the name of the giver."""
    known = sorted(roles, key=lambda each: each.metadata.name)
    found: dict[tuple[tuple[str, ...], ...], PolicyRule] = {}
    rule = role.aggregation_rule
    for selector in rule.cluster_role_selectors if rule else ():
        matching = labels.from_label_selector(selector)
        for giver in known:
            itself = giver.metadata.name == role.metadata.name
            if not itself and matching.matches(giver.metadata.labels):
                for each in giver.rules:
                    found.setdefault(_identity(each), each)
    return [each.deep_copy() for each in found.values()]


def _identity(rule: PolicyRule) -> tuple[tuple[str, ...], ...]:
    return (
        tuple(rule.verbs),
        tuple(rule.api_groups),
        tuple(rule.resources),
        tuple(rule.resource_names),
        tuple(rule.non_resource_urls),
    )
