"""Validation of node selectors, which pods and volumes use to choose nodes.

A requirement of `matchExpressions` is about a label, one of `matchFields` about a field of the
node; `metadata.name` is the only field so far.
"""

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, required
from apimachinery.meta.metadata_validation import dns_subdomain_name, validate_label_name
from apimachinery.names import is_label_value
from apis.core.v1.scheduling import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)

_UNKNOWN_OPERATOR = "not a valid selector operator"


def validate_node_selector(
    selector: NodeSelector, path: Path, *, allow_invalid_values: bool = False
) -> FieldErrors:
    """Validate a selector; *allow_invalid_values* is for stored objects with such label values."""
    terms = path.child("nodeSelectorTerms")
    if not selector.node_selector_terms:
        yield required(terms, "must have at least one node selector term")
    for position, term in enumerate(selector.node_selector_terms):
        yield from validate_node_selector_term(
            term, terms.index(position), allow_invalid_values=allow_invalid_values
        )


def validate_node_selector_term(
    term: NodeSelectorTerm, path: Path, *, allow_invalid_values: bool = False
) -> FieldErrors:
    for position, requirement in enumerate(term.match_expressions):
        yield from _validate_label_requirement(
            requirement,
            path.child("matchExpressions").index(position),
            allow_invalid_values=allow_invalid_values,
        )
    for position, requirement in enumerate(term.match_fields):
        yield from _validate_field_requirement(
            requirement, path.child("matchFields").index(position)
        )


def validate_preferred_terms(terms: list[PreferredSchedulingTerm], path: Path) -> FieldErrors:
    for position, term in enumerate(terms):
        here = path.index(position)
        if not 0 < term.weight <= 100:
            yield invalid(here.child("weight"), term.weight, "must be in the range 1-100")
        # A preference that no node can satisfy does no harm.
        yield from validate_node_selector_term(
            term.preference, here.child("preference"), allow_invalid_values=True
        )


def _validate_label_requirement(
    requirement: NodeSelectorRequirement, path: Path, *, allow_invalid_values: bool
) -> FieldErrors:
    yield from _validate_value_count(requirement, path)
    yield from validate_label_name(requirement.key, path.child("key"))
    for position, value in enumerate(() if allow_invalid_values else requirement.values):
        for error in is_label_value(value):
            yield invalid(path.child("values").index(position), value, error)


def _validate_value_count(requirement: NodeSelectorRequirement, path: Path) -> FieldErrors:
    values = path.child("values")
    match requirement.operator:
        case "In" | "NotIn":
            if not requirement.values:
                yield required(values, "must be specified when `operator` is 'In' or 'NotIn'")
        case "Exists" | "DoesNotExist":
            if requirement.values:
                rule = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield forbidden(values, rule)
        case "Gt" | "Lt":
            if len(requirement.values) != 1:
                rule = "must be specified single value when `operator` is 'Lt' or 'Gt'"
                yield required(values, rule)
        case unknown:
            yield invalid(path.child("operator"), unknown, _UNKNOWN_OPERATOR)


def _validate_field_requirement(requirement: NodeSelectorRequirement, path: Path) -> FieldErrors:
    if requirement.operator not in ("In", "NotIn"):
        yield invalid(path.child("operator"), requirement.operator, _UNKNOWN_OPERATOR)
    elif len(requirement.values) != 1:
        rule = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(path.child("values"), rule)
    if requirement.key != "metadata.name":
        yield invalid(path.child("key"), requirement.key, "not a valid field selector key")
        return
    for position, value in enumerate(requirement.values):
        for error in dns_subdomain_name(value, False):
            yield invalid(path.child("values").index(position), value, error)
