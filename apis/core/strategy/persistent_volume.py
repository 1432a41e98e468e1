"""Strategy of PersistentVolumes."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.scalars.time import now
from apis.core.v1.persistent_volume import PENDING, RECYCLE, PersistentVolume
from apis.core.validation.persistent_volume import (
    MOUNT_OPTIONS,
    validate_persistent_volume,
    validate_persistent_volume_update,
)
from apis.core.validation.persistent_volume_claim import STORAGE_CLASS_ANNOTATION
from apiserver import Strategy

_DEPRECATED_ANNOTATIONS: Final = {
    STORAGE_CLASS_ANNOTATION: 'deprecated since v1.8; use "storageClassName" attribute instead',
    MOUNT_OPTIONS: 'deprecated since v1.31; use "mountOptions" attribute instead',
}
_REMOVED_SOURCES: Final = {
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "photon_persistent_disk": (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    "scale_io": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}


class PersistentVolumeStrategy(Strategy[PersistentVolume]):
    """Names are DNS subdomains; the source of a volume cannot change."""

    qualified_finalizers = True
    returns_deleted_object = True
    status_updates_metadata = True

    def __init__(self, clock: Callable[[], datetime] = now) -> None:
        self._now = clock

    def prepare_for_create(self, obj: PersistentVolume) -> None:
        obj.status.phase = PENDING
        obj.status.last_phase_transition_time = obj.metadata.creation_timestamp or self._now()

    def prepare_for_status_update(self, new: PersistentVolume, old: PersistentVolume) -> None:
        after, before = new.status, old.status
        reported = after.last_phase_transition_time
        if after.phase == before.phase:
            if reported is None:
                after.last_phase_transition_time = before.last_phase_transition_time
        elif reported in (None, before.last_phase_transition_time):
            after.last_phase_transition_time = self._now().replace(microsecond=0)

    def validate(self, obj: PersistentVolume) -> FieldErrors:
        yield from validate_persistent_volume(obj)

    def validate_update(self, new: PersistentVolume, old: PersistentVolume) -> FieldErrors:
        yield from validate_persistent_volume_update(new, old)

    def warnings(self, obj: PersistentVolume, old: PersistentVolume | None = None) -> Iterable[str]:
        return list(_warnings(obj))

    def desired_state(self, obj: PersistentVolume) -> object:
        return None


def _warnings(volume: PersistentVolume) -> Iterator[str]:
    for name, message in _DEPRECATED_ANNOTATIONS.items():
        if name in volume.metadata.annotations:
            yield f"{Path('metadata', 'annotations').key(name)}: {message}"
    if volume.spec.persistent_volume_reclaim_policy == RECYCLE:
        yield (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated."
            " Instead, the recommended approach is to use dynamic provisioning."
        )
    for name, (wire, message) in _REMOVED_SOURCES.items():
        if getattr(volume.spec, name) is not None:
            yield f"spec.{wire}: {message}"
