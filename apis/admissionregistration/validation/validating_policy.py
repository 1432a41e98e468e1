"""Validation of ValidatingAdmissionPolicies and their bindings."""

from collections.abc import Iterable, Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.metadata_validation import validate_conditions
from apimachinery.names import is_qualified_name
from apimachinery.structural.jsonpath import InvalidJSONPath, parse_path
from apis.admissionregistration.v1 import (
    AuditAnnotation,
    ExpressionWarning,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicySpec,
    ValidatingAdmissionPolicyStatus,
    Validation,
)
from apis.admissionregistration.v1.validating_policy import AUDIT, DENY, WARN
from apis.admissionregistration.validation.expressions import (
    Expressions,
    missing_cel,
    too_many_expressions,
)
from apis.admissionregistration.validation.policy import (
    validate_failure_policy,
    validate_param_kind,
    validate_param_ref,
    validate_policy_name,
    validate_variables,
)
from apis.admissionregistration.validation.rules import (
    validate_match_conditions,
    validate_match_resources,
)

MAX_AUDIT_ANNOTATIONS: Final = 20
MAX_VALUE_EXPRESSION: Final = 5 * 1024

_SPEC: Final = Path("spec")
_ACTIONS: Final = (AUDIT, DENY, WARN)
_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_NOTHING_TO_DO: Final = "validations or auditAnnotations must contain at least one item"


def expression_count(spec: ValidatingAdmissionPolicySpec) -> int:
    parts: Iterable[Sequence[object]] = (
        *(spec.match_conditions, spec.variables, spec.validations, spec.validations),
        spec.audit_annotations,
    )
    return sum(map(len, parts))


def validate_validating_policy(
    policy: ValidatingAdmissionPolicy, current: ValidatingAdmissionPolicy | None = None
) -> FieldErrors:
    """Validate a new policy, or one that replaces *current*."""
    spec = policy.spec
    count = expression_count(spec)
    problems = list(too_many_expressions(count, _SPEC))
    problems += missing_cel(_SPEC) if count else ()
    yield from problems
    if problems:
        return
    yield from validate_failure_policy(spec.failure_policy, _SPEC.child("failurePolicy"))
    if spec.param_kind is not None:
        yield from validate_param_kind(spec.param_kind, _SPEC.child("paramKind"))
    yield from _validate_constraints(spec, _SPEC.child("matchConstraints"))
    has_params = spec.param_kind is not None
    if current is None or _changes_conditions(spec, current.spec):
        yield from validate_match_conditions(
            spec.match_conditions,
            _SPEC.child("matchConditions"),
            Expressions(has_params=has_params),
        )
    expressions = Expressions(has_params=has_params, has_variables=bool(spec.variables))
    yield from validate_variables(spec.variables, expressions, _SPEC.child("variables"))
    if not spec.validations and not spec.audit_annotations:
        yield required(_SPEC.child("validations"), _NOTHING_TO_DO)
        yield required(_SPEC.child("auditAnnotations"), _NOTHING_TO_DO)
        return
    for position, validation in enumerate(spec.validations):
        here = _SPEC.child("validations").index(position)
        yield from _validate_validation(validation, expressions, here)
    yield from _validate_annotations(policy, expressions, _SPEC.child("auditAnnotations"))


def validate_validating_policy_status(status: ValidatingAdmissionPolicyStatus) -> FieldErrors:
    path = Path("status")
    warnings = status.type_checking.expression_warnings if status.type_checking else ()
    for position, warning in enumerate(warnings):
        here = path.child("typeChecking", "expressionWarnings").index(position)
        yield from _validate_warning(warning, here)
    yield from validate_conditions(status.conditions, path.child("conditions"))


def validate_validating_binding(binding: ValidatingAdmissionPolicyBinding) -> FieldErrors:
    spec = binding.spec
    yield from validate_policy_name(spec.policy_name, _SPEC.child("policyName"))
    yield from validate_param_ref(spec.param_ref, _SPEC.child("paramRef"))
    yield from validate_match_resources(spec.match_resources, _SPEC.child("matchResources"))
    yield from _validate_actions(spec.validation_actions, _SPEC.child("validationActions"))


