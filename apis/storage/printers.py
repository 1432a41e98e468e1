"""Printer columns of the kinds of storage.k8s.io."""

from typing import Final

from apis.storage.v1 import (
    CSIDriver,
    CSINode,
    StorageClass,
    VolumeAttachment,
    VolumeAttributesClass,
)
from apis.storage.v1.storage_class import DEFAULT_CLASS_ANNOTATION, DELETE, IMMEDIATE
from apiserver.views.table import AGE, CREATED_AT, NAME, Column

_UNSET: Final = "<unset>"


def class_name(storage_class: StorageClass) -> str:
    """Return the name of a class, marked if it is a default class."""
    meta = storage_class.metadata
    is_default = meta.annotations.get(DEFAULT_CLASS_ANNOTATION) == "true"
    return f"{meta.name} (default)" if is_default else meta.name


def provisioner(storage_class: StorageClass) -> str:
    return storage_class.provisioner


def reclaim_policy(storage_class: StorageClass) -> str:
    return DELETE if storage_class.reclaim_policy is None else storage_class.reclaim_policy


def binding_mode(storage_class: StorageClass) -> str:
    mode = storage_class.volume_binding_mode
    return IMMEDIATE if mode is None else mode


def can_expand(storage_class: StorageClass) -> bool:
    return bool(storage_class.allow_volume_expansion)


def attributes_driver(attributes_class: VolumeAttributesClass) -> str:
    return attributes_class.driver_name


def attacher(attachment: VolumeAttachment) -> str:
    return attachment.spec.attacher


def attached_volume(attachment: VolumeAttachment) -> str:
    return attachment.spec.source.persistent_volume_name or ""


def attached_node(attachment: VolumeAttachment) -> str:
    return attachment.spec.node_name


def is_attached(attachment: VolumeAttachment) -> bool:
    return attachment.status.attached


def attach_required(driver: CSIDriver) -> bool:
    return driver.spec.attach_required is not False


def pod_info_on_mount(driver: CSIDriver) -> bool:
    return bool(driver.spec.pod_info_on_mount)


def has_storage_capacity(driver: CSIDriver) -> bool:
    return bool(driver.spec.storage_capacity)


def token_requests(driver: CSIDriver) -> str:
    requests = driver.spec.token_requests
    return ",".join(request.audience for request in requests) if requests else _UNSET


def requires_republish(driver: CSIDriver) -> bool:
    return bool(driver.spec.requires_republish)


def lifecycle_modes(driver: CSIDriver) -> str:
    return ",".join(driver.spec.volume_lifecycle_modes) or "<none>"


def driver_count(node: CSINode) -> int:
    return len(node.spec.drivers)


STORAGE_CLASS_COLUMNS: Final = (
    Column("Name", class_name, format="name", description=NAME.description, metadata_only=True),
    Column("Provisioner", provisioner, description="Provisioner of the volumes."),
    Column("ReclaimPolicy", reclaim_policy, description="What becomes of released volumes."),
    Column("VolumeBindingMode", binding_mode, description="When volumes are provisioned."),
    Column("AllowVolumeExpansion", can_expand, description="Whether volumes can be expanded."),
    AGE,
)

VOLUME_ATTRIBUTES_CLASS_COLUMNS: Final = (
    Column("DriverName", attributes_driver, description="Name of the CSI driver."),
)

VOLUME_ATTACHMENT_COLUMNS: Final = (
    Column("Attacher", attacher, format="name", description="Driver that attaches the volume."),
    Column("PV", attached_volume, description="PersistentVolume to attach."),
    Column("Node", attached_node, description="Node to attach the volume to."),
    Column("Attached", is_attached, type="boolean", description="Whether it is attached."),
)

CSI_DRIVER_COLUMNS: Final = (
    Column(
        "AttachRequired",
        attach_required,
        type="boolean",
        description="Whether volumes have to be attached.",
    ),
    Column(
        "PodInfoOnMount",
        pod_info_on_mount,
        type="boolean",
        description="Whether the driver is told of the pod.",
    ),
    Column(
        "StorageCapacity",
        has_storage_capacity,
        type="boolean",
        description="Whether the driver reports its capacity.",
    ),
    Column("TokenRequests", token_requests, description="Audiences of tokens for the driver."),
    Column(
        "RequiresRepublish",
        requires_republish,
        type="boolean",
        description="Whether the driver is called periodically.",
    ),
    Column("Modes", lifecycle_modes, description="Kinds of volumes of the driver."),
)

CSI_NODE_COLUMNS: Final = (
    Column("Drivers", driver_count, type="integer", description="Number of drivers."),
)

# Kubernetes has no printer for capacities.
CSI_STORAGE_CAPACITY_COLUMNS: Final = (NAME, CREATED_AT)
