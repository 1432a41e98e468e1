"""Strategies of StorageClasses and VolumeAttributesClasses, which have no generation."""

from collections.abc import Iterator

from apimachinery.fieldpath import FieldErrors, Path
from apis.core.validation.node_labels import DEPRECATED_NODE_LABELS
from apis.storage.v1 import StorageClass, VolumeAttributesClass
from apis.storage.validation.storage_class import (
    validate_storage_class,
    validate_storage_class_update,
)
from apis.storage.validation.volume_attributes_class import (
    validate_attributes_class,
    validate_attributes_class_update,
)
from apiserver import Strategy


class StorageClassStrategy(Strategy[StorageClass]):
    """The provisioner, its parameters and both policies are immutable."""

    qualified_finalizers = True
    returns_deleted_object = True

    def validate(self, obj: StorageClass) -> FieldErrors:
        yield from validate_storage_class(obj)

    def validate_update(self, new: StorageClass, old: StorageClass) -> FieldErrors:
        yield from validate_storage_class_update(new, old)

    def warnings(self, obj: StorageClass, old: StorageClass | None = None) -> Iterator[str]:
        for position, term in enumerate(obj.allowed_topologies):
            path = Path("allowedTopologies").index(position).child("matchLabelExpressions")
            for index, requirement in enumerate(term.match_label_expressions):
                if said := DEPRECATED_NODE_LABELS.get(requirement.key):
                    yield f"{path.index(index).child('key')}: {said}"

    def desired_state(self, obj: StorageClass) -> object:
        return None


class VolumeAttributesClassStrategy(Strategy[VolumeAttributesClass]):
    """The driver and its parameters are immutable."""

    qualified_finalizers = True
    returns_deleted_object = True

    def validate(self, obj: VolumeAttributesClass) -> FieldErrors:
        yield from validate_attributes_class(obj)

    def validate_update(
        self, new: VolumeAttributesClass, old: VolumeAttributesClass
    ) -> FieldErrors:
        yield from validate_attributes_class_update(new, old)

    def desired_state(self, obj: VolumeAttributesClass) -> object:
        return None
