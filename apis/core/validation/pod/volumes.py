"""Validation of the volumes of a pod: their names, and that each has one source."""

from collections.abc import Iterator, Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    invalid,
    quote,
    required,
)
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apimachinery.meta.types import ObjectMeta
from apimachinery.names import is_dns1123_label
from apis.core.v1.volume import Volume
from apis.core.validation.pod.cluster_volumes import (
    validate_config_map_volume,
    validate_csi_volume,
    validate_downward_api_volume,
    validate_empty_dir,
    validate_ephemeral_volume,
    validate_image_volume,
    validate_secret_volume,
)
from apis.core.validation.pod.external_volumes import (
    validate_azure_file,
    validate_cinder,
    validate_git_repo,
    validate_iscsi,
    validate_scale_io,
    validate_storage_os,
)
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.pod.projected_volume import validate_projected_volume
from apis.core.validation.volume_sources import (
    ISCSI_ADDRESS_MAX,
    validate_aws_disk,
    validate_azure_disk,
    validate_fc,
    validate_flex_options,
    validate_flocker,
    validate_gce_disk,
    validate_host_path,
    validate_nfs,
    validate_quobyte,
    validate_required_texts,
)

_ONE_TYPE: Final = "may not specify more than 1 volume type"
_ISCSI_NAME_RULE: Final = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
    "if iscsi.initiatorName is specified."
)
_Source = tuple[str, FieldErrors]


def validate_volumes(
    volumes: Sequence[Volume],
    metadata: ObjectMeta | None,
    path: Path,
    options: PodValidationOptions,
    valid: dict[str, Volume],
) -> FieldErrors:
    """Validate the volumes of a pod, and add those without errors to *valid* by name.

    Containers can refer to valid volumes only. A template has no *metadata* of a pod, and so no
    names of claims that are created for ephemeral volumes.
    """
    pod_name = metadata.name if metadata is not None else ""
    created = {f"{pod_name}-{volume.name}" for volume in volumes if volume.ephemeral and pod_name}
    for position, volume in enumerate(volumes):
        here = path.index(position)
        errors = list(_validate_volume(volume, pod_name, here, options))
        if volume.name in valid:
            errors.append(duplicate(here.child("name"), volume.name))
        if not errors:
            valid[volume.name] = volume
        yield from errors
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in created:
            rule = "must not reference a PVC that gets created for an ephemeral volume"
            name = here.child("persistentVolumeClaim", "claimName")
            yield invalid(name, claim.claim_name, rule)


def _validate_volume(
    volume: Volume, pod_name: str, path: Path, options: PodValidationOptions
) -> FieldErrors:
    first = True
    for wire, errors in _sources(volume, path, options):
        if first:
            yield from errors
            if wire == "ephemeral":
                yield from _validate_claim_name(volume.name, pod_name, path.child("name"))
        else:
            yield forbidden(path.child(wire), _ONE_TYPE)
        if wire == "iscsi":
            yield from _validate_iscsi_length(volume, path.child("name"))
        first = False
    if first:
        yield required(path, "must specify a volume type")
    if not volume.name:
        yield required(path.child("name"))
    for error in is_dns1123_label(volume.name) if volume.name else ():
        yield invalid(path.child("name"), volume.name, error)


def _sources(volume: Volume, path: Path, options: PodValidationOptions) -> Iterator[_Source]:
    """Yield the field of each source that is set, and its errors, which are not computed yet.

    The order is that of the errors in Kubernetes: the first source counts, the others are refused.
    """
    if volume.empty_dir is not None:
        yield "emptyDir", validate_empty_dir(volume.empty_dir, path.child("emptyDir"))
    if volume.host_path is not None:
        yield "hostPath", validate_host_path(volume.host_path, path.child("hostPath"))
    if volume.git_repo is not None:
        yield "gitRepo", validate_git_repo(volume.git_repo, path.child("gitRepo"))
    if volume.gce_persistent_disk is not None:
        # As in Kubernetes, these errors name a field that does not exist.
        errors = validate_gce_disk(volume.gce_persistent_disk, path.child("persistentDisk"))
        yield "gcePersistentDisk", errors
    if volume.aws_elastic_block_store is not None:
        wire = "awsElasticBlockStore"
        yield wire, validate_aws_disk(volume.aws_elastic_block_store, path.child(wire))
    if volume.secret is not None:
        yield "secret", validate_secret_volume(volume.secret, path.child("secret"))
    yield from _file_system_sources(volume, path)
    yield from _storage_sources(volume, path)
    yield from _vendor_sources(volume, path)
    yield from _newer_sources(volume, path, options)


