"""Policy type checking: keeps what is wrong with the types of expressions in a policy's status.

The types are those of the resources that the rules of a policy name. A policy is checked once for
each generation.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from apimachinery.errors import Conflict, NotFound
from apimachinery.schema import (
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
    InvalidGroupVersion,
)
from apis.admissionregistration import GROUP
from apis.admissionregistration.type_checking import Schema, TypeChecker
from apis.admissionregistration.v1 import ValidatingAdmissionPolicy
from apis.admissionregistration.v1.rules import NamedRuleWithOperations
from apis.admissionregistration.v1.validating_policy import ExpressionWarning, TypeChecking
from client.client import AsyncClient
from client.controller.context import Context
from client.controller.manager import Manager
from client.controller.metadata_source import MetadataSource
from client.controller.reconciler import Result
from client.workqueue.rate_limiters import ExponentialFailure

MOST_KINDS: Final = 10
"""Kinds of objects that a policy is checked with."""
MANAGER: Final = "validatingadmissionpolicy-status-controller"
RETRY_DELAYS: Final = (0.1, 10.0)
"""Seconds before the first and between the last attempts at a policy, doubling in between."""

Found = tuple[Schema, Mapping[str, Schema]]
"""A schema, and those that it refers to."""


class Schemas(Protocol):
    """The schemas of the resources of a server."""

    def kinds(self, resource: GroupVersionResource) -> Sequence[GroupVersionKind]:
        """Return the kinds of a resource, none if it is not served."""

    def find(self, kind: GroupVersionKind) -> Found | None:
        """Return the schema of a kind; None if it is not served."""


class PolicyTypeCheckingController:
    """Reconciles the status of ValidatingAdmissionPolicies."""

    def __init__(self, client: AsyncClient, schemas: Schemas) -> None:
        self._schemas = schemas
        self._policies = client.of(
            ValidatingAdmissionPolicy,
            resource="validatingadmissionpolicies",
            namespaced=False,
            api_version=f"{GROUP}/v1",
        )

    def add_to(self, manager: Manager) -> None:
        manager.controller(
            ValidatingAdmissionPolicy,
            name="policy-type-checking",
            source=MetadataSource(self._policies, name="policies"),
            workers=1,
            rate_limiter=ExponentialFailure(*RETRY_DELAYS),
        )(self._reconcile)

    async def sync(self, name: str) -> bool:
        """Check a policy that has changed; return False to be called again."""
        try:
            policy = await self._policies.get(name)
        except NotFound:
            return True
        status, generation = policy.status, policy.metadata.generation
        if generation <= status.observed_generation:
            return True
        # An expression takes a millisecond or more for each kind.
        warnings = await asyncio.to_thread(self._check, policy)
        status.observed_generation = generation
        status.type_checking = TypeChecking(expression_warnings=list(warnings))
        try:
            await self._policies.status.update(policy, field_manager=MANAGER)
        except NotFound:
            return True
        except Conflict:
            return False
        return True

    async def _reconcile(self, ctx: Context[ValidatingAdmissionPolicy]) -> Result | None:
        return None if await self.sync(ctx.name) else Result(requeue=True)

    def _check(self, policy: ValidatingAdmissionPolicy) -> Sequence[ExpressionWarning]:
        kinds = [(kind, self._schemas.find(kind)) for kind in self._kinds(policy)]
        known = [(kind, *schema) for kind, schema in kinds if schema is not None]
        return TypeChecker(policy).check(known, self._params(policy))

    def _kinds(self, policy: ValidatingAdmissionPolicy) -> Sequence[GroupVersionKind]:
        constraints = policy.spec.match_constraints
        kinds: set[GroupVersionKind] = set()
        for rule in constraints.resource_rules if constraints else ():
            for resource in _resources(rule):
                if len(kinds) < MOST_KINDS:
                    kinds.update(self._schemas.kinds(resource))
        return sorted(kinds, key=lambda kind: (kind.group, kind.version, kind.kind))

    def _params(self, policy: ValidatingAdmissionPolicy) -> Found | None:
        kind = policy.spec.param_kind
        if kind is None:
            return None
        try:
            version = GroupVersion.parse(kind.api_version)
        except InvalidGroupVersion:
            return None
        return self._schemas.find(version.with_kind(kind.kind))


def _resources(rule: NamedRuleWithOperations) -> Sequence[GroupVersionResource]:
    """Return the resources that a rule names, without wildcards and subresources."""
    if "*" in rule.api_groups or "*" in rule.api_versions:
        return ()
    names = [name for name in rule.resources if "*" not in name and "/" not in name]
    return [
        GroupVersionResource(group, version, name)
        for group in sorted(rule.api_groups)
        for version in sorted(rule.api_versions)
        for name in sorted(names)
    ]
