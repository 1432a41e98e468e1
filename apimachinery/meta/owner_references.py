"""Owner references: which object another one belongs to, and which controller manages it.

Deleting an owner deletes what it owns, so a reference that cannot be right is refused here before
any server sees it. An owner is *identified* by its uid, while a reference is *replaced* by group,
kind and name: an owner that was deleted and made again takes the place of its former self.
"""

from apimachinery.meta.types import Object, OwnerReference
from apimachinery.schema import GroupVersion, GroupVersionKind, InvalidGroupVersion


class InvalidOwner(ValueError):
    """An owner that the object cannot have, because of the namespaces of both."""


class AlreadyOwned(ValueError):
    """An object that another controller manages; *owner* is the reference to it."""

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
    """Refer to *owner*; *block* keeps it from being removed in the foreground before the object."""
    return OwnerReference(
        api_version=kind.api_version,
        kind=kind.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=controller,
        block_owner_deletion=block,
    )


def controller_of(obj: Object) -> OwnerReference | None:
    """The reference to the controller that manages *obj*, if one does."""
    return next((found for found in obj.metadata.owner_references if found.controller), None)


def is_controlled_by(obj: Object, owner: Object) -> bool:
    """Tell whether *owner*, this very one and no namesake, is the controller of *obj*."""
    controller = controller_of(obj)
    return controller is not None and controller.uid == owner.metadata.uid


def set_controller(
    owner: Object, obj: Object, kind: GroupVersionKind, *, block: bool | None = True
) -> None:
    """Make *owner* the controller of *obj*, or raise InvalidOwner or AlreadyOwned."""
    check_owner(owner, obj)
    reference = owner_reference(owner, kind, controller=True, block=block)
    existing = controller_of(obj)
    if existing is not None and not _same_object(existing, reference):
        raise AlreadyOwned(obj, existing)
    _upsert(obj, reference)


def set_owner(
    owner: Object, obj: Object, kind: GroupVersionKind, *, block: bool | None = None
) -> None:
    """Make *owner* one of the owners of *obj*, not its controller, or raise InvalidOwner."""
    check_owner(owner, obj)
    _upsert(obj, owner_reference(owner, kind, block=block))


def has_owner(obj: Object, owner: Object) -> bool:
    """Tell whether *owner*, this very one and no namesake, owns *obj*."""
    uid = owner.metadata.uid
    return any(found.uid == uid for found in obj.metadata.owner_references)


def remove_owner(obj: Object, owner: Object) -> bool:
    """Take out the reference to *owner*; tell whether there was one."""
    references = obj.metadata.owner_references
    kept = [found for found in references if found.uid != owner.metadata.uid]
    obj.metadata.owner_references = kept
    return len(kept) < len(references)


def owner_group(reference: OwnerReference) -> str | None:
    """The group of an owner's kind; None if the reference names no version that can be."""
    try:
        return GroupVersion.parse(reference.api_version).group
    except InvalidGroupVersion:
        return None


def check_owner(owner: Object, obj: Object) -> None:
    """Raise InvalidOwner if *owner* lives where it cannot own *obj*."""
    theirs, ours = owner.metadata.namespace, obj.metadata.namespace
    if not theirs:
        return
    if not ours:
        raise InvalidOwner(
            "cluster-scoped resource must not have a namespace-scoped owner,"
            f" owner's namespace {theirs}"
        )
    if theirs != ours:
        raise InvalidOwner(
            "cross-namespace owner references are disallowed,"
            f" owner's namespace {theirs}, obj's namespace {ours}"
        )


def _upsert(obj: Object, reference: OwnerReference) -> None:
    references = obj.metadata.owner_references
    for position, found in enumerate(references):
        if _same_object(found, reference):
            references[position] = reference
            return
    references.append(reference)


def _same_object(one: OwnerReference, other: OwnerReference) -> bool:
    """Versions of one kind are the same object; a malformed version is no object at all."""
    group = owner_group(one)
    return group is not None and (group, one.kind, one.name) == (
        owner_group(other),
        other.kind,
        other.name,
    )