def _file_system_sources(volume: Volume, path: Path) -> Iterator[_Source]:
    if volume.nfs is not None:
        yield "nfs", validate_nfs(volume.nfs, path.child("nfs"))
    if volume.iscsi is not None:
        yield "iscsi", validate_iscsi(volume.iscsi, path.child("iscsi"))
    if volume.glusterfs is not None:
        texts = {"endpoints": volume.glusterfs.endpoints, "path": volume.glusterfs.path}
        yield "glusterfs", validate_required_texts(texts, path.child("glusterfs"))
    if volume.flocker is not None:
        yield "flocker", validate_flocker(volume.flocker, path.child("flocker"))
    if volume.persistent_volume_claim is not None:
        here = path.child("persistentVolumeClaim")
        texts = {"claimName": volume.persistent_volume_claim.claim_name}
        yield "persistentVolumeClaim", validate_required_texts(texts, here)
    if volume.rbd is not None:
        needed = {"monitors": volume.rbd.monitors, "image": volume.rbd.image}
        yield "rbd", validate_required_texts(needed, path.child("rbd"))
    if volume.cinder is not None:
        yield "cinder", validate_cinder(volume.cinder, path.child("cinder"))
    if volume.cephfs is not None:
        monitors = {"monitors": volume.cephfs.monitors}
        yield "cephFS", validate_required_texts(monitors, path.child("cephfs"))
    if volume.quobyte is not None:
        yield "quobyte", validate_quobyte(volume.quobyte, path.child("quobyte"))


def _storage_sources(volume: Volume, path: Path) -> Iterator[_Source]:
    if volume.downward_api is not None:
        errors = validate_downward_api_volume(volume.downward_api, path.child("downwardAPI"))
        # As in Kubernetes, the name of a second source is misspelt.
        yield "downwarAPI", errors
    if volume.fc is not None:
        yield "fc", validate_fc(volume.fc, path.child("fc"))
    if volume.flex_volume is not None:
        flex, here = volume.flex_volume, path.child("flexVolume")
        yield "flexVolume", validate_flex_options(flex.driver, flex.options, here)
    if volume.config_map is not None:
        yield "configMap", validate_config_map_volume(volume.config_map, path.child("configMap"))


def _vendor_sources(volume: Volume, path: Path) -> Iterator[_Source]:
    if volume.azure_file is not None:
        yield "azureFile", validate_azure_file(volume.azure_file, path.child("azureFile"))
    if volume.vsphere_volume is not None:
        texts = {"volumePath": volume.vsphere_volume.volume_path}
        yield "vsphereVolume", validate_required_texts(texts, path.child("vsphereVolume"))
    if volume.photon_persistent_disk is not None:
        texts, wire = {"pdID": volume.photon_persistent_disk.pd_id}, "photonPersistentDisk"
        yield wire, validate_required_texts(texts, path.child(wire))
    if volume.portworx_volume is not None:
        texts = {"volumeID": volume.portworx_volume.volume_id}
        yield "portworxVolume", validate_required_texts(texts, path.child("portworxVolume"))
    if volume.azure_disk is not None:
        yield "azureDisk", validate_azure_disk(volume.azure_disk, path.child("azureDisk"))
    if volume.storageos is not None:
        yield "storageos", validate_storage_os(volume.storageos, path.child("storageos"))


def _newer_sources(volume: Volume, path: Path, options: PodValidationOptions) -> Iterator[_Source]:
    if volume.projected is not None:
        here = path.child("projected")
        yield "projected", validate_projected_volume(volume.projected, here, options)
    if volume.scale_io is not None:
        yield "scaleIO", validate_scale_io(volume.scale_io, path.child("scaleIO"))
    if volume.csi is not None:
        yield "csi", validate_csi_volume(volume.csi, path.child("csi"))
    if volume.ephemeral is not None:
        yield "ephemeral", validate_ephemeral_volume(volume.ephemeral, path.child("ephemeral"))
    if volume.image is not None:
        yield "image", validate_image_volume(volume.image, path.child("image"), options)


def _validate_claim_name(name: str, pod_name: str, path: Path) -> FieldErrors:
    if not name or not pod_name:
        return
    claim = f"{pod_name}-{name}"
    for error in dns_subdomain_name(claim, False):
        yield invalid(path, name, f"PVC name {quote(claim)}: {error}")


def _validate_iscsi_length(volume: Volume, path: Path) -> FieldErrors:
    source = volume.iscsi
    if source is None or source.initiator_name is None:
        return
    if len(f"{volume.name}:{source.target_portal}".encode()) > ISCSI_ADDRESS_MAX:
        yield invalid(path, volume.name, _ISCSI_NAME_RULE)
