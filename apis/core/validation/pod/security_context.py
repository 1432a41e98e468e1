"""Validation of security contexts, of a pod and of its containers."""

import re
from collections.abc import Iterable
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from apimachinery.names import byte_length, is_group_id, is_user_id
from apis.core.v1.pod import PodSpec
from apis.core.v1.security_context import (
    AppArmorProfile,
    PodSecurityContext,
    SeccompProfile,
    SecurityContext,
    Sysctl,
)
from apis.core.validation.internal_form import internal_form
from apis.core.validation.paths import validate_descending_path
from apis.core.validation.pod.options import PodValidationOptions
from apis.core.validation.pod.windows import validate_windows_options

_PROFILE_TYPES: Final = ("Localhost", "RuntimeDefault", "Unconfined")
_PROC_MOUNTS: Final = ("Default", "Unmasked")
_FS_GROUP_POLICIES: Final = ("Always", "OnRootMismatch")
_GROUPS_POLICIES: Final = ("Merge", "Strict")
_SELINUX_POLICIES: Final = ("MountOption", "Recursive")
_PROFILE_PATH_MAX: Final = 4095
_SYSCTL_MAX: Final = 253
_SYSCTL_SEGMENT: Final = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL: Final = re.compile(rf"^({_SYSCTL_SEGMENT}[\./])*{_SYSCTL_SEGMENT}$")
_IPC_SYSCTLS: Final = frozenset(
    f"kernel.{name}"
    for name in [
        "sem",
        "shmall",
        "shmmax",
        "shmmni",
        "shm_rmid_forced",
        "shm",
        "msgmax",
        "msgmnb",
        "msgmni",
        "msg",
    ]
)


def validate_security_context(
    context: SecurityContext | None, path: Path, spec: PodSpec, options: PodValidationOptions
) -> FieldErrors:
    """Validate the security context of a container of *spec*."""
    if context is None:
        return
    if context.privileged and not options.allow_privileged:
        yield forbidden(path.child("privileged"), "disallowed by cluster policy")
    yield from _validate_user(context, path)
    yield from _validate_proc_mount(context.proc_mount, path.child("procMount"), spec)
    yield from _validate_seccomp_profile(context.seccomp_profile, path.child("seccompProfile"))
    if context.allow_privilege_escalation is False:
        yield from _validate_no_escalation(context, path, options)
    yield from validate_windows_options(context.windows_options, path.child("windowsOptions"))
    yield from _validate_app_armor(context.app_armor_profile, path.child("appArmorProfile"))


def validate_pod_security_context(
    context: PodSecurityContext | None, path: Path, spec: PodSpec, options: PodValidationOptions
) -> FieldErrors:
    if context is None:
        return
    for error in is_group_id(context.fs_group) if context.fs_group is not None else ():
        yield invalid(path.child("fsGroup"), context.fs_group, error)
    yield from _validate_user(context, path)
    for position, group in enumerate(context.supplemental_groups):
        for error in is_group_id(group):
            yield invalid(path.child("supplementalGroups").index(position), group, error)
    yield from _validate_sysctls(context.sysctls, path.child("sysctls"), spec, options)
    yield from _validate_choice(
        context.fs_group_change_policy, path.child("fsGroupChangePolicy"), _FS_GROUP_POLICIES
    )
    yield from _validate_seccomp_profile(context.seccomp_profile, path.child("seccompProfile"))
    yield from validate_windows_options(context.windows_options, path.child("windowsOptions"))
    yield from _validate_app_armor(context.app_armor_profile, path.child("appArmorProfile"))
    yield from _validate_choice(
        context.supplemental_groups_policy,
        path.child("supplementalGroupsPolicy"),
        _GROUPS_POLICIES,
    )
    yield from _validate_choice(
        context.se_linux_change_policy, path.child("seLinuxChangePolicy"), _SELINUX_POLICIES
    )


def is_host_sysctl(name: str, spec: PodSpec) -> bool:
    """Return whether a kernel parameter is one of a namespace that pod and host share."""
    name = _normalized(name)
    if spec.host_network and name.startswith("net."):
        return True
    return spec.host_ipc and (name in _IPC_SYSCTLS or name.startswith("fs.mqueue."))


def grants_system_administration(context: SecurityContext | None) -> bool:
    """Return whether a container gets CAP_SYS_ADMIN although it may not escalate privileges."""
    if context is None or context.allow_privilege_escalation or context.capabilities is None:
        return False
    return "CAP_SYS_ADMIN" in context.capabilities.add


