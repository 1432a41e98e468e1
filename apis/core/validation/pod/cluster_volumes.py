"""Validation of volume sources that the cluster provides: its objects, its nodes, its drivers."""

from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    required,
)
from apimachinery.meta.metadata_validation import dns_subdomain_name
from apimachinery.names import is_user_id
from apis.core.v1.volume_sources import (
    ConfigMapVolumeSource,
    CSIVolumeSource,
    DownwardAPIVolumeFile,
    DownwardAPIVolumeSource,
    EmptyDirVolumeSource,
    EphemeralVolumeSource,
    ImageVolumeSource,
    KeyToPath,
    SecretVolumeSource,
)
from apis.core.validation.paths import validate_unreserved_path
from apis.core.validation.persistent_volume_claim_spec import validate_claim_template
from apis.core.validation.pod.env import (
    validate_object_field_selector,
    validate_resource_field_selector,
)
from apis.core.validation.pod.image_pull_policy import validate_pull_policy
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.volume_sources import validate_csi_driver_name, validate_required_texts

_FILE_MODE_RULE: Final = "must be a number between 0 and 0777 (octal), both inclusive"
_DIRECTORY_MODE_RULE: Final = "must be a number between 0 and 01777 (octal), both inclusive"
_VOLUME_FIELDS: Final = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)


def validate_empty_dir(source: EmptyDirVolumeSource, path: Path) -> FieldErrors:
    if source.size_limit is not None and source.size_limit.sign < 0:
        yield forbidden(
            path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity"
        )
    if source.mode is not None and not 0 <= source.mode <= 0o1777:
        yield invalid(path.child("mode"), source.mode, _DIRECTORY_MODE_RULE)


def validate_secret_volume(source: SecretVolumeSource, path: Path) -> FieldErrors:
    yield from validate_required_texts({"secretName": source.secret_name}, path)
    yield from validate_file_defaults(source.default_mode, source.default_user, path)
    for position, item in enumerate(source.items):
        yield from validate_key_to_path(item, path.child("items").index(position))


def validate_config_map_volume(source: ConfigMapVolumeSource, path: Path) -> FieldErrors:
    yield from validate_required_texts({"name": source.name}, path)
    yield from validate_file_defaults(source.default_mode, source.default_user, path)
    for position, item in enumerate(source.items):
        yield from validate_key_to_path(item, path.child("items").index(position))


def validate_downward_api_volume(source: DownwardAPIVolumeSource, path: Path) -> FieldErrors:
    yield from validate_file_defaults(source.default_mode, source.default_user, path)
    for file in source.items:
        # As in Kubernetes, the errors of all files have the path of the volume.
        yield from validate_downward_api_file(file, path)


def validate_csi_volume(source: CSIVolumeSource, path: Path) -> FieldErrors:
    yield from validate_csi_driver_name(source.driver, path.child("driver"))
    secret = source.node_publish_secret_ref
    if secret is None:
        return
    if not secret.name:
        yield required(path.child("nodePublishSecretRef", "name"))
    for error in dns_subdomain_name(secret.name, False) if secret.name else ():
        yield invalid(path.child("name"), secret.name, error)


def validate_ephemeral_volume(source: EphemeralVolumeSource, path: Path) -> FieldErrors:
    here = path.child("volumeClaimTemplate")
    if source.volume_claim_template is None:
        yield required(here)
    else:
        yield from validate_claim_template(source.volume_claim_template, here)


def validate_image_volume(
    source: ImageVolumeSource, path: Path, options: PodValidationOptions
) -> FieldErrors:
    if not source.reference and not options.allow_empty_image_references:
        yield required(path.child("reference"))
    yield from validate_pull_policy(source.pull_policy, path.child("pullPolicy"))


def validate_file_defaults(mode: int | None, user: int | None, path: Path) -> FieldErrors:
    """Validate the mode and the owner of the files of a volume that do not have their own."""
    yield from _validate_mode(mode, path.child("defaultMode"))
    yield from validate_file_owner(user, path.child("defaultUser"))


def validate_key_to_path(item: KeyToPath, path: Path) -> FieldErrors:
    yield from validate_required_texts({"key": item.key, "path": item.path}, path)
    yield from validate_unreserved_path(item.path, path.child("path"))
    yield from _validate_mode(item.mode, path.child("mode"))
    yield from validate_file_owner(item.user, path.child("user"))


def validate_downward_api_file(file: DownwardAPIVolumeFile, path: Path) -> FieldErrors:
    yield from validate_required_texts({"path": file.path}, path)
    yield from validate_unreserved_path(file.path, path.child("path"))
    if file.field_ref is not None:
        here = path.child("fieldRef")
        yield from validate_object_field_selector(file.field_ref, here, _VOLUME_FIELDS)
        if file.resource_field_ref is not None:
            rule = "fieldRef and resourceFieldRef can not be specified simultaneously"
            yield invalid(path, "resource", rule)
    elif file.resource_field_ref is not None:
        here = path.child("resourceFieldRef")
        yield from validate_resource_field_selector(file.resource_field_ref, here, in_volume=True)
    else:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    yield from _validate_mode(file.mode, path.child("mode"))
    yield from validate_file_owner(file.user, path.child("user"))


def validate_file_owner(user: int | None, path: Path) -> FieldErrors:
    for error in is_user_id(user) if user is not None else ():
        yield invalid(path, user, error)


def _validate_mode(mode: int | None, path: Path) -> FieldErrors:
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(path, mode, _FILE_MODE_RULE)
