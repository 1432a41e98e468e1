"""The secrets that a pod refers to, and those of them that its service account does not list."""

from collections.abc import Iterable, Iterator
from typing import Final

from apis.core.pod_containers import AnyContainer
from apis.core.v1.pod import PodSpec
from apis.core.v1.service_account import ServiceAccount
from apis.core.v1.volume import Volume

_SOURCES: Final = (*("cephfs", "cinder", "flex_volume", "rbd", "scale_io", "iscsi", "storageos"),)
"""Volume sources with a `secret_ref`."""


def secret_names(spec: PodSpec) -> Iterator[str]:
    """Yield the names of all secrets that the pod refers to."""
    references = (
        *(reference.name for reference in spec.image_pull_secrets),
        *_of_containers((*spec.init_containers, *spec.containers, *spec.ephemeral_containers)),
        *(name for volume in spec.volumes for name in _of_volume(volume)),
    )
    return filter(None, references)


def unlisted_secret(spec: PodSpec, account: ServiceAccount) -> str:
    """Return why a new pod may not use one of its secrets, empty if it may use them all."""
    listed = {secret.name for secret in account.secrets}
    suffix = f"is not allowed because service account {account.metadata.name}"
    for volume in spec.volumes:
        if volume.secret is not None and volume.secret.secret_name not in listed:
            return (
                f'volume with secret.secretName="{volume.secret.secret_name}" {suffix} does not'
                " reference that secret"
            )
    for kind, containers in (
        ("init container", spec.init_containers),
        ("container", spec.containers),
    ):
        if refusal := unlisted_variable(kind, containers, account):
            return refusal
    pulling = {secret.name for secret in account.image_pull_secrets}
    for position, reference in enumerate(spec.image_pull_secrets):
        if reference.name not in pulling:
            return (
                f'imagePullSecrets[{position}].name="{reference.name}" {suffix} does not reference'
                " that imagePullSecret"
            )
    return ""


def unlisted_variable(
    kind: str, containers: Iterable[AnyContainer], account: ServiceAccount
) -> str:
    """Return why containers may not use a secret in a variable, empty if they may."""
    listed = {secret.name for secret in account.secrets}
    for container in containers:
        for text, name in _variables(container):
            if name not in listed:
                return (
                    f'{kind} {container.name} with {text}referencing secret.secretName="{name}" is'
                    f" not allowed because service account {account.metadata.name} does not"
                    " reference that secret"
                )
    return ""


def _variables(container: AnyContainer) -> Iterator[tuple[str, str]]:
    """Yield the secrets of variables, each with the words that describe it."""
    for variable in container.env:
        source = variable.value_from
        if source is not None and source.secret_key_ref is not None:
            yield f"envVar {variable.name} ", source.secret_key_ref.name
    for group in container.env_from:
        if group.secret_ref is not None:
            yield "envFrom ", group.secret_ref.name


def _of_containers(containers: Iterable[AnyContainer]) -> Iterator[str]:
    return (name for container in containers for _, name in _variables(container))


def _of_volume(volume: Volume) -> Iterator[str]:
    if volume.secret is not None:
        yield volume.secret.secret_name
    if volume.azure_file is not None:
        yield volume.azure_file.secret_name
    if volume.csi is not None and volume.csi.node_publish_secret_ref is not None:
        yield volume.csi.node_publish_secret_ref.name
    if volume.projected is not None:
        for projection in volume.projected.sources:
            if projection.secret is not None:
                yield projection.secret.name
    for name in _SOURCES:
        source = getattr(volume, name)
        if source is not None and source.secret_ref is not None:
            yield source.secret_ref.name
