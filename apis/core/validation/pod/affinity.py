"""Validation of affinity: which nodes a pod prefers, and which other pods it runs near.

`matchLabelKeys` is shared with topology spread constraints: the server merges the pod's own value
of each of these labels into the selector, so the selector may not name them too.
"""

from collections.abc import Sequence

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, required
from apimachinery.meta.metadata_validation import (
    dns_label_name,
    validate_label_name,
    validate_label_selector,
)
from apimachinery.meta.types import LabelSelector
from apis.core.v1.scheduling import (
    Affinity,
    NodeAffinity,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
)
from apis.core.validation.node_selectors import validate_node_selector, validate_preferred_terms
from apis.core.validation.pod.options import PodValidationOptions


def validate_affinity(
    affinity: Affinity | None, path: Path, options: PodValidationOptions
) -> FieldErrors:
    if affinity is None:
        return
    if affinity.node_affinity is not None:
        yield from _validate_node_affinity(
            affinity.node_affinity, path.child("nodeAffinity"), options
        )
    if affinity.pod_affinity is not None:
        yield from _validate_pod_affinity(affinity.pod_affinity, path.child("podAffinity"), options)
    if affinity.pod_anti_affinity is not None:
        here = path.child("podAntiAffinity")
        yield from _validate_pod_affinity(affinity.pod_anti_affinity, here, options)


def validate_match_label_keys(
    path: Path,
    keys: Sequence[str],
    mismatch_keys: Sequence[str],
    selector: LabelSelector | None,
) -> FieldErrors:
    """Validate the keys whose values the selector gets from the pod; *path* is that of the term."""
    yield from _validate_keys(keys, selector, path.child("matchLabelKeys"))
    yield from _validate_keys(mismatch_keys, selector, path.child("mismatchLabelKeys"))
    if selector is not None:
        yield from _validate_not_selected(keys, selector, path)
    mismatched = set(mismatch_keys)
    for position, key in enumerate(keys):
        if key in mismatched:
            here = path.child("matchLabelKeys").index(position)
            yield invalid(here, key, "exists in both matchLabelKeys and mismatchLabelKeys")


def _validate_node_affinity(
    affinity: NodeAffinity, path: Path, options: PodValidationOptions
) -> FieldErrors:
    needed = affinity.required_during_scheduling_ignored_during_execution
    if needed is not None:
        yield from validate_node_selector(
            needed,
            path.child("requiredDuringSchedulingIgnoredDuringExecution"),
            allow_invalid_values=options.allow_invalid_node_affinity_values,
        )
    yield from validate_preferred_terms(
        affinity.preferred_during_scheduling_ignored_during_execution,
        path.child("preferredDuringSchedulingIgnoredDuringExecution"),
    )


def _validate_pod_affinity(
    affinity: PodAffinity | PodAntiAffinity, path: Path, options: PodValidationOptions
) -> FieldErrors:
    terms = affinity.required_during_scheduling_ignored_during_execution
    here = path.child("requiredDuringSchedulingIgnoredDuringExecution")
    for position, term in enumerate(terms):
        yield from _validate_term(term, here.index(position), options)
    weighted = affinity.preferred_during_scheduling_ignored_during_execution
    here = path.child("preferredDuringSchedulingIgnoredDuringExecution")
    for position, preference in enumerate(weighted):
        if not 0 < preference.weight <= 100:
            rule = "must be in the range 1-100"
            yield invalid(here.index(position).child("weight"), preference.weight, rule)
        yield from _validate_term(
            preference.pod_affinity_term, here.index(position).child("podAffinityTerm"), options
        )


def _validate_term(term: PodAffinityTerm, path: Path, options: PodValidationOptions) -> FieldErrors:
    yield from validate_term_selectors(
        term, path, allow_invalid_values=options.allow_invalid_affinity_values
    )
    for namespace in term.namespaces:
        for error in dns_label_name(namespace, False):
            yield invalid(path.child("namespace"), namespace, error)
    yield from validate_match_label_keys(
        path, term.match_label_keys, term.mismatch_label_keys, term.label_selector
    )
    if not term.topology_key:
        yield required(path.child("topologyKey"), "can not be empty")
    yield from validate_label_name(term.topology_key, path.child("topologyKey"))


def validate_term_selectors(
    term: PodAffinityTerm, path: Path, *, allow_invalid_values: bool = False
) -> FieldErrors:
    for wire, selector in (
        ("labelSelector", term.label_selector),
        ("namespaceSelector", term.namespace_selector),
    ):
        yield from validate_label_selector(
            selector, path.child(wire), allow_invalid_values=allow_invalid_values
        )


def _validate_keys(keys: Sequence[str], selector: LabelSelector | None, path: Path) -> FieldErrors:
    if keys and selector is None:
        yield forbidden(path, "must not be specified when labelSelector is not set")
        return
    for position, key in enumerate(keys):
        yield from validate_label_name(key, path.index(position))


def _validate_not_selected(keys: Sequence[str], selector: LabelSelector, path: Path) -> FieldErrors:
    """Validate that the selector names each key once at most: where the server merged it in."""
    positions = {key: position for position, key in enumerate(keys)}
    selected = set(selector.match_labels)
    for requirement in selector.match_expressions:
        key = requirement.key
        if key in positions and key in selected:
            rule = "exists in both matchLabelKeys and labelSelector"
            yield invalid(path.index(positions[key]), key, rule)
        selected.add(key)
