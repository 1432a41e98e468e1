"""Validation of CSINodes."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    GoStruct,
    Path,
    duplicate,
    immutable,
    invalid,
    required,
)
from apimachinery.meta.metadata_validation import validate_nonnegative
from apimachinery.names import byte_length, is_qualified_name
from apis.core.validation.volume_sources import validate_csi_driver_name
from apis.storage.v1 import CSINode, CSINodeDriver

NODE_ID_MAX: Final = 256

_DRIVERS: Final = Path("spec", "drivers")


def validate_csi_node(node: CSINode) -> FieldErrors:
    names: set[str] = set()
    for position, driver in enumerate(node.spec.drivers):
        path = _DRIVERS.index(position)
        yield from _validate_driver(driver, path)
        if driver.name in names:
            yield duplicate(path.child("name"), driver.name)
        names.add(driver.name)
        yield from _validate_topology_keys(driver.topology_keys, path)


def validate_csi_node_update(new: CSINode, old: CSINode) -> FieldErrors:
    """Validate a change; of a driver that stays, only the limits may change."""
    yield from validate_csi_node(new)
    before = {driver.name: driver for driver in old.spec.drivers}
    for driver in new.spec.drivers:
        stored = before.get(driver.name)
        if stored is not None and _identity(driver) != _identity(stored):
            yield immutable(_DRIVERS, _shown(driver))


def _identity(driver: CSINodeDriver) -> tuple[str, list[str]]:
    return driver.node_id, driver.topology_keys


def _shown(driver: CSINodeDriver) -> GoStruct:
    """Return a driver as Kubernetes' message shows it, without its limits."""
    return GoStruct(
        Name=driver.name,
        NodeID=driver.node_id,
        TopologyKeys=driver.topology_keys or None,
        Allocatable=None,
    )


def _validate_driver(driver: CSINodeDriver, path: Path) -> FieldErrors:
    yield from validate_csi_driver_name(driver.name, path.child("name"))
    if not driver.node_id:
        yield required(path.child("nodeID"))
    if byte_length(driver.node_id) > NODE_ID_MAX:
        rule = f"must be {NODE_ID_MAX} characters or less"
        yield invalid(path.child("nodeID"), driver.node_id, rule)
    if driver.allocatable is not None and driver.allocatable.count is not None:
        count = path.child("allocatable", "count")
        yield from validate_nonnegative(driver.allocatable.count, count)


def _validate_topology_keys(keys: Sequence[str], path: Path) -> FieldErrors:
    seen: set[str] = set()
    for key in keys:
        # As in Kubernetes, the path is that of the driver.
        if not key:
            yield required(path)
        if key in seen:
            yield duplicate(path, key)
        seen.add(key)
        for error in is_qualified_name(key):
            yield invalid(path, key, error)
