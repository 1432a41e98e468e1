"""Validation of CSIStorageCapacities."""

from apimachinery.fieldpath import NULL, FieldErrors, Path, immutable, invalid
from apimachinery.meta.metadata_validation import validate_label_selector
from apimachinery.names import is_dns1123_subdomain
from apis.core.validation.resource_names import validate_nonnegative_quantity
from apis.storage.v1 import CSIStorageCapacity


def validate_storage_capacity(capacity: CSIStorageCapacity) -> FieldErrors:
    yield from validate_label_selector(capacity.node_topology, Path("nodeTopology"))
    for error in is_dns1123_subdomain(capacity.storage_class_name):
        yield invalid(Path("storageClassName"), capacity.storage_class_name, error)
    if capacity.capacity is not None:
        yield from validate_nonnegative_quantity(capacity.capacity, Path("capacity"))


def validate_storage_capacity_update(
    new: CSIStorageCapacity, old: CSIStorageCapacity
) -> FieldErrors:
    yield from validate_storage_capacity(new)
    if new.node_topology != old.node_topology:
        yield immutable(Path("nodeTopology"), new.node_topology or NULL)
    if new.storage_class_name != old.storage_class_name:
        yield immutable(Path("storageClassName"), new.storage_class_name)