def _validate_user(context: SecurityContext | PodSecurityContext, path: Path) -> FieldErrors:
    for error in is_user_id(context.run_as_user) if context.run_as_user is not None else ():
        yield invalid(path.child("runAsUser"), context.run_as_user, error)
    for error in is_group_id(context.run_as_group) if context.run_as_group is not None else ():
        yield invalid(path.child("runAsGroup"), context.run_as_group, error)


def _validate_proc_mount(mount: str | None, path: Path, spec: PodSpec) -> FieldErrors:
    yield from _validate_choice(mount, path, _PROC_MOUNTS)
    if mount == "Unmasked" and spec.host_users is not False:
        yield invalid(path, mount, "`hostUsers` must be false to use `Unmasked`")


def _validate_no_escalation(
    context: SecurityContext, path: Path, options: PodValidationOptions
) -> FieldErrors:
    if context.privileged:
        rule = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        yield invalid(path, internal_form(context), rule)
    if options.allow_system_administration or context.capabilities is None:
        return
    for capability in context.capabilities.add:
        if capability == "CAP_SYS_ADMIN":
            rule = (
                "cannot set `allowPrivilegeEscalation` to false "
                "and `capabilities.Add` CAP_SYS_ADMIN"
            )
            yield invalid(path, internal_form(context), rule)


def _validate_seccomp_profile(profile: SeccompProfile | None, path: Path) -> FieldErrors:
    if profile is None:
        return
    if not profile.type:
        yield required(path.child("type"), "type is required when seccompProfile is set")
    elif profile.type not in _PROFILE_TYPES:
        yield not_supported(path.child("type"), profile.type, _PROFILE_TYPES)
    here = path.child("localhostProfile")
    if profile.type != "Localhost":
        if profile.localhost_profile is not None:
            rule = "can only be set when seccomp type is Localhost"
            yield invalid(here, internal_form(profile), rule)
    elif profile.localhost_profile is None:
        yield required(here, "must be set when seccomp type is Localhost")
    else:
        yield from validate_descending_path(profile.localhost_profile, here)


def _validate_app_armor(profile: AppArmorProfile | None, path: Path) -> FieldErrors:
    if profile is None:
        return
    local = path.child("localhostProfile")
    if not profile.type:
        yield required(path.child("type"), "type is required when appArmorProfile is set")
    elif profile.type == "Localhost":
        yield from _validate_app_armor_path(profile.localhost_profile, local)
    elif profile.type not in _PROFILE_TYPES:
        yield not_supported(path.child("type"), profile.type, _PROFILE_TYPES)
    elif profile.localhost_profile is not None:
        rule = "can only be set when AppArmor type is Localhost"
        yield invalid(local, profile.localhost_profile, rule)


def _validate_app_armor_path(value: str | None, path: Path) -> FieldErrors:
    if value is None:
        yield required(path, "must be set when AppArmor type is Localhost")
        return
    if value.strip() != value:
        yield invalid(path, value, "must not be padded with whitespace")
    elif not value:
        yield required(path, "must be set when AppArmor type is Localhost")
    if byte_length(value) > _PROFILE_PATH_MAX:
        yield too_long(path, _PROFILE_PATH_MAX)


def _validate_sysctls(
    sysctls: Iterable[Sysctl], path: Path, spec: PodSpec, options: PodValidationOptions
) -> FieldErrors:
    names: set[str] = set()
    for position, sysctl in enumerate(sysctls):
        here, name = path.index(position).child("name"), sysctl.name
        if not name:
            yield required(here)
        elif len(name) > _SYSCTL_MAX or not _SYSCTL.fullmatch(name):
            rule = f"must have at most {_SYSCTL_MAX} characters and match regex {_SYSCTL.pattern}"
            yield invalid(here, name, rule)
        elif name in names:
            yield duplicate(here, name)
        if is_host_sysctl(name, spec) and not options.allow_host_sysctls:
            shared = "hostNetwork" if _normalized(name).startswith("net.") else "hostIPC"
            yield invalid(here, name, f"may not be specified when '{shared}' is true")
        names.add(name)


def _normalized(name: str) -> str:
    """Return a sysctl name with dots between its parts, which may be written with slashes."""
    separator = min((name.find(character) for character in "./" if character in name), default=-1)
    if separator < 0 or name[separator] == ".":
        return name.partition("*")[0]
    swapped = name.translate(str.maketrans("./", "/."))
    return swapped.partition("*")[0]


def _validate_choice(value: str | None, path: Path, choices: tuple[str, ...]) -> FieldErrors:
    if value is not None and value not in choices:
        yield not_supported(path, value, choices)
