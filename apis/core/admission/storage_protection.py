"""StorageObjectInUseProtection: new volumes, claims and classes get a finalizer.

A controller (`apis.core.controllers.storage_protection`) removes it from an object that is to be
deleted once nothing uses it any more.
"""

from collections.abc import Mapping
from typing import Final

from apimachinery.schema import GroupResource
from apiserver import Attributes

FINALIZERS: Final[Mapping[GroupResource, str]] = {
    GroupResource("", "persistentvolumeclaims"): "kubernetes.io/pvc-protection",
    GroupResource("", "persistentvolumes"): "kubernetes.io/pv-protection",
    GroupResource("storage.k8s.io", "volumeattributesclasses"): "kubernetes.io/vac-protection",
}


def add_protection(attributes: Attributes) -> None:
    """Add the finalizer of the resource to a new object."""
    obj = attributes.object
    if obj is None or attributes.old_object is not None:
        return
    finalizer = FINALIZERS[attributes.resource]
    if finalizer not in obj.metadata.finalizers:
        obj.metadata.finalizers.append(finalizer)
