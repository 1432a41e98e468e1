"""Printer columns of PersistentVolumes and PersistentVolumeClaims."""

from typing import Final

from apimachinery.scalars.quantity import Quantity
from apis.core.v1.persistent_volume import PersistentVolume
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim
from apis.core.validation.persistent_volume_claim import STORAGE_CLASS_ANNOTATION
from apiserver import Column

_UNSET: Final = "<unset>"
_ZERO: Final = Quantity("0")
_MODES: Final = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def volume_capacity(volume: PersistentVolume) -> str:
    return str(volume.spec.capacity.get("storage", _ZERO))


def volume_status(volume: PersistentVolume) -> str:
    return "Terminating" if volume.metadata.deletion_timestamp else volume.status.phase


def volume_claim(volume: PersistentVolume) -> str:
    claim = volume.spec.claim_ref
    return f"{claim.namespace}/{claim.name}" if claim is not None else ""


def volume_class(volume: PersistentVolume) -> str:
    annotations = volume.metadata.annotations
    return annotations.get(STORAGE_CLASS_ANNOTATION, volume.spec.storage_class_name)


def claim_status(claim: PersistentVolumeClaim) -> str:
    return "Terminating" if claim.metadata.deletion_timestamp else claim.status.phase


def claim_capacity(claim: PersistentVolumeClaim) -> str:
    return str(claim.status.capacity.get("storage", _ZERO)) if claim.spec.volume_name else ""


def claim_access_modes(claim: PersistentVolumeClaim) -> str:
    return access_modes(claim.status.access_modes) if claim.spec.volume_name else ""


def claim_class(claim: PersistentVolumeClaim) -> str:
    annotations = claim.metadata.annotations
    return annotations.get(STORAGE_CLASS_ANNOTATION, claim.spec.storage_class_name or "")


def access_modes(modes: list[str]) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in modes)


def _attributes_class(obj: PersistentVolume | PersistentVolumeClaim) -> str:
    name = obj.spec.volume_attributes_class_name
    return _UNSET if name is None else name


def _volume_mode(obj: PersistentVolume | PersistentVolumeClaim) -> str:
    return _UNSET if obj.spec.volume_mode is None else obj.spec.volume_mode


_ATTRIBUTES_CLASS: Final = Column(
    "VolumeAttributesClass", _attributes_class, description="Class of the volume's attributes."
)
_VOLUME_MODE: Final = Column(
    "VolumeMode", _volume_mode, priority=1, description="File system or block device."
)

PERSISTENT_VOLUME_COLUMNS: Final = (
    Column("Capacity", volume_capacity, description="Size of the volume."),
    Column(
        "Access Modes",
        lambda volume: access_modes(volume.spec.access_modes),
        description="Ways in which the volume can be mounted.",
    ),
    Column(
        "Reclaim Policy",
        lambda volume: volume.spec.persistent_volume_reclaim_policy,
        description="What happens to the volume when its claim is deleted.",
    ),
    Column("Status", volume_status, description="Phase of the volume."),
    Column("Claim", volume_claim, description="Claim that the volume is bound to."),
    Column("StorageClass", volume_class, description="Storage class of the volume."),
    _ATTRIBUTES_CLASS,
    Column("Reason", lambda volume: volume.status.reason, description="Reason of a failure."),
    _VOLUME_MODE,
)

PERSISTENT_VOLUME_CLAIM_COLUMNS: Final = (
    Column("Status", claim_status, description="Phase of the claim."),
    Column("Volume", lambda claim: claim.spec.volume_name, description="Volume of the claim."),
    Column("Capacity", claim_capacity, description="Size of the volume."),
    Column(
        "Access Modes", claim_access_modes, description="Ways in which the volume can be mounted."
    ),
    Column("StorageClass", claim_class, description="Storage class of the claim."),
    _ATTRIBUTES_CLASS,
    _VOLUME_MODE,
)
