"""Validation of persistent volumes: exactly one source, which cannot change."""

import posixpath
from collections.abc import Iterator
from typing import Final

from apimachinery.fieldpath import (
    NULL,
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.meta.metadata_validation import dns_subdomain_name, validate_immutable
from apis.core.v1.persistent_volume import (
    DELETE,
    FILESYSTEM,
    RECYCLE,
    RETAIN,
    PersistentVolume,
    PersistentVolumeSource,
    PersistentVolumeSpec,
)
from apis.core.validation import persistent_volume_sources as own
from apis.core.validation import volume_sources as shared
from apis.core.validation.node_selectors import validate_node_selector
from apis.core.validation.persistent_volume_claim_spec import ACCESS_MODES, VOLUME_MODES
from apis.core.validation.resource_names import STORAGE, validate_positive_quantity
from apis.core.validation.struct_diff import struct_diff

MOUNT_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"

_SPEC: Final = Path("spec")
_SOURCES: Final = tuple(PersistentVolumeSource.model_fields)
_MOUNTABLE: Final = (
    "gce_persistent_disk",
    "aws_elastic_block_store",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azure_file",
    "vsphere_volume",
    "azure_disk",
    "photon_persistent_disk",
)
_ROOT_RECYCLED: Final = "may not be 'recycle' for a hostPath mount of '/'"
_Source = tuple[str, FieldErrors]


def validate_persistent_volume(volume: PersistentVolume) -> FieldErrors:
    yield from validate_persistent_volume_spec(volume.spec, volume.metadata.name, _SPEC)
    yield from _validate_mount_options(volume)


def validate_persistent_volume_update(new: PersistentVolume, old: PersistentVolume) -> FieldErrors:
    yield from validate_persistent_volume(new)
    before, after = _source(old.spec), _source(new.spec)
    if after.csi is not None and _lacks_expand_secret(before):
        after.csi = after.csi.deep_copy()
        after.csi.controller_expand_secret_ref = None
    if after != before:
        difference = struct_diff(before, after)
        rule = f"spec.persistentvolumesource is immutable after creation\n{difference}"
        yield forbidden(_SPEC.child("persistentvolumesource"), rule)
    yield from validate_immutable(new.spec.volume_mode, old.spec.volume_mode, Path("volumeMode"))
    if old.spec.volume_attributes_class_name and new.spec.volume_attributes_class_name is None:
        rule = "update from non-nil value to nil is forbidden"
        yield forbidden(_SPEC.child("volumeAttributesClassName"), rule)


def validate_persistent_volume_spec(
    spec: PersistentVolumeSpec, name: str, path: Path
) -> FieldErrors:
    """Validate the spec of the volume with this name."""
    yield from _validate_access_modes(spec.access_modes, path.child("accessModes"))
    yield from _validate_capacity(spec, path.child("capacity"))
    policy = spec.persistent_volume_reclaim_policy
    if policy and policy not in (DELETE, RECYCLE, RETAIN):
        supported = (DELETE, RECYCLE, RETAIN)
        yield not_supported(path.child("persistentVolumeReclaimPolicy"), policy, supported)
    yield from _validate_node_affinity(spec, path.child("nodeAffinity"))
    yield from _validate_sources(spec, name, path)
    if policy == RECYCLE and _mounts_root(spec):
        yield forbidden(path.child("persistentVolumeReclaimPolicy"), _ROOT_RECYCLED)
    yield from _validate_class(spec.storage_class_name, path.child("storageClassName"))
    if spec.volume_mode is not None and spec.volume_mode not in VOLUME_MODES:
        yield not_supported(path.child("volumeMode"), spec.volume_mode, VOLUME_MODES)
    yield from _validate_attributes_class(spec, path)


def validate_inline_volume_spec(spec: PersistentVolumeSpec, path: Path) -> FieldErrors:
    """Validate the spec of a volume that a pod defines inline, translated to a CSI volume."""
    context, policy = "in the context of inline volumes", spec.persistent_volume_reclaim_policy
    for wire, is_set in (
        ("claimRef", spec.claim_ref is not None),
        ("capacity", bool(spec.capacity)),
        ("nodeAffinity", spec.node_affinity is not None),
        ("storageClassName", bool(spec.storage_class_name)),
    ):
        if is_set:
            yield forbidden(path.child(wire), f"may not be specified {context}")
    if spec.csi is None:
        yield required(path.child("csi"), f"has to be specified {context}")
    yield from _validate_access_modes(spec.access_modes, path.child("accessModes"))
    if policy not in ("", RETAIN):
        rule = f"may only be {RETAIN} {context}"
        yield forbidden(path.child("persistentVolumeReclaimPolicy"), rule)
    yield from _validate_sources(spec, "", path)
    if policy == RECYCLE and _mounts_root(spec):
        yield forbidden(path.child("persistentVolumeReclaimPolicy"), _ROOT_RECYCLED)
    if spec.volume_mode not in (None, FILESYSTEM):
        rule = f"may not specify volumeMode other than {FILESYSTEM} {context}"
        yield forbidden(path.child("volumeMode"), rule)


def _validate_access_modes(modes: list[str], path: Path) -> FieldErrors:
    if not modes:
        yield required(path)
    for mode in modes:
        if mode not in ACCESS_MODES:
            yield not_supported(path, mode, ACCESS_MODES)
    known = set(modes) & set(ACCESS_MODES)
    if "ReadWriteOncePod" in known and len(known) > 1:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


def _validate_capacity(spec: PersistentVolumeSpec, path: Path) -> FieldErrors:
    if not spec.capacity:
        yield required(path)
    if set(spec.capacity) != {STORAGE}:
        shown = {name: str(amount) for name, amount in spec.capacity.items()}
        yield not_supported(path, shown or NULL, (STORAGE,))
    for name in sorted(spec.capacity):
        amount, here = spec.capacity[name], path.key(name)
        if amount.value() < 0:
            yield invalid(here, amount.value(), "must be a valid resource quantity")
        yield from validate_positive_quantity(amount, here)


def _validate_node_affinity(spec: PersistentVolumeSpec, path: Path) -> FieldErrors:
    affinity = spec.node_affinity
    if affinity is None:
        return
    if affinity.required is None:
        yield required(path.child("required"), "must specify required node constraints")
    else:
        yield from validate_node_selector(affinity.required, path.child("required"))


def _validate_sources(spec: PersistentVolumeSpec, name: str, path: Path) -> FieldErrors:
    found = False
    for wire, errors in _sources(spec, name, path):
        # As in Kubernetes, a Flex volume is not refused beside another source.
        if found and wire != "flexVolume":
            yield forbidden(path.child(wire), "may not specify more than 1 volume type")
            continue
        found = True
        yield from errors
        if wire == "local" and spec.node_affinity is None:
            yield required(path.child("nodeAffinity"), "Local volume requires node affinity")
    if not found:
        yield required(path, "must specify a volume type")


def _sources(spec: PersistentVolumeSpec, name: str, path: Path) -> Iterator[_Source]:
    """Yield the sources that are set, in the order in which Kubernetes validates them."""
    yield from _cloud_sources(spec, path)
    yield from _network_sources(spec, path)
    yield from _more_network_sources(spec, name, path)
    yield from _vendor_sources(spec, path)
    yield from _newer_sources(spec, path)


def _cloud_sources(spec: PersistentVolumeSpec, path: Path) -> Iterator[_Source]:
    if spec.host_path is not None:
        yield "hostPath", shared.validate_host_path(spec.host_path, path.child("hostPath"))
    if spec.gce_persistent_disk is not None:
        here = path.child("persistentDisk")
        yield "gcePersistentDisk", shared.validate_gce_disk(spec.gce_persistent_disk, here)
    if spec.aws_elastic_block_store is not None:
        here = path.child("awsElasticBlockStore")
        yield "awsElasticBlockStore", shared.validate_aws_disk(spec.aws_elastic_block_store, here)
    if spec.glusterfs is not None:
        here = path.child("glusterfs")
        yield "glusterfs", own.validate_glusterfs_volume(spec.glusterfs, here)
    if spec.flocker is not None:
        yield "flocker", shared.validate_flocker(spec.flocker, path.child("flocker"))


def _network_sources(spec: PersistentVolumeSpec, path: Path) -> Iterator[_Source]:
    if spec.nfs is not None:
        yield "nfs", shared.validate_nfs(spec.nfs, path.child("nfs"))
    if spec.rbd is not None:
        texts = {"monitors": spec.rbd.monitors, "image": spec.rbd.image}
        yield "rbd", shared.validate_required_texts(texts, path.child("rbd"))
    if spec.quobyte is not None:
        yield "quobyte", shared.validate_quobyte(spec.quobyte, path.child("quobyte"))
    if spec.cephfs is not None:
        texts = {"monitors": spec.cephfs.monitors}
        yield "cephFS", shared.validate_required_texts(texts, path.child("cephfs"))


def _more_network_sources(spec: PersistentVolumeSpec, name: str, path: Path) -> Iterator[_Source]:
    if spec.iscsi is not None:
        yield "iscsi", own.validate_iscsi_volume(spec.iscsi, name, path.child("iscsi"))
    if spec.cinder is not None:
        yield "cinder", own.validate_cinder_volume(spec.cinder, path.child("cinder"))
    if spec.fc is not None:
        yield "fc", shared.validate_fc(spec.fc, path.child("fc"))
    if spec.flex_volume is not None:
        flex, here = spec.flex_volume, path.child("flexVolume")
        yield "flexVolume", shared.validate_flex_options(flex.driver, flex.options, here)
    if spec.azure_file is not None:
        here = path.child("azureFile")
        yield "azureFile", own.validate_azure_file_volume(spec.azure_file, here)


def _vendor_sources(spec: PersistentVolumeSpec, path: Path) -> Iterator[_Source]:
    if spec.vsphere_volume is not None:
        texts = {"volumePath": spec.vsphere_volume.volume_path}
        here = path.child("vsphereVolume")
        yield "vsphereVolume", shared.validate_required_texts(texts, here)
    if spec.photon_persistent_disk is not None:
        texts = {"pdID": spec.photon_persistent_disk.pd_id}
        here = path.child("photonPersistentDisk")
        yield "photonPersistentDisk", shared.validate_required_texts(texts, here)
    if spec.portworx_volume is not None:
        texts = {"volumeID": spec.portworx_volume.volume_id}
        here = path.child("portworxVolume")
        yield "portworxVolume", shared.validate_required_texts(texts, here)
    if spec.azure_disk is not None:
        yield "azureDisk", shared.validate_azure_disk(spec.azure_disk, path.child("azureDisk"))


def _newer_sources(spec: PersistentVolumeSpec, path: Path) -> Iterator[_Source]:
    if spec.scale_io is not None:
        source = spec.scale_io
        texts = {
            "gateway": source.gateway,
            "system": source.system,
            "volumeName": source.volume_name,
        }
        yield "scaleIO", shared.validate_required_texts(texts, path.child("scaleIO"))
    if spec.local is not None:
        yield "local", own.validate_local_volume(spec.local, path.child("local"))
    if spec.storageos is not None:
        here = path.child("storageos")
        yield "storageos", own.validate_storage_os_volume(spec.storageos, here)
    if spec.csi is not None:
        yield "csi", own.validate_csi_volume_source(spec.csi, path.child("csi"))


def _mounts_root(spec: PersistentVolumeSpec) -> bool:
    # A path of two slashes is kept by POSIX, but means the root as well.
    return spec.host_path is not None and (
        posixpath.normpath(f"/{spec.host_path.path.lstrip('/')}") == "/"
        if spec.host_path.path.startswith("/")
        else False
    )


def _validate_class(name: str, path: Path) -> FieldErrors:
    for error in dns_subdomain_name(name, False) if name else ():
        yield invalid(path, name, error)


def _validate_attributes_class(spec: PersistentVolumeSpec, path: Path) -> FieldErrors:
    name, here = spec.volume_attributes_class_name, path.child("volumeAttributesClassName")
    if name is None:
        return
    if not name:
        yield required(here, "an empty string is disallowed")
    yield from _validate_class(name, here)
    if spec.csi is None:
        yield required(
            path.child("csi"), "has to be specified when using volumeAttributesClassName"
        )


def _validate_mount_options(volume: PersistentVolume) -> FieldErrors:
    """Validate that a volume with the old annotation for mount options has such options."""
    if any(getattr(volume.spec, name) is not None for name in _MOUNTABLE):
        return
    if MOUNT_OPTIONS in volume.metadata.annotations:
        path = Path("metadata", "annotations", MOUNT_OPTIONS)
        yield forbidden(path, "may not specify mount options for this volume type")


def _lacks_expand_secret(source: PersistentVolumeSource) -> bool:
    """Return whether a source has no secret for expansion, which may be added later."""
    return source.csi is not None and source.csi.controller_expand_secret_ref is None


def _source(spec: PersistentVolumeSpec) -> PersistentVolumeSource:
    return PersistentVolumeSource(**{name: getattr(spec, name) for name in _SOURCES})
