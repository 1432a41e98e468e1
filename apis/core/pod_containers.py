"""Iteration over the containers of a pod, of all types, with the path of each."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from apimachinery.fieldpath import Path
from apis.core.v1.container import Container
from apis.core.v1.ephemeral_container import EphemeralContainer
from apis.core.v1.pod import PodSpec

AnyContainer: TypeAlias = Container | EphemeralContainer

_RESTART_ALWAYS: Final = "Always"


def all_containers(spec: PodSpec, path: Path) -> Iterator[tuple[AnyContainer, Path]]:
    """Yield init containers, containers and ephemeral containers, in this order."""
    for position, init in enumerate(spec.init_containers):
        yield init, path.child("initContainers").index(position)
    for position, container in enumerate(spec.containers):
        yield container, path.child("containers").index(position)
    for position, ephemeral in enumerate(spec.ephemeral_containers):
        yield ephemeral, path.child("ephemeralContainers").index(position)


def is_sidecar(container: AnyContainer) -> bool:
    """Return whether an init container keeps running beside the containers of the pod."""
    return container.restart_policy == _RESTART_ALWAYS
