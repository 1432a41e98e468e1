"""Validation of annotations that have a meaning for pods.

Some of them are older than the fields that replaced them (tolerations, seccomp, AppArmor). If a
new pod has both, they must agree.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden, invalid, quote
from apis.core.pod_containers import all_containers
from apis.core.v1.pod import PodSpec
from apis.core.v1.scheduling import Toleration
from apis.core.v1.security_context import AppArmorProfile, SeccompProfile
from apis.core.validation.paths import validate_descending_path
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.tolerations import validate_tolerations

MIRROR_POD: Final = "kubernetes.io/config.mirror"
TOLERATIONS: Final = "scheduler.alpha.kubernetes.io/tolerations"
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_PREFIX: Final = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR_PREFIX: Final = "container.apparmor.security.beta.kubernetes.io/"

RUNTIME_DEFAULT: Final = "runtime/default"
DOCKER_DEFAULT: Final = "docker/default"
UNCONFINED: Final = "unconfined"
LOCALHOST_PREFIX: Final = "localhost/"

_COST: Final = re.compile(r"0|-[0-9]+|[1-9][0-9]*", re.ASCII)
_COST_DIGITS_MAX: Final = 64


def validate_pod_annotations(
    annotations: Mapping[str, str], spec: PodSpec, path: Path, options: PodValidationOptions
) -> FieldErrors:
    if MIRROR_POD in annotations and not spec.node_name:
        rule = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(path.key(MIRROR_POD), annotations[MIRROR_POD], rule)
    if annotations.get(TOLERATIONS):
        yield from _validate_tolerations(annotations[TOLERATIONS], path)
    if not (options.allow_invalid_deletion_cost or has_valid_deletion_cost(annotations)):
        yield invalid(
            path.key(DELETION_COST), annotations[DELETION_COST], "must be a 32bit integer"
        )
    if SECCOMP_POD in annotations:
        yield from _validate_seccomp(annotations[SECCOMP_POD], path.child(SECCOMP_POD))
    for key in sorted(annotations):
        if key.startswith(SECCOMP_PREFIX):
            yield from _validate_seccomp(annotations[key], path.child(key))
    yield from _validate_app_armor(annotations, spec, path)


def validate_annotation_changes(
    new: Mapping[str, str], old: Mapping[str, str], path: Path
) -> FieldErrors:
    """Validate that an update keeps the annotations that are fixed when a pod is created."""
    for key in sorted(old):
        if new.get(key) == old[key]:
            continue
        if key.startswith(APP_ARMOR_PREFIX):
            yield forbidden(path.key(key), "may not remove or update AppArmor annotations")
        if key == MIRROR_POD:
            yield forbidden(path.key(key), "may not remove or update mirror pod annotation")
    for key in sorted(new.keys() - old.keys()):
        if key.startswith(APP_ARMOR_PREFIX):
            yield forbidden(path.key(key), "may not add AppArmor annotations")
        if key == MIRROR_POD:
            yield forbidden(path.key(key), "may not add mirror pod annotation")


def validate_profiles_agree(
    annotations: Mapping[str, str], spec: PodSpec, path: Path
) -> FieldErrors:
    """Validate that profiles in annotations and in fields of a new pod are the same."""
    yield from _validate_seccomp_agrees(annotations, spec, path)
    if spec.os is not None and spec.os.name == "windows":
        return
    context = spec.security_context
    inherited = context.app_armor_profile if context is not None else None
    for container, here in all_containers(spec, path):
        own = container.security_context
        profile = (own.app_armor_profile if own is not None else None) or inherited
        annotation = annotations.get(APP_ARMOR_PREFIX + container.name)
        if profile is not None and annotation is not None:
            where = here.child("securityContext", "appArmorProfile")
            yield from _validate_agreement(annotation, profile, where, "apparmor")


def has_valid_deletion_cost(annotations: Mapping[str, str]) -> bool:
    """Return whether the deletion cost, if there is one, is a 32-bit integer."""
    cost = annotations.get(DELETION_COST)
    if cost is None:
        return True
    if len(cost) > _COST_DIGITS_MAX or not _COST.fullmatch(cost):
        return False
    return -(2**31) <= int(cost) < 2**31


def _validate_tolerations(text: str, path: Path) -> FieldErrors:
    try:
        tolerations = _parse_tolerations(json.loads(text))
    except ValueError as error:
        yield invalid(path, TOLERATIONS, str(error))
    else:
        yield from validate_tolerations(tolerations, path.child(TOLERATIONS))


def _parse_tolerations(items: Any) -> list[Toleration]:
    """Return tolerations from decoded JSON; as in Go, case does not matter in names of fields."""
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ValueError("json: cannot unmarshal into Go value of type []core.Toleration")
    tolerations = []
    for item in items:
        fields = {key.lower(): value for key, value in item.items() if value is not None}
        texts = {name: fields.get(name, "") for name in ("key", "operator", "value", "effect")}
        seconds = fields.get("tolerationseconds")
        if not all(isinstance(text, str) for text in texts.values()) or not isinstance(
            seconds, int | None
        ):
            raise ValueError("json: cannot unmarshal into Go struct of type core.Toleration")
        tolerations.append(Toleration(**texts, toleration_seconds=seconds))
    return tolerations


def _validate_seccomp(profile: str, path: Path) -> FieldErrors:
    if profile.startswith(LOCALHOST_PREFIX):
        yield from validate_descending_path(profile.removeprefix(LOCALHOST_PREFIX), path)
    elif profile not in (RUNTIME_DEFAULT, DOCKER_DEFAULT, UNCONFINED):
        yield invalid(path, profile, "must be a valid seccomp profile")


def _validate_app_armor(annotations: Mapping[str, str], spec: PodSpec, path: Path) -> FieldErrors:
    keys = sorted(key for key in annotations if key.startswith(APP_ARMOR_PREFIX))
    if not keys:
        return
    names = {container.name for container, _ in all_containers(spec, path)}
    for key in keys:
        name, profile = key.removeprefix(APP_ARMOR_PREFIX), annotations[key]
        if name not in names:
            yield invalid(path.key(key), name, "container not found")
        known = profile in ("", RUNTIME_DEFAULT, UNCONFINED)
        if not known and not profile.startswith(LOCALHOST_PREFIX):
            rule = f"invalid AppArmor profile name: {quote(profile)}"
            yield invalid(path.key(key), profile, rule)


def _validate_seccomp_agrees(
    annotations: Mapping[str, str], spec: PodSpec, path: Path
) -> FieldErrors:
    context = spec.security_context
    if context is not None and context.seccomp_profile is not None and SECCOMP_POD in annotations:
        here = path.child("securityContext", "seccompProfile")
        yield from _validate_agreement(
            annotations[SECCOMP_POD], context.seccomp_profile, here, "seccomp"
        )
    for container, where in all_containers(spec, path):
        own = container.security_context
        profile = own.seccomp_profile if own is not None else None
        annotation = annotations.get(SECCOMP_PREFIX + container.name)
        if profile is not None and annotation is not None:
            here = where.child("securityContext", "seccompProfile")
            yield from _validate_agreement(annotation, profile, here, "seccomp")


def _validate_agreement(
    annotation: str, profile: SeccompProfile | AppArmorProfile, path: Path, kind: str
) -> FieldErrors:
    defaults = (RUNTIME_DEFAULT, DOCKER_DEFAULT) if kind == "seccomp" else (RUNTIME_DEFAULT,)
    agrees = {
        "Unconfined": annotation == UNCONFINED,
        "RuntimeDefault": annotation in defaults,
        "Localhost": annotation.startswith(LOCALHOST_PREFIX),
    }
    if not agrees.get(profile.type, True):
        yield forbidden(path.child("type"), f"{kind} type in annotation and field must match")
        return
    local = annotation.removeprefix(LOCALHOST_PREFIX)
    if profile.type == "Localhost" and local != profile.localhost_profile:
        rule = f"{kind} profile in annotation and field must match"
        yield forbidden(path.child("localhostProfile"), rule)
