"""Validation of the subresource `resize`: only the CPU and memory of containers may change."""

from collections.abc import Mapping, Sequence
from typing import Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid
from apimachinery.meta.metadata_validation import validate_object_meta
from apimachinery.scalars.quantity import Quantity
from apis.core.pod_containers import is_sidecar
from apis.core.pod_resources import quality_of_service
from apis.core.v1.container import Container
from apis.core.v1.pod import Pod, PodSpec
from apis.core.v1.resource_requirements import ResourceRequirements
from apis.core.validation.pod.annotations import MIRROR_POD
from apis.core.validation.pod.pod_creation import validate_pod_content
from apis.core.validation.pod.restart_policies import RESTART_CONTAINER
from apis.core.validation.pod.stored_exceptions import pod_options
from apis.core.validation.resource_names import COMPUTE_RESOURCES

_SPEC: Final = Path("spec")
_ONLY_COMPUTE: Final = "only cpu and memory resources are mutable"


def validate_pod_resize(new: Pod, old: Pod, *, allow_privileged: bool = True) -> FieldErrors:
    if MIRROR_POD in old.metadata.annotations:
        yield forbidden(Path(""), "static pods cannot be resized")
    elif old.spec.os is not None and old.spec.os.name == "windows":
        yield forbidden(Path(""), "windows pods cannot be resized")
    else:
        yield from _validate_resize(new, old, allow_privileged=allow_privileged)


def _validate_resize(new: Pod, old: Pod, *, allow_privileged: bool) -> FieldErrors:
    # As in Kubernetes, metadata are validated again by the rules for new objects.
    yield from validate_object_meta(new.metadata, namespaced=True)
    options = pod_options(old, allow_privileged=allow_privileged)
    errors = list(validate_pod_content(new, options))
    errors += _validate_support(new, old)
    masked = new.spec.model_copy()
    errors += _validate_pod_level(new.spec, old.spec, masked)
    order = list(_validate_order(new.spec, old.spec))
    yield from errors
    yield from order
    if order:
        return
    changes = list(_validate_changes(new.spec, old.spec, masked))
    yield from changes
    if not errors and not changes and masked != old.spec:
        yield forbidden(_SPEC, _ONLY_COMPUTE)


def _validate_support(new: Pod, old: Pod) -> FieldErrors:
    if (old.status.qos_class or quality_of_service(old)) != quality_of_service(new):
        rule = "Pod QOS Class may not change as a result of resizing"
        yield invalid(_SPEC, new.status.qos_class, rule)
    # A node that cannot resize does not report the resources of running containers.
    running = (status for status in old.status.container_statuses if status.state.running)
    first = next(running, None)
    if first is not None and first.resources is None:
        yield forbidden(_SPEC, "Pod running on node without support for resize")


def _validate_pod_level(new: PodSpec, old: PodSpec, masked: PodSpec) -> FieldErrors:
    """Validate the requirements of the pod as a whole, and mask what may change in *masked*."""
    if not (_has_quantities(new.resources) or _has_quantities(old.resources)):
        return
    path = _SPEC.child("resources")
    if new.resources is None:
        yield forbidden(path, "pod-level resources cannot be removed")
        return
    stored = old.resources or ResourceRequirements()
    if _removes(new.resources.requests, stored.requests):
        rule = "pod-level resource requests cannot be removed"
        yield forbidden(path.child("requests"), rule)
    if _removes(new.resources.limits, stored.limits):
        yield forbidden(path.child("limits"), "pod-level resource limits cannot be removed")
    requirements = _masked(new.resources, stored)
    if old.resources is None and requirements == ResourceRequirements():
        masked.resources = None
    else:
        masked.resources = requirements
    if masked.resources != old.resources:
        yield forbidden(_SPEC, "only cpu and memory resources are mutable at pod-level")


def _validate_order(new: PodSpec, old: PodSpec) -> FieldErrors:
    for wire, containers, stored in (
        ("containers", new.containers, old.containers),
        ("initContainers", new.init_containers, old.init_containers),
    ):
        path = _SPEC.child(wire)
        if len(containers) != len(stored):
            yield forbidden(path, f"{wire} may not be added or removed on resize")
            continue
        for position, (container, before) in enumerate(zip(containers, stored, strict=True)):
            if container.name != before.name:
                rule = f"{wire} may not be renamed or reordered on resize"
                yield forbidden(path.index(position).child("name"), rule)


def _validate_changes(new: PodSpec, old: PodSpec, masked: PodSpec) -> FieldErrors:
    """Validate containers and volumes, and mask what may change in *masked*."""
    yield from _validate_kept(new.init_containers, old.init_containers, "initContainers")
    yield from _validate_kept(new.containers, old.containers, "containers")
    masked.containers = _all_masked(new.containers, old.containers)
    for container, stored in zip(masked.containers, old.containers, strict=True):
        if container != stored:
            yield forbidden(_SPEC, _ONLY_COMPUTE)
    masked.init_containers = _all_masked(new.init_containers, old.init_containers)
    pairs = zip(new.init_containers, masked.init_containers, old.init_containers, strict=True)
    for position, (container, same, stored) in enumerate(pairs):
        here = _SPEC.child("initContainers").index(position)
        if same != stored:
            rule = "only cpu and memory resources for init or sidecar containers are mutable"
            yield forbidden(here, rule)
        if container != stored and not is_sidecar(container):
            yield from _validate_not_restarted(container, here)
    if new.volumes != old.volumes:
        rule = (
            "volumes are immutable on resize when InPlacePodVerticalScalingMemoryBackedVolumes "
            "feature gate is disabled"
        )
        yield forbidden(_SPEC.child("volumes"), rule)


def _validate_kept(new: Sequence[Container], old: Sequence[Container], wire: str) -> FieldErrors:
    for position, (container, stored) in enumerate(zip(new, old, strict=True)):
        path = _SPEC.child(wire).index(position).child("resources")
        if _removes(container.resources.requests, stored.resources.requests):
            yield forbidden(path.child("requests"), "resource requests cannot be removed")
        if _removes(container.resources.limits, stored.resources.limits):
            yield forbidden(path.child("limits"), "resource limits cannot be removed")


def _validate_not_restarted(container: Container, path: Path) -> FieldErrors:
    for policy in container.resize_policy:
        if policy.restart_policy == RESTART_CONTAINER:
            rule = (
                "non-sidecar init containers with a resize policy of RestartContainer "
                "cannot be resized"
            )
            yield forbidden(path, rule)


def _all_masked(new: Sequence[Container], old: Sequence[Container]) -> list[Container]:
    return [
        container.model_copy(update={"resources": _masked(container.resources, stored.resources)})
        for container, stored in zip(new, old, strict=True)
    ]


def _masked(new: ResourceRequirements, old: ResourceRequirements) -> ResourceRequirements:
    """Return new requirements with the CPU and memory of the old ones."""
    return ResourceRequirements(
        limits=_masked_quantities(new.limits, old.limits),
        requests=_masked_quantities(new.requests, old.requests),
        claims=new.claims,
    )


def _masked_quantities(
    new: Mapping[str, Quantity], old: Mapping[str, Quantity]
) -> dict[str, Quantity]:
    kept = {name: quantity for name, quantity in new.items() if name not in COMPUTE_RESOURCES}
    return kept | {name: old[name] for name in COMPUTE_RESOURCES if name in old}


def _has_quantities(resources: ResourceRequirements | None) -> bool:
    return resources is not None and bool(resources.requests or resources.limits)


def _removes(new: Mapping[str, Quantity], old: Mapping[str, Quantity]) -> bool:
    return not old.keys() <= new.keys()
