"""Defaulting functions of persistent volumes and claims; those that pods share are in `volume`."""

from apis.core.v1.defaults.resource_lists import round_up
from apis.core.v1.persistent_volume import FILESYSTEM, PENDING, RETAIN, PersistentVolume
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaim
from apis.core.v1.persistent_volume_claim_status import CLAIM_PENDING
from apis.core.v1.persistent_volume_sources import (
    ISCSIPersistentVolumeSource,
    RBDPersistentVolumeSource,
    ScaleIOPersistentVolumeSource,
)


def set_persistent_volume_defaults(volume: PersistentVolume) -> None:
    volume.status.phase = volume.status.phase or PENDING
    spec = volume.spec
    spec.persistent_volume_reclaim_policy = spec.persistent_volume_reclaim_policy or RETAIN
    spec.volume_mode = FILESYSTEM if spec.volume_mode is None else spec.volume_mode
    round_up(spec.capacity)


def set_persistent_volume_claim_defaults(claim: PersistentVolumeClaim) -> None:
    claim.status.phase = claim.status.phase or CLAIM_PENDING
    round_up(claim.status.capacity)
    round_up(claim.status.allocated_resources)


def set_iscsi_persistent_volume_defaults(source: ISCSIPersistentVolumeSource) -> None:
    source.iscsi_interface = source.iscsi_interface or "default"


def set_rbd_persistent_volume_defaults(source: RBDPersistentVolumeSource) -> None:
    source.pool = source.pool or "rbd"
    source.user = source.user or "admin"
    source.keyring = source.keyring or "/etc/ceph/keyring"


def set_scale_io_persistent_volume_defaults(source: ScaleIOPersistentVolumeSource) -> None:
    source.storage_mode = source.storage_mode or "ThinProvisioned"
    source.fs_type = source.fs_type or "xfs"