def _changes_conditions(
    new: ValidatingAdmissionPolicySpec, old: ValidatingAdmissionPolicySpec
) -> bool:
    return (new.param_kind, new.match_conditions) != (old.param_kind, old.match_conditions)


def _validate_constraints(spec: ValidatingAdmissionPolicySpec, path: Path) -> FieldErrors:
    constraints = spec.match_constraints
    if constraints is None:
        yield required(path)
        return
    yield from validate_match_resources(constraints, path)
    if not constraints.resource_rules:
        yield required(path.child("resourceRules"))


def _validate_validation(
    validation: Validation, expressions: Expressions, path: Path
) -> FieldErrors:
    here = path.child("expression")
    if not validation.expression.strip():
        yield required(here, "expression is not specified")
    else:
        yield from expressions.check(validation.expression, here, ("bool",))
    text, here = validation.message_expression, path.child("messageExpression")
    if text and not text.strip():
        yield invalid(here, text, "must be non-empty if specified")
    elif text:
        yield from expressions.check(text, here, ("string",), has_authorizer=False)
    message = validation.message
    if message and not message.strip():
        yield invalid(path.child("message"), message, "must be non-empty if specified")
    elif "\n" in message.strip() or "\r" in message.strip():
        yield invalid(path.child("message"), message, "must not contain line breaks")
    if validation.reason is not None and validation.reason not in _REASONS:
        yield not_supported(path.child("reason"), validation.reason, _REASONS)


def _validate_annotations(
    policy: ValidatingAdmissionPolicy, expressions: Expressions, path: Path
) -> FieldErrors:
    annotations = policy.spec.audit_annotations
    if len(annotations) > MAX_AUDIT_ANNOTATIONS:
        detail = f"must not have more than {MAX_AUDIT_ANNOTATIONS} auditAnnotations"
        shown = [
            {"Key": item.key, "ValueExpression": item.value_expression} for item in annotations
        ]
        yield invalid(path, shown, detail)
    keys: set[str] = set()
    for position, annotation in enumerate(annotations):
        here = path.index(position)
        yield from _validate_annotation(annotation, policy.metadata.name, expressions, here)
        if annotation.key in keys:
            yield duplicate(here.child("key"), annotation.key)
        keys.add(annotation.key)


def _validate_annotation(
    annotation: AuditAnnotation, policy: str, expressions: Expressions, path: Path
) -> FieldErrors:
    if not policy:
        detail = "requires metadata.name be non-empty"
        yield invalid(path.child("key"), annotation.key, detail)
    else:
        key = f"{policy}/{annotation.key}"
        for problem in is_qualified_name(key):
            yield invalid(path.child("key"), key, problem)
    text, here = annotation.value_expression.strip(), path.child("valueExpression")
    if not text:
        yield required(here, "valueExpression is not specified")
    elif len(text.encode()) > MAX_VALUE_EXPRESSION:
        yield required(here, f"must not exceed {MAX_VALUE_EXPRESSION} bytes in length")
    else:
        yield from expressions.check(
            text, here, ("string", "null_type"), value=annotation.value_expression
        )


def _validate_actions(actions: Sequence[str], path: Path) -> FieldErrors:
    seen: set[str] = set()
    for position, action in enumerate(actions):
        if action not in _ACTIONS:
            yield not_supported(path.index(position), action, _ACTIONS)
        if action in seen:
            yield duplicate(path.index(position), action)
        seen.add(action)
    if DENY in seen and WARN in seen:
        detail = (
            "must not contain both Deny and Warn (repeating the same validation failure"
            " information in the API response and headers serves no purpose)"
        )
        yield invalid(path, actions, detail)
    if not seen:
        yield required(path)


def _validate_warning(warning: ExpressionWarning, path: Path) -> FieldErrors:
    if not warning.warning:
        yield required(path.child("warning"))
    text, here = warning.field_ref.strip(), path.child("fieldRef")
    if not text:
        yield required(here)
        return
    try:
        parse_path(text if text.startswith((".", "[")) else f".{text}")
    except InvalidJSONPath as error:
        yield invalid(here, text, f"invalid JSONPath: {error}")
