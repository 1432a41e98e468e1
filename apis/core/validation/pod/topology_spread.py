"""Validation of topology spread constraints: how evenly pods are distributed."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.metadata_validation import validate_label_name, validate_label_selector
from apis.core.v1.scheduling import TopologySpreadConstraint
from apis.core.validation.pod.affinity import validate_match_label_keys
from apis.core.validation.pod.options import PodValidationOptions

_DO_NOT_SCHEDULE: Final = "DoNotSchedule"
_ACTIONS: Final = (_DO_NOT_SCHEDULE, "ScheduleAnyway")
_NODE_POLICIES: Final = ("Honor", "Ignore")
_POSITIVE: Final = "must be greater than zero"


def validate_topology_spread(
    constraints: Sequence[TopologySpreadConstraint], path: Path, options: PodValidationOptions
) -> FieldErrors:
    repeated = Counter(map(_kind, constraints))
    for position, constraint in enumerate(constraints):
        here = path.index(position)
        if constraint.max_skew <= 0:
            yield invalid(here.child("maxSkew"), constraint.max_skew, _POSITIVE)
        if not constraint.topology_key:
            yield required(here.child("topologyKey"), "can not be empty")
        if constraint.when_unsatisfiable not in _ACTIONS:
            action = here.child("whenUnsatisfiable")
            yield not_supported(action, constraint.when_unsatisfiable, _ACTIONS)
        # Of constraints of one kind, all but the last are reported.
        kind = _kind(constraint)
        repeated[kind] -= 1
        if repeated[kind]:
            shown = f"{{{constraint.topology_key}, {constraint.when_unsatisfiable}}}"
            yield duplicate(here.child("{topologyKey, whenUnsatisfiable}"), shown)
        yield from _validate_domains(constraint, here)
        if options.allow_selected_match_label_keys:
            yield from _validate_legacy_keys(constraint, here.child("matchLabelKeys"))
        else:
            yield from validate_match_label_keys(
                here, constraint.match_label_keys, (), constraint.label_selector
            )
        if not options.allow_invalid_spread_selectors:
            yield from validate_label_selector(
                constraint.label_selector, here.child("labelSelector")
            )


def _kind(constraint: TopologySpreadConstraint) -> tuple[str, str]:
    return constraint.topology_key, constraint.when_unsatisfiable


def _validate_domains(constraint: TopologySpreadConstraint, path: Path) -> FieldErrors:
    minimum, action = constraint.min_domains, constraint.when_unsatisfiable
    if minimum is not None:
        if minimum <= 0:
            yield invalid(path.child("minDomains"), minimum, _POSITIVE)
        if action != _DO_NOT_SCHEDULE:
            rule = f"can only use minDomains if whenUnsatisfiable={_DO_NOT_SCHEDULE}, not {action}"
            yield invalid(path.child("minDomains"), minimum, rule)
    for wire, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy),
        ("nodeTaintsPolicy", constraint.node_taints_policy),
    ):
        if policy is not None and policy not in _NODE_POLICIES:
            yield not_supported(path.child(wire), policy, _NODE_POLICIES)


def _validate_legacy_keys(constraint: TopologySpreadConstraint, path: Path) -> FieldErrors:
    """Validate keys by the rule of older servers, which did not merge them into the selector."""
    if not constraint.match_label_keys:
        return
    selected: set[str] = set()
    if constraint.label_selector is None:
        yield forbidden(path, "must not be specified when labelSelector is not set")
    else:
        selected.update(constraint.label_selector.match_labels)
        selected.update(item.key for item in constraint.label_selector.match_expressions)
    for position, key in enumerate(constraint.match_label_keys):
        yield from validate_label_name(key, path.index(position))
        if key in selected:
            rule = "exists in both matchLabelKeys and labelSelector"
            yield invalid(path.index(position), key, rule)
