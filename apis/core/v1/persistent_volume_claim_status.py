"""PersistentVolumeClaimStatus: the binding of a claim, and how changes of its volume progress."""

from typing import Final

from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apimachinery.scalars.time import Time
from apis.core.v1.pod_status import VolumeHealthCondition

BOUND: Final = "Bound"
CLAIM_PENDING: Final = "Pending"

RESIZE_STATUSES: Final = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)


class PersistentVolumeClaimCondition(Model):
    """A condition of a claim."""

    type: str = field(
        "",
        proto=1,
        omit_empty=False,
        known=(
            "ControllerResizeError",
            "FileSystemResizePending",
            "ModifyingVolume",
            "NodeResizeError",
            "Resizing",
            "VolumeModifyVolumeError",
        ),
        doc="Type of the condition, such as Resizing.",
    )
    status: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("False", "True", "Unknown"),
        doc="Whether the condition holds.",
    )
    last_probe_time: Time | None = field(
        None,
        proto=3,
        omit_empty=False,
        required=False,
        doc="Time when the condition was last checked.",
    )
    last_transition_time: Time | None = field(
        None,
        proto=4,
        omit_empty=False,
        required=False,
        doc="Time when the status of the condition last changed.",
    )
    reason: str = field("", proto=5, doc="Machine-readable reason of the last transition.")
    message: str = field("", proto=6, doc="Human-readable details of the last transition.")


class ModifyVolumeStatus(Model):
    """Progress of a change of the volume's attributes."""

    target_volume_attributes_class_name: str = field(
        "", proto=1, doc="VolumeAttributesClass that is being applied."
    )
    status: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("InProgress", "Infeasible", "Pending"),
        publish_enum=True,
        doc="State of the change: Pending, InProgress or Infeasible.",
    )


class VolumeHealthStatus(Model):
    """Health of the volume of a claim."""

    health_conditions: list[VolumeHealthCondition] = field(
        default_factory=list,
        proto=1,
        list_map_keys=("status", "reason"),
        patch_strategy="merge",
        patch_merge_key="status",
        doc="Findings about the volume.",
    )
    last_transition_time: Time | None = field(
        None, proto=2, omit_empty=False, required=False, doc="Time when the health last changed."
    )


class PersistentVolumeClaimStatus(Model):
    """Current status of a claim and its volume."""

    phase: str = field(
        "",
        proto=1,
        known=(BOUND, "Lost", CLAIM_PENDING),
        publish_enum=True,
        doc="Whether the claim is bound to a volume.",
    )
    access_modes: list[str] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        known=("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"),
        publish_enum=True,
        doc="Ways in which the bound volume can be mounted.",
    )
    capacity: dict[str, Quantity] = field(
        default_factory=dict, proto=3, doc="Actual size of the bound volume."
    )
    conditions: list[PersistentVolumeClaimCondition] = field(
        default_factory=list,
        proto=4,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the claim, such as a pending resize.",
    )
    allocated_resources: dict[str, Quantity] = field(
        default_factory=dict,
        proto=5,
        doc="Size that is allocated for the claim; larger than the capacity during an expansion.",
    )
    allocated_resource_statuses: dict[str, str] = field(
        default_factory=dict,
        proto=7,
        map_type="granular",
        known=(
            "ControllerResizeInProgress",
            "ControllerResizeInfeasible",
            "NodeResizeInProgress",
            "NodeResizeInfeasible",
            "NodeResizePending",
        ),
        publish_enum=True,
        doc="State of the expansion of each resource, such as NodeResizePending.",
    )
    current_volume_attributes_class_name: str | None = field(
        None, proto=8, doc="VolumeAttributesClass that the volume has now."
    )
    modify_volume_status: ModifyVolumeStatus | None = field(
        None, proto=9, doc="Progress of a change of the volume's attributes."
    )
    health_status: VolumeHealthStatus | None = field(
        None, proto=10, doc="Health of the volume; the feature is off by default."
    )
