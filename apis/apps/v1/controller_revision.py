"""ControllerRevision: a snapshot of the template of a workload."""

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apimachinery.scalars.wire_types import RawExtension


class ControllerRevision(Object):
    """ControllerRevision is a snapshot of a template that a controller can roll back to.

    Daemon sets and stateful sets have them. The data of a revision cannot be changed.
    """

    data: RawExtension | None = field(
        None,
        proto=2,
        required=True,
        doc="Document of the snapshot. It cannot be changed. Required.",
    )
    revision: int = field(
        0,
        proto=3,
        omit_empty=False,
        required=False,
        doc="Number of the revision among those of the same owner.",
    )
