"""ValidatingAdmissionPolicy and its binding: CEL expressions that requests must satisfy."""

from typing import Final

from apimachinery.meta.types import Condition, Object
from apimachinery.model.model import Model, field
from apis.admissionregistration.v1.policy_parameters import ParamKind, ParamRef, Variable
from apis.admissionregistration.v1.rules import MatchCondition, MatchResources

DENY: Final = "Deny"
WARN: Final = "Warn"
AUDIT: Final = "Audit"


class Validation(Model):
    """A CEL expression that must be true for a request to be admitted."""

    expression: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "CEL expression with a boolean result over `object`, `oldObject`, `request`,"
            " `namespaceObject`, `params`, `variables` and `authorizer`. Required."
        ),
    )
    message: str = field(
        "",
        proto=2,
        doc="Message of the failure; without it the expression is shown. No line breaks.",
    )
    reason: str | None = field(
        None,
        proto=3,
        doc=(
            "Machine-readable reason of the failure: Forbidden, Invalid (the default) or"
            " RequestEntityTooLarge."
        ),
    )
    message_expression: str = field(
        "",
        proto=4,
        doc=(
            "CEL expression for the message, over the same variables except `authorizer`."
            " Preferred to `message`, which is used if it fails or is empty."
        ),
    )


class AuditAnnotation(Model):
    """An annotation that the policy adds to the audit event of a request."""

    key: str = field(
        "",
        proto=1,
        omit_empty=False,
        doc=(
            "Key of the annotation, after the name of the policy and a slash; unique in the"
            " policy. Required."
        ),
    )
    value_expression: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc=(
            "CEL expression for the value, a string, or null for no annotation; at most 5 kB."
            " Required."
        ),
    )


class ValidatingAdmissionPolicySpec(Model):
    """Desired behaviour of a ValidatingAdmissionPolicy."""

    param_kind: ParamKind | None = field(
        None,
        proto=1,
        doc="Kind of the objects that parameterize the policy; without it there is no `params`.",
    )
    match_constraints: MatchResources | None = field(
        None, proto=2, doc="Requests that the policy is meant for. Required."
    )
    validations: list[Validation] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc=(
            "Expressions that must be true for a request to be admitted. Validations or audit"
            " annotations are required."
        ),
    )
    failure_policy: str | None = field(
        None,
        proto=4,
        known=("Fail", "Ignore"),
        publish_enum=True,
        doc=(
            "What happens if an expression fails to evaluate or the policy is misconfigured:"
            " Fail rejects the request, Ignore goes on. Defaults to Fail."
        ),
    )
    audit_annotations: list[AuditAnnotation] = field(
        default_factory=list,
        proto=5,
        list_type="atomic",
        doc="Annotations for the audit event, at most 20.",
    )
    match_conditions: list[MatchCondition] = field(
        default_factory=list,
        proto=6,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="CEL expressions that must all be true for the policy to be evaluated, at most 64.",
    )
    variables: list[Variable] = field(
        default_factory=list,
        proto=7,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc=(
            "Named expressions that the others can use as `variables.<name>`; each can use"
            " those before it."
        ),
    )


class ExpressionWarning(Model):
    """A problem that type checking found in an expression."""

    field_ref: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc="Path of the expression, such as `spec.validations[0].expression`. Required.",
    )
    warning: str = field(
        "", proto=3, omit_empty=False, doc="Result of type checking, as readable text. Required."
    )


class TypeChecking(Model):
    """Result of checking the types of a policy's expressions."""

    expression_warnings: list[ExpressionWarning] = field(
        default_factory=list, proto=1, list_type="atomic", doc="Problems of the expressions."
    )


class ValidatingAdmissionPolicyStatus(Model):
    """Observed state of a ValidatingAdmissionPolicy."""

    observed_generation: int = field(
        0, proto=1, doc="Generation that the controller has processed."
    )
    type_checking: TypeChecking | None = field(
        None, proto=2, doc="Result of type checking; set when it is complete."
    )
    conditions: list[Condition] = field(
        default_factory=list, proto=3, list_map_keys=("type",), doc="Conditions of the policy."
    )


class ValidatingAdmissionPolicy(Object):
    """ValidatingAdmissionPolicy describes CEL expressions that accept or reject requests without
    changing objects. It takes effect through a binding.
    """

    spec: ValidatingAdmissionPolicySpec = field(
        default_factory=ValidatingAdmissionPolicySpec,
        proto=2,
        doc="Desired behaviour of the policy.",
    )
    status: ValidatingAdmissionPolicyStatus = field(
        default_factory=ValidatingAdmissionPolicyStatus,
        proto=3,
        doc="Observed state; type checking of the expressions and conditions.",
    )


class ValidatingAdmissionPolicyBindingSpec(Model):
    """Which policy is bound, with which parameters, for which requests."""

    policy_name: str = field(
        "", proto=1, required=True, doc="Name of the ValidatingAdmissionPolicy. Required."
    )
    param_ref: ParamRef | None = field(None, proto=2, doc="Parameter objects of the policy.")
    match_resources: MatchResources | None = field(
        None,
        proto=3,
        doc=(
            "Requests for which the policy is evaluated, out of those of its own constraints;"
            " without it, all of them."
        ),
    )
    validation_actions: list[str] = field(
        default_factory=list,
        proto=4,
        list_type="set",
        known=("Audit", "Deny", "Warn"),
        publish_enum=True,
        required=True,
        doc=(
            "What happens if a validation fails: Deny, Warn, Audit; not both Deny and Warn."
            " Required."
        ),
    )


class ValidatingAdmissionPolicyBinding(Object):
    """ValidatingAdmissionPolicyBinding puts a ValidatingAdmissionPolicy into effect, with
    parameters.
    """

    spec: ValidatingAdmissionPolicyBindingSpec = field(
        default_factory=ValidatingAdmissionPolicyBindingSpec,
        proto=2,
        required=True,
        doc="Desired behaviour of the binding.",
    )
