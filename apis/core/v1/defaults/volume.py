"""Defaults of volumes and volume claims."""

from typing import Final

from apis.core.v1.cloud_volume_sources import AzureDiskVolumeSource, ScaleIOVolumeSource
from apis.core.v1.defaults.image_name import pull_policy
from apis.core.v1.defaults.resource_lists import round_up
from apis.core.v1.network_volume_sources import ISCSIVolumeSource, RBDVolumeSource
from apis.core.v1.persistent_volume_claim import PersistentVolumeClaimSpec
from apis.core.v1.projected_volume import ProjectedVolumeSource, ServiceAccountTokenProjection
from apis.core.v1.resource_requirements import VolumeResourceRequirements
from apis.core.v1.volume import Volume
from apis.core.v1.volume_sources import (
    ConfigMapVolumeSource,
    DownwardAPIVolumeSource,
    EmptyDirVolumeSource,
    HostPathVolumeSource,
    ImageVolumeSource,
    SecretVolumeSource,
)

FILE_MODE: Final = 0o644
TOKEN_SECONDS: Final = 60 * 60


def set_volume_defaults(volume: Volume) -> None:
    sources = (value for name, value in volume.__dict__.items() if name != "name")
    if all(source is None for source in sources):
        volume.empty_dir = EmptyDirVolumeSource()


def set_host_path_defaults(source: HostPathVolumeSource) -> None:
    if source.type is None:
        source.type = ""


def set_image_volume_defaults(source: ImageVolumeSource) -> None:
    source.pull_policy = source.pull_policy or pull_policy(source.reference)


def set_secret_volume_defaults(source: SecretVolumeSource) -> None:
    _set_mode(source)


def set_config_map_volume_defaults(source: ConfigMapVolumeSource) -> None:
    _set_mode(source)


def set_downward_api_volume_defaults(source: DownwardAPIVolumeSource) -> None:
    _set_mode(source)


def set_projected_volume_defaults(source: ProjectedVolumeSource) -> None:
    _set_mode(source)


def set_token_projection_defaults(projection: ServiceAccountTokenProjection) -> None:
    if projection.expiration_seconds is None:
        projection.expiration_seconds = TOKEN_SECONDS


def set_iscsi_defaults(source: ISCSIVolumeSource) -> None:
    source.iscsi_interface = source.iscsi_interface or "default"


def set_rbd_defaults(source: RBDVolumeSource) -> None:
    source.pool = source.pool or "rbd"
    source.user = source.user or "admin"
    source.keyring = source.keyring or "/etc/ceph/keyring"


def set_azure_disk_defaults(source: AzureDiskVolumeSource) -> None:
    if source.caching_mode is None:
        source.caching_mode = "ReadWrite"
    if source.fs_type is None:
        source.fs_type = "ext4"
    if source.read_only is None:
        source.read_only = False
    if source.kind is None:
        source.kind = "Shared"


def set_scale_io_defaults(source: ScaleIOVolumeSource) -> None:
    source.storage_mode = source.storage_mode or "ThinProvisioned"
    source.fs_type = source.fs_type or "xfs"


def set_claim_spec_defaults(spec: PersistentVolumeClaimSpec) -> None:
    if spec.volume_mode is None:
        spec.volume_mode = "Filesystem"


def set_volume_resource_defaults(resources: VolumeResourceRequirements) -> None:
    round_up(resources.limits)
    round_up(resources.requests)


def _set_mode(
    source: ConfigMapVolumeSource
    | DownwardAPIVolumeSource
    | ProjectedVolumeSource
    | SecretVolumeSource,
) -> None:
    if source.default_mode is None:
        source.default_mode = FILE_MODE


VOLUME_DEFAULTS: Final = (
    set_azure_disk_defaults,
    set_claim_spec_defaults,
    set_config_map_volume_defaults,
    set_downward_api_volume_defaults,
    set_host_path_defaults,
    set_image_volume_defaults,
    set_iscsi_defaults,
    set_projected_volume_defaults,
    set_rbd_defaults,
    set_scale_io_defaults,
    set_secret_volume_defaults,
    set_token_projection_defaults,
    set_volume_defaults,
    set_volume_resource_defaults,
)
"""Defaults of the volumes of a pod template."""
