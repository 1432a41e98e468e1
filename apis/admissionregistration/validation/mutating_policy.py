"""Validation of MutatingAdmissionPolicies and their bindings."""

from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, invalid, not_supported, required
from apis.admissionregistration.v1 import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    MutatingAdmissionPolicySpec,
    Mutation,
)
from apis.admissionregistration.v1.mutating_policy import APPLY_CONFIGURATION, JSON_PATCH
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
    validate_mutating_operations,
)
from apis.admissionregistration.validation.webhook import REINVOCATION_POLICIES

_SPEC: Final = Path("spec")
_PATCH_TYPES: Final = (APPLY_CONFIGURATION, JSON_PATCH)


def mutating_expression_count(spec: MutatingAdmissionPolicySpec) -> int:
    return len(spec.match_conditions) + len(spec.variables) + len(spec.mutations)


def validate_mutating_policy(
    policy: MutatingAdmissionPolicy, current: MutatingAdmissionPolicy | None = None
) -> FieldErrors:
    """Validate a new policy, or one that replaces *current*."""
    spec = policy.spec
    count = mutating_expression_count(spec)
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
    expressions = Expressions(has_params=has_params, has_variables=True)
    yield from validate_variables(spec.variables, expressions, _SPEC.child("variables"))
    if not spec.mutations:
        yield required(_SPEC.child("mutations"), "mutations must contain at least one item")
    for position, mutation in enumerate(spec.mutations):
        here = _SPEC.child("mutations").index(position)
        yield from _validate_mutation(mutation, expressions, here)
    yield from _validate_reinvocation(spec.reinvocation_policy, _SPEC.child("reinvocationPolicy"))


def validate_mutating_binding(binding: MutatingAdmissionPolicyBinding) -> FieldErrors:
    spec, here = binding.spec, _SPEC.child("matchResources")
    yield from validate_policy_name(spec.policy_name, _SPEC.child("policyName"))
    yield from validate_param_ref(spec.param_ref, _SPEC.child("paramRef"))
    yield from validate_match_resources(spec.match_resources, here)
    yield from validate_mutating_operations(spec.match_resources, here)


def _changes_conditions(new: MutatingAdmissionPolicySpec, old: MutatingAdmissionPolicySpec) -> bool:
    return (new.param_kind, new.match_conditions) != (old.param_kind, old.match_conditions)


def _validate_constraints(spec: MutatingAdmissionPolicySpec, path: Path) -> FieldErrors:
    constraints = spec.match_constraints
    if constraints is None:
        yield required(path)
        return
    yield from validate_match_resources(constraints, path)
    if not constraints.resource_rules:
        yield required(path.child("resourceRules"))
    yield from validate_mutating_operations(constraints, path)


def _validate_reinvocation(policy: str, path: Path) -> FieldErrors:
    if not policy:
        yield required(path)
    elif policy not in REINVOCATION_POLICIES:
        yield not_supported(path, policy, REINVOCATION_POLICIES)


def _validate_mutation(mutation: Mutation, expressions: Expressions, path: Path) -> FieldErrors:
    kind = mutation.patch_type
    if not kind:
        yield required(path.child("patchType"))
        return
    if kind not in _PATCH_TYPES:
        yield not_supported(path.child("patchType"), kind, _PATCH_TYPES)
        return
    changes = {
        APPLY_CONFIGURATION: ("applyConfiguration", mutation.apply_configuration, "Object"),
        JSON_PATCH: ("jsonPatch", mutation.json_patch, "list(JSONPatch)"),
    }
    name, change, result = changes.pop(kind)
    if change is None:
        yield required(path.child(name), f"must be specified when patchType is {kind}")
    elif not change.expression.strip():
        yield required(path.child(name, "expression"))
    else:
        here = path.child(name, "expression")
        yield from expressions.check_patch(change.expression.strip(), here, result)
    ((other, unwanted, _),) = changes.values()
    if unwanted is not None:
        detail = f"must not be specified when patchType is {kind}"
        yield invalid(path.child(other), f"{{{other}}}", detail)
