"""Validation of volume sources that only pods can mount from a storage system directly."""

from apimachinery.fieldpath import FieldErrors, Path, required
from apis.core.v1.cloud_volume_sources import (
    AzureFileVolumeSource,
    CinderVolumeSource,
    GitRepoVolumeSource,
    ScaleIOVolumeSource,
    StorageOSVolumeSource,
)
from apis.core.v1.network_volume_sources import ISCSIVolumeSource
from apis.core.v1.references import LocalObjectReference
from apis.core.validation.paths import validate_descending_path
from apis.core.validation.volume_sources import (
    validate_iscsi_name,
    validate_lun,
    validate_required_texts,
    validate_storage_os_names,
)

_ISCSI_PREFIX_RULE = "must be valid format starting with iqn, eui, or naa"


def validate_git_repo(source: GitRepoVolumeSource, path: Path) -> FieldErrors:
    yield from validate_required_texts({"repository": source.repository}, path)
    yield from validate_descending_path(source.directory, path.child("directory"))


def validate_iscsi(source: ISCSIVolumeSource, path: Path) -> FieldErrors:
    yield from validate_required_texts(
        {"targetPortal": source.target_portal, "iqn": source.iqn}, path
    )
    if source.iqn:
        yield from validate_iscsi_name(
            source.iqn, path.child("iqn"), prefix_rule=_ISCSI_PREFIX_RULE
        )
    yield from validate_lun(source.lun, path.child("lun"))
    if (source.chap_auth_discovery or source.chap_auth_session) and source.secret_ref is None:
        yield required(path.child("secretRef"))
    if source.initiator_name is not None:
        yield from validate_iscsi_name(
            source.initiator_name, path.child("initiatorname"), prefix_rule=_ISCSI_PREFIX_RULE
        )


def validate_cinder(source: CinderVolumeSource, path: Path) -> FieldErrors:
    yield from validate_required_texts({"volumeID": source.volume_id}, path)
    yield from _validate_secret(source.secret_ref, path)


def validate_azure_file(source: AzureFileVolumeSource, path: Path) -> FieldErrors:
    texts = {"secretName": source.secret_name, "shareName": source.share_name}
    yield from validate_required_texts(texts, path)


def validate_scale_io(source: ScaleIOVolumeSource, path: Path) -> FieldErrors:
    texts = {
        "gateway": source.gateway,
        "system": source.system,
        "volumeName": source.volume_name,
    }
    yield from validate_required_texts(texts, path)


def validate_storage_os(source: StorageOSVolumeSource, path: Path) -> FieldErrors:
    yield from validate_storage_os_names(source.volume_name, source.volume_namespace, path)
    yield from _validate_secret(source.secret_ref, path)


def _validate_secret(reference: LocalObjectReference | None, path: Path) -> FieldErrors:
    if reference is not None and not reference.name:
        yield required(path.child("secretRef", "name"))
