"""CSIStorageCapacity: the capacity for volumes of a class in a topology."""

from apimachinery.meta.types import LabelSelector, Object
from apimachinery.model.model import field
from apimachinery.scalars.quantity import Quantity


class CSIStorageCapacity(Object):
    """CSIStorageCapacity says how much storage of a class is available in a topology.

    Drivers publish such objects, and the scheduler reads them.
    """

    node_topology: LabelSelector | None = field(
        None,
        proto=2,
        doc=("Nodes that can access the storage; unset for none, empty for all. Immutable."),
    )
    storage_class_name: str = field(
        "",
        proto=3,
        omit_empty=False,
        doc="Name of the StorageClass that the capacity is for. Required and immutable.",
    )
    capacity: Quantity | None = field(
        None, proto=4, doc="Storage that is available; unset if unknown."
    )
    maximum_volume_size: Quantity | None = field(
        None,
        proto=5,
        doc="Size of the largest volume that can be created; unset if unknown.",
    )
