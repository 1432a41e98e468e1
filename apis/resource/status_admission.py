"""Who may change which part of the status of a resource claim.

Two subresources of `resourceclaims` exist for authorization only: `binding` allows to allocate and
reserve claims, and `driver`, with the name of a driver, to report the state of its devices. The
verbs on `driver` say whether the user is on the node of the claim.
"""

from collections.abc import Iterator
from typing import Final

from apimachinery.errors import Invalid
from apimachinery.fieldpath import FieldError, Path, forbidden
from apimachinery.schema import GroupKind
from apis.resource import GROUP
from apis.resource.v1 import ResourceClaim
from apis.resource.v1.allocation import AllocatedDeviceStatus
from apiserver import Attributes, Authorizer, RequestInfo
from apiserver.auth.authorization import forbidden as refusal
from apiserver.auth.user import User, parse_service_account_username

ASSOCIATED_NODE: Final = "associated-node:"
ARBITRARY_NODE: Final = "arbitrary-node:"
NODE_NAME: Final = "authentication.kubernetes.io/node-name"
"""The extra key of the node that the pod of a service account runs on."""


class StatusPermissions:
    """Rejects changes of the status that the user has no permission for."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def __call__(self, attributes: Attributes) -> None:
        new, old = attributes.object, attributes.old_object
        if attributes.subresource != "status":
            return
        if not isinstance(new, ResourceClaim) or not isinstance(old, ResourceClaim):
            return
        errors = [
            *await self._binding_errors(attributes, new, old),
            *await self._driver_errors(attributes, new, old),
        ]
        if errors:
            kind = GroupKind(GROUP, type(new).__kind__)
            raise Invalid.of(kind, new.metadata.name, errors)

    async def _binding_errors(
        self, attributes: Attributes, new: ResourceClaim, old: ResourceClaim
    ) -> list[FieldError]:
        after, before = new.status, old.status
        if after.allocation == before.allocation and after.reserved_for == before.reserved_for:
            return []
        verb = attributes.context.verb
        wanted = _permission(attributes, verb, "binding")
        problem = await self._refused(attributes.user, [wanted])
        message = (
            "changing status.allocation or status.reservedFor requires"
            f' resource="resourceclaims/binding", verb="{verb}" permission: {problem}'
        )
        return [forbidden(Path("status", "allocation"), message)] if problem else []

    async def _driver_errors(
        self, attributes: Attributes, new: ResourceClaim, old: ResourceClaim
    ) -> list[FieldError]:
        if new.status.allocation is None:
            return []
        user, verb = attributes.user, attributes.context.verb
        prefixes = [ASSOCIATED_NODE] if _is_on_node(user, _allocated_node(new)) else []
        verbs = [prefix + verb for prefix in (*prefixes, ARBITRARY_NODE)]
        errors = []
        for driver in sorted(_changed_drivers(new, old)):
            wanted = [
                _permission(attributes, each, "driver", new.metadata.namespace, driver)
                for each in verbs
            ]
            if problem := await self._refused(user, wanted):
                message = (
                    'changing status.devices requires resource="resourceclaims/driver",'
                    f' verb="[{" ".join(verbs)}]" permission: {problem}'
                )
                errors.append(forbidden(Path("status", "devices"), message))
        return errors

    async def _refused(self, user: User, alternatives: list[RequestInfo]) -> str:
        """Return why the first permission is missing; empty if the user has one of them."""
        decisions = []
        for wanted in alternatives:
            decision = await self._authorizer.authorize(user, wanted)
            if decision.allowed:
                return ""
            decisions.append(decision)
        return str(refusal(user, alternatives[0], decisions[0].reason))


def _permission(
    attributes: Attributes, verb: str, subresource: str, namespace: str = "", name: str = ""
) -> RequestInfo:
    resource = attributes.context.resource
    return RequestInfo(
        path="",
        verb=verb,
        is_resource=True,
        group=resource.group,
        version=resource.version,
        resource=resource.resource,
        subresource=subresource,
        namespace=namespace,
        name=name,
    )


def _changed_drivers(new: ResourceClaim, old: ResourceClaim) -> set[str]:
    """Return the drivers of devices whose state was added, changed or removed."""
    after, before = dict(_states(new)), dict(_states(old))
    return {key[0] for key in after.keys() | before.keys() if after.get(key) != before.get(key)}


def _states(claim: ResourceClaim) -> Iterator[tuple[tuple[str, ...], AllocatedDeviceStatus]]:
    for state in claim.status.devices:
        yield (state.driver, state.pool, state.device, state.share_id or ""), state


def _allocated_node(claim: ResourceClaim) -> str:
    """Return the only node that an allocation can be used on; empty if there are more."""
    allocation = claim.status.allocation
    selector = allocation.node_selector if allocation is not None else None
    terms = selector.node_selector_terms if selector is not None else []
    if len(terms) != 1 or terms[0].match_expressions or len(terms[0].match_fields) != 1:
        return ""
    (field,) = terms[0].match_fields
    is_name = field.key == "metadata.name" and field.operator == "In" and len(field.values) == 1
    return field.values[0] if is_name else ""


def _is_on_node(user: User, node: str) -> bool:
    if not node or parse_service_account_username(user.name) is None:
        return False
    return tuple(user.extra.get(NODE_NAME, ())) == (node,)
