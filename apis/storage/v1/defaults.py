"""Defaulting functions of storage.k8s.io/v1."""

from apis.storage.v1.csi_driver import (
    PERSISTENT,
    READ_WRITE_ONCE_WITH_FS_TYPE,
    CSIDriverSpec,
)
from apis.storage.v1.storage_class import DELETE, IMMEDIATE, StorageClass


def set_storage_class_defaults(storage_class: StorageClass) -> None:
    if storage_class.reclaim_policy is None:
        storage_class.reclaim_policy = DELETE
    if storage_class.volume_binding_mode is None:
        storage_class.volume_binding_mode = IMMEDIATE


def set_csi_driver_defaults(spec: CSIDriverSpec) -> None:
    if spec.attach_required is None:
        spec.attach_required = True
    if spec.pod_info_on_mount is None:
        spec.pod_info_on_mount = False
    if spec.storage_capacity is None:
        spec.storage_capacity = False
    if spec.fs_group_policy is None:
        spec.fs_group_policy = READ_WRITE_ONCE_WITH_FS_TYPE
    spec.volume_lifecycle_modes = spec.volume_lifecycle_modes or [PERSISTENT]
    if spec.prevent_pod_scheduling_if_missing is None:
        spec.prevent_pod_scheduling_if_missing = False
    if spec.requires_republish is None:
        spec.requires_republish = False
    if spec.se_linux_mount is None:
        spec.se_linux_mount = False
