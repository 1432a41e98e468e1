"""Admission of claims by their StorageClass: DefaultStorageClass, PersistentVolumeClaimResize."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.scalars.quantity import Quantity
from apimachinery.schema import GroupResource
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim
from apis.storage import GROUP
from apis.storage.v1 import StorageClass
from apis.storage.v1.storage_class import DEFAULT_CLASS_ANNOTATION
from apiserver import AdmissionPlugin, Attributes, CachedObjects, PluginFunctions, ServerParts

CLAIMS: Final = GroupResource("", "persistentvolumeclaims")
STORAGE_CLASSES: Final = GroupResource(GROUP, "storageclasses")

CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
"""Names the class of a claim; the field has replaced it, but it takes precedence."""
DEFAULT_CLASS_ANNOTATIONS: Final = (
    DEFAULT_CLASS_ANNOTATION,
    "storageclass.beta.kubernetes.io/is-default-class",
)

_STORAGE: Final = "storage"
_BOUND: Final = "Bound"


class DefaultStorageClass:
    """Sets the class of new claims to the one that is marked as default, the newest of them."""

    def __init__(self, parts: ServerParts) -> None:
        self._classes = CachedObjects(parts.find_store, STORAGE_CLASSES, StorageClass)

    async def __call__(self, attributes: Attributes) -> None:
        claim = attributes.object
        if attributes.old_object is not None or not isinstance(claim, PersistentVolumeClaim):
            return
        if claim.spec.storage_class_name is None and (
            CLASS_ANNOTATION not in claim.metadata.annotations
        ):
            claim.spec.storage_class_name = await self._default()

    async def _default(self) -> str | None:
        # Of equal age, the first by name is chosen.
        newest = max(filter(_is_default, await self._classes.all()), key=_created, default=None)
        return None if newest is None else newest.metadata.name


class ClaimResize:
    """Lets only bound claims grow whose class allows it."""

    def __init__(self, parts: ServerParts) -> None:
        self._classes = CachedObjects(parts.find_store, STORAGE_CLASSES, StorageClass)

    async def __call__(self, attributes: Attributes) -> None:
        new, old = attributes.object, attributes.old_object
        if attributes.subresource:
            return
        if not isinstance(new, PersistentVolumeClaim) or not isinstance(old, PersistentVolumeClaim):
            return
        if _size(new) <= _size(old):
            return
        if old.status.phase != _BOUND:
            raise attributes.forbidden("Only bound persistent volume claims can be expanded")
        if not await self._may_grow(new, old):
            raise attributes.forbidden(
                "only dynamically provisioned pvc can be resized and the storageclass that"
                " provisions the pvc must support resize"
            )

    async def _may_grow(self, new: PersistentVolumeClaim, old: PersistentVolumeClaim) -> bool:
        name = _class_name(new)
        if not name or name != _class_name(old):
            return False
        found = await self._classes.find(name)
        return found is not None and bool(found.allow_volume_expansion)


def _is_default(storage_class: Object) -> bool:
    annotations = storage_class.metadata.annotations
    return any(annotations.get(name) == "true" for name in DEFAULT_CLASS_ANNOTATIONS)


def _created(storage_class: Object) -> float:
    created = storage_class.metadata.creation_timestamp
    return created.timestamp() if created else 0.0


def _size(claim: PersistentVolumeClaim) -> Quantity:
    return claim.spec.resources.requests.get(_STORAGE) or Quantity(0)


def _class_name(claim: PersistentVolumeClaim) -> str:
    annotated = claim.metadata.annotations.get(CLASS_ANNOTATION)
    return annotated if annotated is not None else claim.spec.storage_class_name or ""


def _build_default(parts: ServerParts) -> PluginFunctions:
    return PluginFunctions(mutate=DefaultStorageClass(parts))


def _build_resize(parts: ServerParts) -> PluginFunctions:
    return PluginFunctions(validate=ClaimResize(parts))


STORAGE_PLUGINS: Final = (
    AdmissionPlugin("DefaultStorageClass", _build_default, frozenset((CLAIMS,))),
    AdmissionPlugin("PersistentVolumeClaimResize", _build_resize, frozenset((CLAIMS,))),
)
