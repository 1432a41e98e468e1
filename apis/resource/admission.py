"""Admission of resource.k8s.io: access for administration only in namespaces labelled for it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from apimachinery.errors import Invalid
from apimachinery.fieldpath import FieldErrors, Path, forbidden
from apimachinery.meta.types import Object
from apimachinery.schema import GroupKind, GroupResource
from apis.resource import GROUP
from apis.resource.status_admission import StatusPermissions
from apis.resource.v1 import DeviceClaim, ResourceClaim, ResourceClaimTemplate
from apiserver import Attributes, Group, ServerParts

ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"

_NAMESPACES: Final = GroupResource("", "namespaces")
_RULE: Final = (
    f"admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace"
)


def with_permissions(group: Group, parts: ServerParts) -> Group:
    """Return the group with the checks, which read namespaces and ask the authorizer."""
    checks = (AdminAccess(parts), StatusPermissions(parts.authorizer))
    return replace(group, validating=(*group.validating, *checks))


class AdminAccess:
    """Rejects requests for access that their namespace does not allow."""

    def __init__(self, parts: ServerParts) -> None:
        self._find_store = parts.find_store

    async def __call__(self, attributes: Attributes) -> None:
        new, old = attributes.object, attributes.old_object
        if new is None:
            return
        granted = {str(path) for path in _admin_requests(old)} if old is not None else set()
        asked = [path for path in _admin_requests(new) if str(path) not in granted]
        if not asked:
            return
        namespace = await self._find_store(_NAMESPACES).read(new.metadata.namespace)
        if namespace.metadata.labels.get(ADMIN_LABEL) != "true":
            kind = GroupKind(GROUP, type(new).__kind__)
            raise Invalid.of(kind, new.metadata.name, list(_errors(asked[0])))


def _errors(path: Path) -> FieldErrors:
    yield forbidden(path, _RULE)


def _admin_requests(obj: Object) -> Iterator[Path]:
    """Yield the paths of requests and results with access for administration."""
    if isinstance(obj, ResourceClaimTemplate):
        # The path is that of a claim, in a template as well: as in Kubernetes.
        yield from _requests(obj.spec.spec.devices)
    elif isinstance(obj, ResourceClaim):
        yield from _requests(obj.spec.devices)
        results = obj.status.allocation.devices.results if obj.status.allocation else ()
        path = Path("status", "allocation", "devices", "results")
        for position, result in enumerate(results):
            if result.admin_access:
                yield path.index(position).child("adminAccess")


def _requests(claim: DeviceClaim) -> Iterator[Path]:
    path = Path("spec", "devices", "requests")
    for position, request in enumerate(claim.requests or ()):
        if request.exactly is not None and request.exactly.admin_access:
            yield path.index(position).child("adminAccess")
