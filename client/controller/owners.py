"""Owners: map an owned object to the owner that must be reconciled when it changes.

`apimachinery.meta.owner_references` defines owner references and their rules.
"""

from collections.abc import Iterator
from typing import Final

from apimachinery.meta.owner_references import controller_of, owner_group
from apimachinery.meta.types import Object
from apimachinery.schema import GroupKind
from client.controller.reconciler import NamespacedName

CONTROLLER_UID: Final = "controller uid"
"""The name of the cache index by the uid of the controlling owner."""


def index_controller_uid(obj: Object) -> tuple[str, ...]:
    """Return the values of the index CONTROLLER_UID."""
    reference = controller_of(obj)
    return (reference.uid,) if reference is not None else ()


ORPHANS: Final = "without controller"
"""The name of the cache index by namespace of the objects that no owner controls."""


def index_orphans(obj: Object) -> tuple[str, ...]:
    """Return the values of the index ORPHANS."""
    return (obj.metadata.namespace,) if controller_of(obj) is None else ()


class OwnerMap:
    """Maps an object to its owners of one kind, in any version."""

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
            if reference.kind == self._kind.kind and owner_group(reference) == self._kind.group:
                yield NamespacedName(namespace, reference.name)
