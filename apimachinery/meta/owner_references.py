"""Owner references: set, find and remove the owners of an object and its controller.

Deleting an owner deletes its dependents, so impossible references are rejected here before they are
sent to a server. Owners are compared by uid, but references are replaced by group, kind and name:
an owner that was deleted and created again replaces the reference to its predecessor.
"""

from apimachinery.meta.types import Object, OwnerReference
from apimachinery.schema import GroupVersion, GroupVersionKind, InvalidGroupVersion


class InvalidOwner(ValueError):
    """An owner in a namespace from which it cannot own the object."""


class AlreadyOwned(ValueError):
    """An object that another controller manages; *owner* is the reference to that controller."""

    def __init__(self, obj: Object, owner: OwnerReference) -> None:
        super().__init__(
            f"Object {obj.metadata.namespace}/{obj.metadata.name} is already owned by another"
            f" {owner.kind} controller {owner.name}"
        )
        self.owner = owner


def owner_reference(
    owner: Object,
    kind: GroupVersionKind,
    *,
    controller: bool | None = None,
    block: bool | None = None,
) -> OwnerReference:
    """Return a reference to *owner*.

    With *block*, a foreground deletion removes the owner only after the object.
    """
    return OwnerReference(
        api_version=kind.api_version,
        kind=kind.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=controller,
        block_owner_deletion=block,
    )


def controller_of(obj: Object) -> OwnerReference | None:
    """Return the reference to the controller that manages *obj*, or None."""
    references = obj.metadata.owner_references
    return next((reference for reference in references if reference.controller), None)


def is_controlled_by(obj: Object, owner: Object) -> bool:
    """Return whether *owner* is the controller of *obj*, by uid."""
    controller = controller_of(obj)
    return controller is not None and controller.uid == owner.metadata.uid


def set_controller(
    owner: Object, obj: Object, kind: GroupVersionKind, *, block: bool | None = True
) -> None:
    """Make *owner* the controller of *obj*; raises InvalidOwner, AlreadyOwned."""
    check_owner(owner, obj)
    reference = owner_reference(owner, kind, controller=True, block=block)
    existing = controller_of(obj)
    if existing is not None and not _same_object(existing, reference):
        raise AlreadyOwned(obj, existing)
    _upsert(obj, reference)


def set_owner(
    owner: Object, obj: Object, kind: GroupVersionKind, *, block: bool | None = None
) -> None:
    """Make *owner* an owner of *obj*, but not its controller; raises InvalidOwner."""
    check_owner(owner, obj)
    _upsert(obj, owner_reference(owner, kind, block=block))


def has_owner(obj: Object, owner: Object) -> bool:
    """Return whether *owner* owns *obj*, by uid."""
    uid = owner.metadata.uid
    return any(reference.uid == uid for reference in obj.metadata.owner_references)


def remove_owner(obj: Object, owner: Object) -> bool:
    """Remove the reference to *owner*; return whether there was one."""
    references = obj.metadata.owner_references
    remaining = [reference for reference in references if reference.uid != owner.metadata.uid]
    obj.metadata.owner_references = remaining
    return len(remaining) < len(references)


def owner_group(reference: OwnerReference) -> str | None:
    """Return the group of the owner's kind; None if the apiVersion is malformed."""
    try:
        return GroupVersion.parse(reference.api_version).group
    except InvalidGroupVersion:
        return None


def check_owner(owner: Object, obj: Object) -> None:
    """Raise InvalidOwner if *owner* is in another namespace than *obj*.

    A cluster-scoped owner can own any object.
    """
    owner_namespace, obj_namespace = owner.metadata.namespace, obj.metadata.namespace
    if not owner_namespace:
        return
    if not obj_namespace:
        raise InvalidOwner(
            "cluster-scoped resource must not have a namespace-scoped owner,"
            f" owner's namespace {owner_namespace}"
        )
    if owner_namespace != obj_namespace:
        raise InvalidOwner(
            "cross-namespace owner references are disallowed,"
            f" owner's namespace {owner_namespace}, obj's namespace {obj_namespace}"
        )


def _upsert(obj: Object, reference: OwnerReference) -> None:
    references = obj.metadata.owner_references
    for position, existing in enumerate(references):
        if _same_object(existing, reference):
            references[position] = reference
            return
    references.append(reference)


def _same_object(left: OwnerReference, right: OwnerReference) -> bool:
    """Return whether two references name one object, in any version of its group.

    A reference with a malformed apiVersion equals no other.
    """
    group = owner_group(left)
    return group is not None and (group, left.kind, left.name) == (
        owner_group(right),
        right.kind,
        right.name,
    )
