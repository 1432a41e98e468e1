"""OwnerReferencesPermissionEnforcement: who sets an owner must be allowed what that may do.

An owner deletes the object with itself, and `blockOwnerDeletion` keeps the owner from being
deleted in the foreground. So the writer needs the permission to delete the object, and to update
the finalizers of the owner.
"""

from collections.abc import Iterator
from typing import Final

from apimachinery.fieldpath import quote
from apimachinery.meta.types import Object, OwnerReference
from apimachinery.schema import GroupResource, GroupVersion, GroupVersionKind, InvalidGroupVersion
from apiserver import Attributes, Authorizer, RequestInfo, ServerParts, User

_EVERYTHING: Final = "*"
_PODS: Final = GroupResource("", "pods")


class OwnerPermissions:
    """Rejects owner references of writers without these permissions."""

    def __init__(self, parts: ServerParts) -> None:
        self._authorizer: Authorizer = parts.authorizer
        self._find_resource = parts.find_resource
        self._versions = parts.versions

    async def __call__(self, attributes: Attributes) -> None:
        new, old = attributes.object, attributes.old_object
        if new is None or _owners(new) == _owners(old):
            return
        # Kubelets send other owners with the status; its strategy keeps the stored ones.
        if attributes.resource == _PODS and attributes.subresource == "status":
            return
        if old is not None:
            await self._check_deletion(attributes)
        blocking = list(_new_blocking(new, old))
        if blocking and not await self._may_finalize_everything(attributes.user):
            for reference in blocking:
                await self._check_owner(attributes, reference)

    async def _check_deletion(self, attributes: Attributes) -> None:
        resource = attributes.context.resource
        wanted = RequestInfo(
            path="",
            verb="delete",
            is_resource=True,
            group=resource.group,
            version=resource.version,
            resource=resource.resource,
            subresource=attributes.subresource,
            namespace=attributes.namespace,
            name=attributes.name,
        )
        decision = await self._authorizer.authorize(attributes.user, wanted)
        if not decision.allowed:
            raise attributes.forbidden(
                f"cannot set an ownerRef on a resource you can't delete: {decision.reason}, <nil>"
            )

    async def _may_finalize_everything(self, user: User) -> bool:
        wanted = RequestInfo(
            path="",
            verb="update",
            is_resource=True,
            group=_EVERYTHING,
            version=_EVERYTHING,
            resource=_EVERYTHING,
            subresource="finalizers",
            name=_EVERYTHING,
        )
        return (await self._authorizer.authorize(user, wanted)).allowed

    async def _check_owner(self, attributes: Attributes, reference: OwnerReference) -> None:
        kind, resource = self._resource_of(attributes, reference)
        namespaced = self._versions.is_namespaced(kind.group_version.with_resource(resource))
        wanted = RequestInfo(
            path="",
            verb="update",
            is_resource=True,
            group=kind.group,
            version=kind.version,
            resource=resource,
            subresource="finalizers",
            namespace=attributes.namespace if namespaced else "",
            name=reference.name,
        )
        decision = await self._authorizer.authorize(attributes.user, wanted)
        if not decision.allowed:
            raise attributes.forbidden(
                "cannot set blockOwnerDeletion if an ownerReference refers to a resource you"
                f" can't set finalizers on: {decision.reason}, <nil>"
            )

    def _resource_of(
        self, attributes: Attributes, reference: OwnerReference
    ) -> tuple[GroupVersionKind, str]:
        """Return the kind of an owner and its resource. Raises Forbidden."""
        problem = (
            f"no matches for kind {quote(reference.kind)} in version {quote(reference.api_version)}"
        )
        try:
            kind = GroupVersion.parse(reference.api_version).with_kind(reference.kind)
        except InvalidGroupVersion as error:
            problem = str(error)
        else:
            if resource := self._find_resource(kind):
                return kind, resource
        raise attributes.forbidden(
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for"
            f" APIVersion {reference.api_version} Kind {reference.kind}: {problem}"
        )


def _owners(obj: Object | None) -> list[OwnerReference]:
    return obj.metadata.owner_references if obj is not None else []


def _new_blocking(new: Object, old: Object | None) -> Iterator[OwnerReference]:
    """Yield the references that block the deletion of their owner and did not before."""
    before = {owner.uid for owner in _owners(old) if owner.block_owner_deletion}
    for owner in _owners(new):
        if owner.block_owner_deletion and owner.uid not in before:
            yield owner
