"""MutatingAdmissionPolicy and its binding: CEL expressions that change objects."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apis.admissionregistration.v1.policy_parameters import ParamKind, ParamRef, Variable
from apis.admissionregistration.v1.rules import MatchCondition, MatchResources

APPLY_CONFIGURATION: Final = "ApplyConfiguration"
JSON_PATCH: Final = "JSONPatch"


class ApplyConfiguration(Model):
    """A change as an apply configuration, merged like a server-side apply."""

    expression: str = field(
        "",
        proto=1,
        doc=(
            "CEL expression for the configuration, of type Object: `Object{spec:"
            " Object.spec{replicas: 1}}`. Required."
        ),
    )


class JSONPatch(Model):
    """A change as a JSON patch."""

    expression: str = field(
        "",
        proto=1,
        doc=(
            "CEL expression for a list of JSONPatch values: `[JSONPatch{op: 'add', path:"
            " '/spec/replicas', value: 1}]`. Required."
        ),
    )


class Mutation(Model):
    """One change of an object."""

    patch_type: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("ApplyConfiguration", "JSONPatch"),
        publish_enum=True,
        doc="Type of the change, ApplyConfiguration or JSONPatch. Required.",
    )
    apply_configuration: ApplyConfiguration | None = field(
        None, proto=3, doc="The change, if the type is ApplyConfiguration."
    )
    json_patch: JSONPatch | None = field(None, proto=4, doc="The change, if the type is JSONPatch.")


class MutatingAdmissionPolicySpec(Model):
    """Desired behaviour of a MutatingAdmissionPolicy."""

    param_kind: ParamKind | None = field(
        None,
        proto=1,
        doc="Kind of the objects that parameterize the policy; without it there is no `params`.",
    )
    match_constraints: MatchResources | None = field(
        None,
        proto=2,
        doc="Requests that the policy is meant for; DELETE cannot be among them. Required.",
    )
    variables: list[Variable] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc=(
            "Named expressions that the others can use as `variables.<name>`; each can use"
            " those before it."
        ),
    )
    mutations: list[Mutation] = field(
        default_factory=list,
        proto=4,
        list_type="atomic",
        doc="Changes to the object, carried out in order. Required.",
    )
    failure_policy: str | None = field(
        None,
        proto=5,
        known=("Fail", "Ignore"),
        publish_enum=True,
        doc=(
            "What happens if an expression fails to evaluate or the policy is misconfigured:"
            " Fail rejects the request, Ignore goes on. Defaults to Fail."
        ),
    )
    match_conditions: list[MatchCondition] = field(
        default_factory=list,
        proto=6,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="CEL expressions that must all be true for the policy to be evaluated, at most 64.",
    )
    reinvocation_policy: str = field(
        "",
        proto=7,
        known=("IfNeeded", "Never"),
        publish_enum=True,
        doc=(
            "Whether the policy is evaluated again if a later one changes the object: Never or"
            " IfNeeded. Required."
        ),
    )


class MutatingAdmissionPolicy(Object):
    """MutatingAdmissionPolicy describes CEL expressions that change objects before they are
    written. It takes effect through a binding.
    """

    spec: MutatingAdmissionPolicySpec = field(
        default_factory=MutatingAdmissionPolicySpec, proto=2, doc="Desired behaviour of the policy."
    )


class MutatingAdmissionPolicyBindingSpec(Model):
    """Which policy is bound, with which parameters, for which requests."""

    policy_name: str = field("", proto=1, doc="Name of the MutatingAdmissionPolicy. Required.")
    param_ref: ParamRef | None = field(None, proto=2, doc="Parameter objects of the policy.")
    match_resources: MatchResources | None = field(
        None,
        proto=3,
        doc=(
            "Requests for which the policy is evaluated, out of those of its own constraints;"
            " without it, all of them."
        ),
    )


class MutatingAdmissionPolicyBinding(Object):
    """MutatingAdmissionPolicyBinding puts a policy into effect, with its parameters."""

    spec: MutatingAdmissionPolicyBindingSpec = field(
        default_factory=MutatingAdmissionPolicyBindingSpec,
        proto=2,
        doc="Desired behaviour of the binding.",
    )
