"""Admission of admissionregistration.k8s.io: who may let policies read parameters.

A policy shows its authors what its parameters contain, so that they must be allowed to read them.
"""

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from apimachinery.errors import Invalid, NotFound
from apimachinery.fieldpath import Path, forbidden
from apimachinery.meta.types import Object
from apimachinery.schema import GroupKind, GroupResource, GroupVersion, InvalidGroupVersion
from apis.admissionregistration import GROUP
from apis.admissionregistration.v1 import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from apis.admissionregistration.v1.policy_parameters import ParamKind
from apiserver import Attributes, Group, RequestInfo, ServerParts
from apiserver.auth.user import MASTERS, User

Policy: TypeAlias = ValidatingAdmissionPolicy | MutatingAdmissionPolicy
Binding: TypeAlias = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding

_ANY: Final = "*"
_NEEDED: Final = "to determine minimum required permissions"
_EVERYTHING: Final = "permission for all groups, versions and resources"


def with_parameter_permissions(group: Group, parts: ServerParts) -> Group:
    """Return the group for a server whose authorizer decides who may read parameters."""
    return replace(group, validating=(*group.validating, ParameterPermissions(parts)))


@dataclass(frozen=True, slots=True)
class _Parameters:
    """Which resource the parameters of a policy are; *problem* is why that is not known."""

    group: str = _ANY
    version: str = _ANY
    resource: str = _ANY
    problem: str = ""


class ParameterPermissions:
    """Rejects policies and bindings whose parameters the user may not read."""

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts

    async def __call__(self, attributes: Attributes) -> None:
        new, old, user = attributes.object, attributes.old_object, attributes.user
        if attributes.subresource or MASTERS in user.groups:
            return
        field, problem = "", ""
        if isinstance(new, Policy):
            field, problem = "paramKind", await self._policy_problem(user, new, old)
        elif isinstance(new, Binding):
            field, problem = "paramRef", await self._binding_problem(user, new)
        if problem and new is not None:
            kind = GroupKind(GROUP, type(new).__kind__)
            error = forbidden(Path("spec", field), problem)
            raise Invalid.of(kind, new.metadata.name, [error])

    async def _policy_problem(self, user: User, new: Policy, old: Object | None) -> str:
        wanted = new.spec.param_kind
        if wanted is None or (isinstance(old, Policy) and old.spec.param_kind == wanted):
            return ""
        if await self._may(user, "get", self._parameters(wanted), name=_ANY, namespace=_ANY):
            return ""
        return (
            f'user {_described(user)} must have "get" permission on all objects of the referenced'
            f" paramKind (kind={wanted.kind}, apiVersion={wanted.api_version})"
        )

    async def _binding_problem(self, user: User, binding: Binding) -> str:
        # Also without a change: Kubernetes compares pointers, which are never equal.
        ref = binding.spec.param_ref
        if ref is None:
            return ""
        verb = "get" if ref.name else "list"
        parameters = await self._parameters_of(binding)
        if await self._may(user, verb, parameters, name=ref.name, namespace=ref.namespace):
            return ""
        who = _described(user)
        if parameters.problem:
            reason = f'user {who} does not have "{verb}" {_EVERYTHING}'
            return f"{parameters.problem} {_NEEDED} and {reason}"
        if isinstance(binding, MutatingAdmissionPolicyBinding):
            who, verb = verb, who  # as in Kubernetes
        return f'user {who} does not have "{verb}" permission on the object referenced by paramRef'

    async def _parameters_of(self, binding: Binding) -> _Parameters:
        """Return the parameters of the policy that a binding names."""
        validating = isinstance(binding, ValidatingAdmissionPolicyBinding)
        resource = f"{'validating' if validating else 'mutating'}admissionpolicies"
        name = binding.spec.policy_name
        try:
            policy = await self._parts.find_store(GroupResource(GROUP, resource)).read(name)
        except NotFound:
            return _Parameters(problem=f"unable to get policy {name}")
        kind = policy.spec.param_kind
        return _Parameters() if kind is None else self._parameters(kind)

    def _parameters(self, kind: ParamKind) -> _Parameters:
        described = f"paramKind &{{{kind.api_version} {kind.kind}}}"
        try:
            version = GroupVersion.parse(kind.api_version)
        except InvalidGroupVersion:
            return _Parameters(problem=f"unable to parse {described}")
        resource = self._parts.find_resource(version.with_kind(kind.kind))
        if not resource:
            problem = f"unable to resolve {described}"
            return _Parameters(version.group, version.version, problem=problem)
        return _Parameters(version.group, version.version, resource)

    async def _may(
        self, user: User, verb: str, parameters: _Parameters, *, name: str, namespace: str
    ) -> bool:
        wanted = RequestInfo(
            path="",
            verb=verb,
            is_resource=True,
            group=parameters.group,
            version=parameters.version,
            resource=parameters.resource,
            name=name,
            namespace=namespace,
        )
        return (await self._parts.authorizer.authorize(user, wanted)).allowed


def _described(user: User) -> str:
    """Return a user as Go prints it."""
    extra = " ".join(f"{key}:[{' '.join(user.extra[key])}]" for key in sorted(user.extra))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"
