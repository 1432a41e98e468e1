"""Validation of containers: the rules for all types, and those of each type."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from apimachinery.names import is_dns1123_label
from apis.core.pod_containers import AnyContainer, is_sidecar
from apis.core.v1.container import Container
from apis.core.v1.ephemeral_container import EphemeralContainer
from apis.core.v1.pod import PodSpec
from apis.core.v1.volume import Volume
from apis.core.validation.pod.container_ports import (
    validate_container_ports,
    validate_host_port_conflicts,
)
from apis.core.validation.pod.env import validate_env, validate_env_from
from apis.core.validation.pod.image_pull_policy import validate_pull_policy
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.pod.probes import validate_lifecycle, validate_probes
from apis.core.validation.pod.resources import validate_container_resources
from apis.core.validation.pod.restart_policies import (
    validate_container_restart_policy,
    validate_init_resize_policy,
    validate_init_restart_policy,
    validate_resize_policy,
)
from apis.core.validation.pod.security_context import validate_security_context
from apis.core.validation.pod.volume_mounts import (
    validate_volume_devices,
    validate_volume_mounts,
)

_MESSAGE_POLICIES: Final = ("File", "FallbackToLogsOnError")
_SIDECARS_ONLY: Final = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL: Final = "cannot be set for an Ephemeral Container"

# Fields of containers that ephemeral containers may not set, in the order of the errors.
_SERVICE_FIELDS: Final = {
    "ports": "ports",
    "resources": "resources",
    "resize_policy": "resizePolicy",
    "restart_policy": "restartPolicy",
    "restart_policy_rules": "restartPolicyRules",
    "liveness_probe": "livenessProbe",
    "readiness_probe": "readinessProbe",
    "startup_probe": "startupProbe",
    "lifecycle": "lifecycle",
}


@dataclass(frozen=True, slots=True)
class ContainerSurroundings:
    """The parts of a pod that its containers refer to."""

    spec: PodSpec
    volumes: dict[str, Volume]
    """The valid volumes, by name."""
    claim_names: set[str]
    options: PodValidationOptions


def validate_containers(
    containers: Sequence[Container], path: Path, pod: ContainerSurroundings
) -> FieldErrors:
    if not containers:
        yield required(path)
    names: set[str] = set()
    for position, container in enumerate(containers):
        here = path.index(position)
        yield from _validate_container(container, here, pod)
        if container.name in names:
            yield duplicate(here.child("name"), container.name)
        names.add(container.name)
        yield from _validate_service_fields(container, here, pod)
        yield from validate_container_restart_policy(container, here)
    yield from validate_host_port_conflicts(containers, path)


def validate_init_containers(
    containers: Sequence[Container], path: Path, pod: ContainerSurroundings
) -> FieldErrors:
    names = {container.name for container in pod.spec.containers}
    for position, container in enumerate(containers):
        here = path.index(position)
        yield from _validate_container(container, here, pod)
        yield from validate_init_restart_policy(container, here)
        if container.name in names:
            yield duplicate(here.child("name"), container.name)
        elif container.name:
            names.add(container.name)
        # Init containers run one after the other. As in Kubernetes, the path is that of the first.
        yield from validate_host_port_conflicts([container], path)
        if is_sidecar(container):
            yield from _validate_service_fields(container, here, pod)
            continue
        for wire, value in (
            ("lifecycle", container.lifecycle),
            ("livenessProbe", container.liveness_probe),
            ("readinessProbe", container.readiness_probe),
            ("startupProbe", container.startup_probe),
        ):
            if value is not None:
                yield forbidden(here.child(wire), _SIDECARS_ONLY)
        if not pod.options.allow_restart_of_init_containers:
            yield from validate_init_resize_policy(container, here.child("resizePolicy"))


def validate_ephemeral_containers(
    containers: Sequence[EphemeralContainer], path: Path, pod: ContainerSurroundings
) -> FieldErrors:
    others = {container.name for container in pod.spec.containers}
    others.update(container.name for container in pod.spec.init_containers)
    names = set(others)
    for position, container in enumerate(containers):
        here = path.index(position)
        yield from _validate_container(container, here, pod)
        yield from validate_image_spacing(container, here)
        if container.name in names:
            yield duplicate(here.child("name"), container.name)
        names.add(container.name)
        target = container.target_container_name
        if target and target not in others:
            yield not_found(here.child("targetContainerName"), target)
        yield from _validate_ephemeral_fields(container, here)


def validate_image_spacing(container: AnyContainer, path: Path) -> FieldErrors:
    """Validate the image of a pod, not of a template, where blanks may stand for one."""
    if container.image.strip() != container.image:
        rule = "must not have leading or trailing whitespace"
        yield invalid(path.child("image"), container.image, rule)


def _validate_container(
    container: AnyContainer, path: Path, pod: ContainerSurroundings
) -> FieldErrors:
    if not container.name:
        yield required(path.child("name"))
    for error in is_dns1123_label(container.name) if container.name else ():
        yield invalid(path.child("name"), container.name, error)
    if not container.image:
        yield required(path.child("image"))
    policy = container.termination_message_policy
    if not policy:
        yield required(path.child("terminationMessagePolicy"))
    elif policy not in _MESSAGE_POLICIES:
        yield not_supported(path.child("terminationMessagePolicy"), policy, _MESSAGE_POLICIES)
    yield from validate_container_ports(container.ports, path.child("ports"))
    yield from validate_env(container.env, path.child("env"))
    yield from validate_env_from(container.env_from, path.child("envFrom"))
    yield from validate_volume_mounts(container, pod.volumes, path.child("volumeMounts"))
    yield from validate_volume_devices(container, pod.volumes, path.child("volumeDevices"))
    yield from validate_pull_policy(container.image_pull_policy, path.child("imagePullPolicy"))
    yield from validate_container_resources(
        container.resources, pod.claim_names, path.child("resources"), pod.options
    )
    yield from validate_resize_policy(
        container.resize_policy, path.child("resizePolicy"), pod.spec.restart_policy
    )
    yield from validate_security_context(
        container.security_context, path.child("securityContext"), pod.spec, pod.options
    )


def _validate_service_fields(
    container: Container, path: Path, pod: ContainerSurroundings
) -> FieldErrors:
    """Validate what only containers have that run as long as their pod."""
    grace_period = pod.spec.termination_grace_period_seconds
    if container.lifecycle is not None:
        yield from validate_lifecycle(
            container.lifecycle, path.child("lifecycle"), grace_period, pod.spec.os
        )
    yield from validate_probes(container, path, grace_period)


def _validate_ephemeral_fields(container: EphemeralContainer, path: Path) -> FieldErrors:
    unset = EphemeralContainer()
    for name, wire in _SERVICE_FIELDS.items():
        if getattr(container, name) != getattr(unset, name):
            yield forbidden(path.child(wire), _NOT_EPHEMERAL)
    for position, mount in enumerate(container.volume_mounts):
        here = path.child("volumeMounts").index(position)
        if mount.sub_path:
            yield forbidden(here.child("subPath"), _NOT_EPHEMERAL)
        if mount.sub_path_expr:
            yield forbidden(here.child("subPathExpr"), _NOT_EPHEMERAL)
