"""Validation of the volumes that a container mounts, or uses as block devices."""

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
from apis.core.pod_containers import AnyContainer
from apis.core.v1.container import VolumeDevice, VolumeMount
from apis.core.v1.volume import Volume
from apis.core.validation.paths import validate_descending_path

_PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE_MODES: Final = ("Disabled", "Enabled", "IfPossible")
_BIND_OPTIONS: Final = ("nodev", "noexec", "nosuid")
_UNIQUE: Final = "must be unique"


def validate_volume_mounts(
    container: AnyContainer, volumes: dict[str, Volume], path: Path
) -> FieldErrors:
    device_paths = {device.name: device.device_path for device in container.volume_devices}
    taken_by_devices = set(device_paths.values())
    mount_paths: set[str] = set()
    for position, mount in enumerate(container.volume_mounts):
        here = path.index(position)
        if not mount.name:
            yield required(here.child("name"))
        if mount.name not in volumes:
            yield not_found(here.child("name"), mount.name)
        if not mount.mount_path:
            yield required(here.child("mountPath"))
        if mount.mount_path in mount_paths:
            yield invalid(here.child("mountPath"), mount.mount_path, _UNIQUE)
        mount_paths.add(mount.mount_path)
        if mount.name in device_paths:
            rule = "must not already exist in volumeDevices"
            yield invalid(here.child("name"), mount.name, rule)
        if mount.mount_path in taken_by_devices:
            rule = "must not already exist as a path in volumeDevices"
            yield invalid(here.child("mountPath"), mount.mount_path, rule)
        yield from _validate_sub_path(mount, here, path)
        yield from _validate_propagation(mount, container, path.child("mountPropagation"))
        yield from _validate_recursive_read_only(mount, path.child("recursiveReadOnly"))
        yield from _validate_bind_options(mount, volumes, here.child("bindMountOptions"))


def validate_volume_devices(
    container: AnyContainer, volumes: dict[str, Volume], path: Path
) -> FieldErrors:
    mount_paths = {mount.name: mount.mount_path for mount in container.volume_mounts}
    taken_by_mounts = set(mount_paths.values())
    names: set[str] = set()
    paths: set[str] = set()
    for position, device in enumerate(container.volume_devices):
        here = path.index(position)
        yield from _validate_device_name(device.name, names, volumes, here.child("name"))
        yield from _validate_device_path(device, paths, here.child("devicePath"))
        if device.name in mount_paths:
            rule = "must not already exist in volumeMounts"
            yield invalid(here.child("name"), device.name, rule)
        if device.device_path in taken_by_mounts:
            rule = "must not already exist as a path in volumeMounts"
            yield invalid(here.child("devicePath"), device.device_path, rule)


def _validate_sub_path(mount: VolumeMount, here: Path, path: Path) -> FieldErrors:
    # As in Kubernetes, some errors are reported at the list instead of at the mount.
    yield from validate_descending_path(mount.sub_path, path.child("subPath"))
    if not mount.sub_path_expr:
        return
    if mount.sub_path:
        rule = "subPathExpr and subPath are mutually exclusive"
        yield invalid(here.child("subPathExpr"), mount.sub_path_expr, rule)
    yield from validate_descending_path(mount.sub_path_expr, path.child("subPathExpr"))


def _validate_propagation(mount: VolumeMount, container: AnyContainer, path: Path) -> FieldErrors:
    mode = mount.mount_propagation
    if mode is None:
        return
    if mode not in _PROPAGATIONS:
        yield not_supported(path, mode, _PROPAGATIONS)
    context = container.security_context
    privileged = context is not None and context.privileged
    if mode == "Bidirectional" and not privileged:
        rule = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden(path, rule)


def _validate_recursive_read_only(mount: VolumeMount, path: Path) -> FieldErrors:
    mode = mount.recursive_read_only
    if mode in ("Enabled", "IfPossible"):
        if not mount.read_only:
            yield forbidden(path, "may only be specified when readOnly is true")
        if mount.mount_propagation not in (None, "None"):
            rule = "may only be specified when mountPropagation is None or not specified"
            yield forbidden(path, rule)
    elif mode not in (None, "Disabled"):
        yield not_supported(path, mode, _RECURSIVE_MODES)


def _validate_bind_options(
    mount: VolumeMount, volumes: dict[str, Volume], path: Path
) -> FieldErrors:
    seen: set[str] = set()
    for position, option in enumerate(mount.bind_mount_options):
        if option not in _BIND_OPTIONS:
            yield not_supported(path.index(position), option, _BIND_OPTIONS)
        if option in seen:
            yield duplicate(path.index(position), option)
        seen.add(option)
    volume = volumes.get(mount.name)
    if seen and volume is not None and volume.image is not None:
        rule = "bindMountOptions may not be used with image volumes"
        yield invalid(path, mount.bind_mount_options, rule)


def _validate_device_name(
    name: str, names: set[str], volumes: dict[str, Volume], path: Path
) -> FieldErrors:
    if not name:
        yield required(path)
    if name in names:
        yield invalid(path, name, _UNIQUE)
    volume = volumes.get(name)
    if volume is None:
        yield not_found(path, name)
    elif volume.persistent_volume_claim is None and volume.ephemeral is None:
        rule = (
            "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        )
        yield invalid(path, name, rule)
    if name:
        names.add(name)


def _validate_device_path(device: VolumeDevice, paths: set[str], path: Path) -> FieldErrors:
    value = device.device_path
    if not value:
        yield required(path)
    if value in paths:
        yield invalid(path, value, _UNIQUE)
    if ".." in value.split("/"):
        yield invalid(path, value, "can not contain backsteps ('..')")
    else:
        paths.add(value)
