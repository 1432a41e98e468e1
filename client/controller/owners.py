"""Owners: the references by which objects belong to others.

An object has one controller at most: the owner that makes it as it should be. Deleting the owner
deletes what it owns, which is the server's work and not a controller's.
"""

from collections.abc import Iterator
from typing import Final

from apimachinery.meta.types import Object, OwnerReference
from apimachinery.schema import GroupKind, GroupVersion, GroupVersionKind, InvalidGroupVersion
from client.controller.reconciler import NamespacedName

CONTROLLER_UID: Final = "controller uid"
"""The index of a cache by the uid of the controlling owner."""


class InvalidOwner(ValueError):
    """An object cannot be owned in this way; the message names both and the rule."""


class AlreadyOwned(ValueError):
    """Another object is the controller already."""


def owner_reference(
    owner: Object, kind: GroupVersionKind, *, controller: bool = False
) -> OwnerReference:
    """A reference to *owner*; one as its controller also holds up the owner's deletion."""
    return OwnerReference(
        api_version=kind.api_version,
        kind=kind.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=True if controller else None,
        block_owner_deletion=True if controller else None,
    )


def controller_of(obj: Object) -> OwnerReference | None:
    """The reference to the object's controller, if it has one."""
    return next((ref for ref in obj.metadata.owner_references if ref.controller), None)


def set_controller(owner: Object, kind: GroupVersionKind, obj: Object) -> None:
    """Let *owner* be the controller of *obj*; AlreadyOwned when another is."""
    _check_namespaces(owner, obj)
    current = controller_of(obj)
    made = owner_reference(owner, kind, controller=True)
    if current is not None and not _is_same(current, made):
        raise AlreadyOwned(
            f"Object {NamespacedName.of(obj)} is already owned by another {current.kind}"
            f" controller {current.name}"
        )
    _upsert(obj, made)


def set_owner(owner: Object, kind: GroupVersionKind, obj: Object) -> None:
    """Let *owner* be one of the owners of *obj*."""
    _check_namespaces(owner, obj)
    _upsert(obj, owner_reference(owner, kind))


def index_controller_uid(obj: Object) -> tuple[str, ...]:
    """The function of the index CONTROLLER_UID."""
    found = controller_of(obj)
    return (found.uid,) if found is not None else ()


class OwnerMap:
    """Maps an object to its owners of one kind, in whatever version they are named."""

    def __init__(
        self, kind: GroupKind, *, namespaced: bool = True, only_controller: bool = True
    ) -> None:
        self._kind = kind
        self._namespaced = namespaced
        self._only_controller = only_controller

    def __call__(self, obj: Object) -> Iterator[NamespacedName]:
        namespace = obj.metadata.namespace if self._namespaced else ""
        for reference in obj.metadata.owner_references:
            if self._only_controller and not reference.controller:
                continue
            if reference.kind == self._kind.kind and _group(reference) == self._kind.group:
                yield NamespacedName(namespace, reference.name)


def _check_namespaces(owner: Object, obj: Object) -> None:
    theirs, own = owner.metadata.namespace, obj.metadata.namespace
    if theirs and not own:
        raise InvalidOwner(
            f"cluster-scoped resource must not have a namespace-scoped owner, owner's namespace"
            f" {theirs}"
        )
    if theirs and theirs != own:
        raise InvalidOwner(
            "cross-namespace owner references are disallowed, owner's namespace"
            f" {theirs}, obj's namespace {own}"
        )


def _upsert(obj: Object, made: OwnerReference) -> None:
    references = obj.metadata.owner_references
    for position, present in enumerate(references):
        if _is_same(present, made):
            references[position] = made
            return
    references.append(made)


def _is_same(one: OwnerReference, other: OwnerReference) -> bool:
    """Whether two references name one object, the version apart; it may have been made anew."""
    return (_group(one), one.kind, one.name) == (_group(other), other.kind, other.name)


def _group(reference: OwnerReference) -> str | None:
    try:
        return GroupVersion.parse(reference.api_version).group
    except InvalidGroupVersion:
        return None
