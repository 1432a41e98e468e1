"""Validation of changes that restrict a gated pod to fewer nodes.

The scheduler does not look at a pod while it has scheduling gates, so its owner may still add
requirements on nodes; none may be removed or relaxed.
"""

from collections.abc import Sequence

from apimachinery.fieldpath import FieldErrors, Path, invalid
from apis.core.v1.pod import PodSpec
from apis.core.v1.scheduling import NodeAffinity, NodeSelectorRequirement, NodeSelectorTerm
from apis.core.validation.internal_form import internal_form


def validate_node_selector_change(new: PodSpec, old: PodSpec, path: Path) -> FieldErrors:
    selector = new.node_selector
    if any(selector.get(key) != value for key, value in old.node_selector.items()):
        rule = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        given = bool(selector) or "node_selector" in new.model_fields_set
        yield invalid(path, selector if given else None, rule)


def validate_node_affinity_change(
    new: NodeAffinity | None, old: NodeAffinity | None, path: Path
) -> FieldErrors:
    before, _ = _required_terms(old)
    if not before:
        return
    after, given = _required_terms(new)
    here = path.child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
    if len(after) != len(before):
        rule = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield invalid(here, internal_form(after) if given else None, rule)
        return
    for position, (term, stored) in enumerate(zip(after, before, strict=True)):
        if not _only_adds(term, stored):
            rule = "only additions are allowed (no mutations or deletions)"
            yield invalid(here.index(position), internal_form(term), rule)


def _required_terms(affinity: NodeAffinity | None) -> tuple[list[NodeSelectorTerm], bool]:
    """Return the required terms, and whether the document has the list, which may be empty."""
    if affinity is None or affinity.required_during_scheduling_ignored_during_execution is None:
        return [], False
    selector = affinity.required_during_scheduling_ignored_during_execution
    terms = selector.node_selector_terms
    return terms, bool(terms) or "node_selector_terms" in selector.model_fields_set


def _only_adds(new: NodeSelectorTerm, old: NodeSelectorTerm) -> bool:
    if not old.match_expressions and not old.match_fields:
        # An empty term matches no node; a requirement would make it match some.
        return not new.match_expressions and not new.match_fields
    return _starts_with(new.match_expressions, old.match_expressions) and _starts_with(
        new.match_fields, old.match_fields
    )


def _starts_with(
    new: Sequence[NodeSelectorRequirement], old: Sequence[NodeSelectorRequirement]
) -> bool:
    return list(new[: len(old)]) == list(old)
