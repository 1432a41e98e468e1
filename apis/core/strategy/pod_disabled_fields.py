"""Fields of pods whose features Kubernetes has switched off: a write drops them.

An object that has such a field already keeps it, so that a server where the feature is on can
share the store. Kinds with pod templates drop the same fields.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from apis.core.v1.container import Container
from apis.core.v1.container_status import ContainerStatus
from apis.core.v1.ephemeral_container import EphemeralContainer
from apis.core.v1.pod import Pod, PodSpec
from apis.core.v1.pod_status import PodStatus
from apis.core.v1.pod_template import PodTemplateSpec
from apis.core.v1.probe import Probe
from apis.core.v1.volume import Volume

AnyContainer: TypeAlias = Container | EphemeralContainer

_INIT_CONTAINER_ANNOTATIONS: Final = tuple(
    f"pod.{stage}.kubernetes.io/init-container{suffix}"
    for stage in ("alpha", "beta")
    for suffix in ("s", "-statuses")
)


@dataclass(frozen=True, slots=True)
class _Disabled:
    """A field that is dropped, and where it occurs; *parts* yields the models that have it."""

    name: str
    parts: Callable[[Any], Iterable[Any]]

    def drop(self, root: Any, old: Any) -> None:
        used = [part for part in self.parts(root) if getattr(part, self.name)]
        if not used or (old is not None and any(map(self._is_set, self.parts(old)))):
            return
        for part in used:
            setattr(part, self.name, [] if isinstance(getattr(part, self.name), list) else None)

    def _is_set(self, part: Any) -> bool:
        return bool(getattr(part, self.name))


def drop_disabled_pod_fields(pod: Pod, old: Pod | None) -> None:
    """Drop the fields of a pod that are switched off, except those that *old* uses."""
    _drop_from_spec(pod.spec, old.spec if old is not None else None)
    for disabled in _STATUS_FIELDS:
        disabled.drop(pod.status, old.status if old is not None else None)
    _drop_annotations(pod.metadata.annotations)


def drop_disabled_template_fields(template: PodTemplateSpec, old: PodTemplateSpec | None) -> None:
    """Drop the fields of a pod template that are switched off, except those that *old* uses."""
    _drop_from_spec(template.spec, old.spec if old is not None else None)
    _drop_annotations(template.metadata.annotations)


def all_containers(spec: PodSpec) -> Iterator[AnyContainer]:
    """Yield init containers, containers and ephemeral containers."""
    yield from spec.init_containers
    yield from spec.containers
    yield from spec.ephemeral_containers


def _drop_from_spec(spec: PodSpec, old: PodSpec | None) -> None:
    for disabled in _SPEC_FIELDS:
        disabled.drop(spec, old)


def _drop_annotations(annotations: dict[str, str]) -> None:
    for name in _INIT_CONTAINER_ANNOTATIONS:
        annotations.pop(name, None)


def _self(part: Any) -> tuple[Any]:
    return (part,)


def _empty_dirs(spec: PodSpec) -> Iterator[Any]:
    return (volume.empty_dir for volume in spec.volumes if volume.empty_dir is not None)


def _mounts(spec: PodSpec) -> Iterator[Any]:
    return (mount for container in all_containers(spec) for mount in container.volume_mounts)


def _probes(container: AnyContainer) -> Iterator[Probe]:
    probes = (container.liveness_probe, container.readiness_probe, container.startup_probe)
    return (probe for probe in probes if probe is not None)


def _grpc_actions(spec: PodSpec) -> Iterator[Any]:
    for container in all_containers(spec):
        for probe in _probes(container):
            if probe.grpc is not None:
                yield probe.grpc


def _http_actions(spec: PodSpec) -> Iterator[Any]:
    for container in all_containers(spec):
        hooks = container.lifecycle
        handlers = (hooks.post_start, hooks.pre_stop) if hooks is not None else ()
        for action in (*_probes(container), *handlers):
            if action is not None and action.http_get is not None:
                yield action.http_get


def _lifecycles(spec: PodSpec) -> Iterator[Any]:
    return (part.lifecycle for part in all_containers(spec) if part.lifecycle is not None)


def _sources_of_files(volume: Volume) -> Iterator[Any]:
    for source in (volume.secret, volume.config_map, volume.downward_api, volume.projected):
        if source is not None:
            yield source


def _volumes_of_files(spec: PodSpec) -> Iterator[Any]:
    return (source for volume in spec.volumes for source in _sources_of_files(volume))


def _projections(spec: PodSpec) -> Iterator[Any]:
    for volume in spec.volumes:
        if volume.projected is not None:
            yield from volume.projected.sources


def _files(spec: PodSpec) -> Iterator[Any]:
    """Yield everything in volumes that can have an owner of its own."""
    for source in _volumes_of_files(spec):
        yield from getattr(source, "items", ())
    for projection in _projections(spec):
        for part in (projection.secret, projection.config_map, projection.downward_api):
            yield from part.items if part is not None else ()
        for part in (
            projection.service_account_token,
            projection.cluster_trust_bundle,
            projection.pod_certificate,
        ):
            if part is not None:
                yield part


def _image_mounts(status: PodStatus) -> Iterator[Any]:
    statuses: Iterable[ContainerStatus] = (
        *status.container_statuses,
        *status.init_container_statuses,
        *status.ephemeral_container_statuses,
    )
    return (mount for container in statuses for mount in container.volume_mounts)


_SPEC_FIELDS: Final = (
    _Disabled("scheduling_group", _self),
    _Disabled("eviction_responders", _self),
    _Disabled("mode", _empty_dirs),
    _Disabled("bind_mount_options", _mounts),
    _Disabled("mode", _grpc_actions),
    _Disabled("protocol", _http_actions),
    _Disabled("stop_signal", _lifecycles),
    _Disabled("default_user", _volumes_of_files),
    _Disabled("user", _files),
)
_STATUS_FIELDS: Final = (
    _Disabled("node_allocatable_resource_claim_statuses", _self),
    _Disabled("volume_health", _self),
    _Disabled("volume_status", _image_mounts),
)
