"""Validation of the volume sources that only persistent volumes have."""

from apimachinery.fieldpath import FieldErrors, Path, invalid, required
from apimachinery.meta.metadata_validation import dns_label_name
from apimachinery.names import is_dns1123_label, is_dns1123_subdomain
from apis.core.v1.persistent_volume_sources import (
    AzureFilePersistentVolumeSource,
    CinderPersistentVolumeSource,
    CSIPersistentVolumeSource,
    GlusterfsPersistentVolumeSource,
    ISCSIPersistentVolumeSource,
    LocalVolumeSource,
    SecretReference,
    StorageOSPersistentVolumeSource,
)
from apis.core.v1.references import ObjectReference
from apis.core.validation.paths import validate_path_without_backsteps
from apis.core.validation.volume_sources import (
    ISCSI_ADDRESS_MAX,
    validate_csi_driver_name,
    validate_iscsi_name,
    validate_lun,
    validate_required_texts,
    validate_storage_os_names,
)


def validate_glusterfs_volume(source: GlusterfsPersistentVolumeSource, path: Path) -> FieldErrors:
    texts = {"endpoints": source.endpoints, "path": source.path}
    yield from validate_required_texts(texts, path)
    namespace, here = source.endpoints_namespace, path.child("endpointsNamespace")
    if namespace == "":
        rule = "if the endpointnamespace is set, it must be a valid namespace name"
        yield invalid(here, namespace, rule)
    for error in dns_label_name(namespace, False) if namespace else ():
        yield invalid(here, namespace, error)


def validate_iscsi_volume(
    source: ISCSIPersistentVolumeSource, name: str, path: Path
) -> FieldErrors:
    """Validate an iSCSI source of the volume with this name."""
    portal, initiator = source.target_portal, source.initiator_name
    yield from validate_required_texts({"targetPortal": portal}, path)
    if initiator is not None and len(f"{name}:{portal}") > ISCSI_ADDRESS_MAX:
        rule = (
            "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters"
            " if iscsi.initiatorName is specified."
        )
        yield invalid(path.child("targetportal"), portal, rule)
    if not source.iqn:
        yield required(path.child("iqn"))
    else:
        yield from validate_iscsi_name(
            source.iqn, path.child("iqn"), prefix_rule="must be valid format"
        )
    yield from validate_lun(source.lun, path.child("lun"))
    if (source.chap_auth_discovery or source.chap_auth_session) and source.secret_ref is None:
        yield required(path.child("secretRef"))
    if source.secret_ref is not None:
        texts = {"name": source.secret_ref.name}
        yield from validate_required_texts(texts, path.child("secretRef"))
    if initiator is not None:
        here = path.child("initiatorname")
        yield from validate_iscsi_name(initiator, here, prefix_rule="must be valid format")


def validate_cinder_volume(source: CinderPersistentVolumeSource, path: Path) -> FieldErrors:
    yield from validate_required_texts({"volumeID": source.volume_id}, path)
    yield from _validate_complete(source.secret_ref, path.child("secretRef"))


def validate_azure_file_volume(source: AzureFilePersistentVolumeSource, path: Path) -> FieldErrors:
    texts = {"secretName": source.secret_name, "shareName": source.share_name}
    yield from validate_required_texts(texts, path)
    if source.secret_namespace == "":
        yield required(path.child("secretNamespace"))


def validate_local_volume(source: LocalVolumeSource, path: Path) -> FieldErrors:
    yield from validate_required_texts({"path": source.path}, path)
    yield from validate_path_without_backsteps(source.path, path.child("path"))


def validate_storage_os_volume(source: StorageOSPersistentVolumeSource, path: Path) -> FieldErrors:
    yield from validate_storage_os_names(source.volume_name, source.volume_namespace, path)
    yield from _validate_complete(source.secret_ref, path.child("secretRef"))


def validate_csi_volume_source(source: CSIPersistentVolumeSource, path: Path) -> FieldErrors:
    yield from validate_csi_driver_name(source.driver, path.child("driver"))
    yield from validate_required_texts({"volumeHandle": source.volume_handle}, path)
    # As in Kubernetes, the secret for staging is not validated.
    for name, reference in (
        ("controllerPublishSecretRef", source.controller_publish_secret_ref),
        ("controllerExpandSecretRef", source.controller_expand_secret_ref),
        ("nodePublishSecretRef", source.node_publish_secret_ref),
        ("nodeExpandSecretRef", source.node_expand_secret_ref),
    ):
        if reference is not None:
            yield from _validate_secret(reference, path.child(name))


def _validate_complete(
    reference: SecretReference | ObjectReference | None, path: Path
) -> FieldErrors:
    if reference is not None:
        texts = {"name": reference.name, "namespace": reference.namespace}
        yield from validate_required_texts(texts, path)


def _validate_secret(reference: SecretReference, path: Path) -> FieldErrors:
    for name, value, check in (
        ("name", reference.name, is_dns1123_subdomain),
        ("namespace", reference.namespace, is_dns1123_label),
    ):
        if not value:
            yield required(path.child(name))
        for error in check(value) if value else ():
            yield invalid(path.child(name), value, error)
