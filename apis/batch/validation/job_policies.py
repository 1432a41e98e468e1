"""Validation of the pod failure policy and the success policy of a job."""

from typing import Final

from apimachinery.fieldpath import (
    OMITTED,
    FieldErrors,
    Path,
    duplicate,
    invalid,
    not_supported,
    quote,
    required,
    too_long,
    too_many,
)
from apimachinery.meta.internal_form import list_form
from apimachinery.meta.metadata_validation import validate_nonnegative
from apimachinery.names import byte_length, is_qualified_name
from apis.batch.v1.job import (
    JobSpec,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
    SuccessPolicyRule,
)
from apis.batch.validation.indexes import InvalidIndexes, count_indexes

MAX_RULES: Final = 20
MAX_EXIT_CODES: Final = 255
MAX_CONDITION_PATTERNS: Final = 20
MAX_INDEXES_LENGTH: Final = 64 * 1024

_ACTIONS: Final = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS: Final = ("In", "NotIn")
_STATUSES: Final = ("False", "True", "Unknown")


def validate_failure_policy(spec: JobSpec, path: Path) -> FieldErrors:
    rules = spec.pod_failure_policy.rules if spec.pod_failure_policy else []
    if len(rules) > MAX_RULES:
        yield too_many(path.child("rules"), len(rules), MAX_RULES)
    pods = spec.template.spec
    names = {container.name for container in (*pods.containers, *pods.init_containers)}
    for position, rule in enumerate(rules):
        rule_path = path.child("rules").index(position)
        yield from _validate_action(rule, spec, rule_path.child("action"))
        yield from _validate_failure_rule(rule, names, rule_path)


def validate_success_policy(spec: JobSpec, path: Path) -> FieldErrors:
    rules = spec.success_policy.rules if spec.success_policy else []
    if not rules:
        rule = "at least one rules must be specified when the successPolicy is specified"
        yield required(path.child("rules"), rule)
    if len(rules) > MAX_RULES:
        yield too_many(path.child("rules"), len(rules), MAX_RULES)
    for position, success_rule in enumerate(rules):
        rule_path = path.child("rules").index(position)
        yield from _validate_success_rule(success_rule, spec.completions or 0, rule_path)


def _validate_action(rule: PodFailurePolicyRule, spec: JobSpec, path: Path) -> FieldErrors:
    if not rule.action:
        yield required(path, _valid_values(_ACTIONS))
    elif rule.action == "FailIndex":
        if spec.backoff_limit_per_index is None:
            yield invalid(path, rule.action, "requires the backoffLimitPerIndex to be set")
    elif rule.action not in _ACTIONS:
        yield not_supported(path, rule.action, _ACTIONS)


def _validate_failure_rule(rule: PodFailurePolicyRule, names: set[str], path: Path) -> FieldErrors:
    if rule.on_exit_codes is not None:
        yield from _validate_exit_codes(rule.on_exit_codes, names, path.child("onExitCodes"))
    patterns, patterns_path = rule.on_pod_conditions, path.child("onPodConditions")
    if len(patterns) > MAX_CONDITION_PATTERNS:
        yield too_many(patterns_path, len(patterns), MAX_CONDITION_PATTERNS)
    for position, pattern in enumerate(patterns):
        yield from _validate_condition_pattern(pattern, patterns_path.index(position))
    if rule.on_exit_codes is not None and patterns:
        message = "specifying both OnExitCodes and OnPodConditions is not supported"
        yield invalid(path, OMITTED, message)
    if rule.on_exit_codes is None and not patterns:
        message = "specifying one of OnExitCodes and OnPodConditions is required"
        yield invalid(path, OMITTED, message)


def _validate_exit_codes(
    requirement: PodFailurePolicyOnExitCodesRequirement, names: set[str], path: Path
) -> FieldErrors:
    operator = requirement.operator
    if not operator:
        yield required(path.child("operator"), _valid_values(_OPERATORS))
    elif operator not in _OPERATORS:
        yield not_supported(path.child("operator"), operator, _OPERATORS)
    container = requirement.container_name
    if container is not None and container not in names:
        rule = "must be one of the container or initContainer names in the pod template"
        yield invalid(path.child("containerName"), container, rule)
    yield from _validate_values(requirement, path.child("values"))


def _validate_values(
    requirement: PodFailurePolicyOnExitCodesRequirement, path: Path
) -> FieldErrors:
    values = requirement.values
    if not values:
        shown = list_form(requirement, "values")
        yield invalid(path, shown, "at least one value is required")
    elif len(values) > MAX_EXIT_CODES:
        yield too_many(path, len(values), MAX_EXIT_CODES)
    seen: set[int] = set()
    for position, value in enumerate(values):
        if requirement.operator == "In" and value == 0:
            yield invalid(path.index(position), value, "must not be 0 for the In operator")
        if value in seen:
            yield duplicate(path.index(position), value)
        seen.add(value)
    if values != sorted(values):
        yield invalid(path, values, "must be ordered")


def _validate_condition_pattern(
    pattern: PodFailurePolicyOnPodConditionsPattern, path: Path
) -> FieldErrors:
    for error in is_qualified_name(pattern.type):
        yield invalid(path.child("type"), pattern.type, error)
    if not pattern.status:
        yield required(path.child("status"), _valid_values(_STATUSES))
    elif pattern.status not in _STATUSES:
        yield not_supported(path.child("status"), pattern.status, _STATUSES)


def _validate_success_rule(rule: SuccessPolicyRule, completions: int, path: Path) -> FieldErrors:
    if rule.succeeded_count is None and rule.succeeded_indexes is None:
        message = "at least one of succeededCount or succeededIndexes must be specified"
        yield required(path, message)
    total = 0
    if rule.succeeded_indexes is not None:
        indexes, indexes_path = rule.succeeded_indexes, path.child("succeededIndexes")
        if byte_length(indexes) > MAX_INDEXES_LENGTH:
            yield too_long(indexes_path, MAX_INDEXES_LENGTH)
        try:
            total = count_indexes(indexes, completions)
        except InvalidIndexes as error:
            yield invalid(indexes_path, indexes, f"error parsing succeededIndexes: {error}")
    if rule.succeeded_count is not None:
        limits = [(completions, "specified completions")]
        if rule.succeeded_indexes is not None:
            limits.append((total, "indexes in the specified succeededIndexes field"))
        yield from _validate_succeeded_count(
            rule.succeeded_count, limits, path.child("succeededCount")
        )


def _validate_succeeded_count(count: int, limits: list[tuple[int, str]], path: Path) -> FieldErrors:
    yield from validate_nonnegative(count, path)
    for limit, meaning in limits:
        if count > limit:
            rule = f"must be less than or equal to {limit} (the number of {meaning})"
            yield invalid(path, count, rule)


def _valid_values(values: tuple[str, ...]) -> str:
    return f"valid values: [{' '.join(map(quote, values))}]"
