"""The token volume: the files by which a program in a pod finds and trusts the API server.

They are a token of the service account, the certificates of the server and the namespace.
"""

from collections.abc import Callable
from typing import Final

from apis.core.v1.container import Container, VolumeMount
from apis.core.v1.env import ObjectFieldSelector
from apis.core.v1.pod import PodSpec
from apis.core.v1.projected_volume import (
    ConfigMapProjection,
    DownwardAPIProjection,
    ProjectedVolumeSource,
    ServiceAccountTokenProjection,
    VolumeProjection,
)
from apis.core.v1.volume import Volume
from apis.core.v1.volume_sources import DownwardAPIVolumeFile, KeyToPath

PREFIX: Final = "kube-api-access-"
MOUNT_PATH: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
EXPIRATION_SECONDS: Final = 60 * 60 + 7
"""An odd number, by which the server knows tokens that are mounted into pods."""
ROOT_CA: Final = "kube-root-ca.crt"

_MODE: Final = 0o644


def mount_token(spec: PodSpec, new_name: Callable[[str], str]) -> None:
    """Mount the token volume in each container that has nothing at its path.

    A volume that has its name is used. *new_name* completes a prefix to the name of a new one.
    """
    present = next((found.name for found in spec.volumes if found.name.startswith(PREFIX)), None)
    unmounted = [
        container
        for container in (*spec.init_containers, *spec.containers)
        if not _has_mount(container)
    ]
    if not unmounted:
        return
    name = present or new_name(PREFIX)
    for container in unmounted:
        container.volume_mounts.append(
            VolumeMount(name=name, read_only=True, mount_path=MOUNT_PATH)
        )
    if present is None:
        spec.volumes.append(Volume(name=name, projected=_token_source()))


def _has_mount(container: Container) -> bool:
    return any(mount.mount_path == MOUNT_PATH for mount in container.volume_mounts)


def _token_source() -> ProjectedVolumeSource:
    token = ServiceAccountTokenProjection(path="token", expiration_seconds=EXPIRATION_SECONDS)
    certificates = ConfigMapProjection(name=ROOT_CA, items=[KeyToPath(key="ca.crt", path="ca.crt")])
    namespace = DownwardAPIVolumeFile(
        path="namespace",
        field_ref=ObjectFieldSelector(api_version="v1", field_path="metadata.namespace"),
    )
    return ProjectedVolumeSource(
        default_mode=_MODE,
        sources=[
            VolumeProjection(service_account_token=token),
            VolumeProjection(config_map=certificates),
            VolumeProjection(downward_api=DownwardAPIProjection(items=[namespace])),
        ],
    )
