"""Validation by operating system: options of Windows, and what a pod of either system may set."""

import re
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.names import byte_length, is_dns1123_subdomain
from apis.core.pod_containers import all_containers
from apis.core.v1.pod import PodSpec
from apis.core.v1.security_context import (
    PodSecurityContext,
    SecurityContext,
    WindowsSecurityContextOptions,
)
from apis.core.validation.pod.options import PodValidationOptions

LINUX: Final = "linux"
WINDOWS: Final = "windows"

_CREDENTIALS_MAX_KIB: Final = 64
_DOMAIN_MAX: Final = 256
_USER_MAX: Final = 104
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_NETBIOS: Final = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DNS_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS: Final = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_BAD_USER: Final = frozenset('"/\\:;|=,+*?<>@[]')
_NOT_ON_WINDOWS: Final = "cannot be set for a windows pod"

# Fields of a pod and of a container that exist on Linux only, in the order of the errors.
_LINUX_POD_FIELDS: Final = {
    "app_armor_profile": "appArmorProfile",
    "se_linux_options": "seLinuxOptions",
    "seccomp_profile": "seccompProfile",
    "fs_group": "fsGroup",
    "fs_group_change_policy": "fsGroupChangePolicy",
    "sysctls": "sysctls",
    "run_as_user": "runAsUser",
    "run_as_group": "runAsGroup",
    "supplemental_groups": "supplementalGroups",
    "supplemental_groups_policy": "supplementalGroupsPolicy",
    "se_linux_change_policy": "seLinuxChangePolicy",
}
_LINUX_SPEC_FIELDS: Final = {
    "host_users": "hostUsers",
    "host_pid": "hostPID",
    "host_ipc": "hostIPC",
    "share_process_namespace": "shareProcessNamespace",
}
_LINUX_CONTAINER_FIELDS: Final = {
    "app_armor_profile": "appArmorProfile",
    "se_linux_options": "seLinuxOptions",
    "seccomp_profile": "seccompProfile",
    "capabilities": "capabilities",
    "read_only_root_filesystem": "readOnlyRootFilesystem",
    "privileged": "privileged",
    "allow_privilege_escalation": "allowPrivilegeEscalation",
    "proc_mount": "procMount",
    "run_as_user": "runAsUser",
    "run_as_group": "runAsGroup",
}


def validate_os(spec: PodSpec, path: Path) -> FieldErrors:
    """Validate the operating system of a pod, and that all its options belong to it."""
    if spec.os is None:
        return
    if not spec.os.name:
        yield required(path.child("os", "name"))
    elif spec.os.name == LINUX:
        yield from _validate_linux(spec, path)
    elif spec.os.name == WINDOWS:
        yield from _validate_windows(spec, path)
    else:
        yield not_supported(path.child("os"), spec.os.name, (LINUX, WINDOWS))


def validate_windows_options(
    options: WindowsSecurityContextOptions | None, path: Path
) -> FieldErrors:
    if options is None:
        return
    name, spec = options.gmsa_credential_spec_name, options.gmsa_credential_spec
    for error in is_dns1123_subdomain(name) if name is not None else ():
        yield invalid(path.child("gmsaCredentialSpecName"), name, error)
    if spec is not None:
        yield from _validate_credentials(spec, path.child("gmsaCredentialSpec"))
    if options.run_as_user_name is not None:
        yield from _validate_user_name(options.run_as_user_name, path.child("runAsUserName"))


def validate_host_processes(
    spec: PodSpec, path: Path, options: PodValidationOptions
) -> FieldErrors:
    """Validate that either all containers run as processes of a Windows host, or none."""
    pod = _host_process(spec.security_context)
    count = on_host = 0
    for container, here in all_containers(spec, path):
        own = _host_process(container.security_context)
        if pod is not None and own is not None and pod != own:
            shown = "true" if pod else "false"
            rule = f"pod hostProcess value must be identical if both are specified, was {shown}"
            yield invalid(here.child("securityContext", "windowsOptions", "hostProcess"), own, rule)
        count += 1
        on_host += bool(pod if own is None else own)
    if not on_host:
        return
    if on_host != count:
        rule = (
            "If pod contains any hostProcess containers then all containers "
            "must be HostProcess containers"
        )
        yield invalid(path, "", rule)
    if not spec.host_network:
        rule = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid(path.child("hostNetwork"), False, rule)
    if not options.allow_privileged:
        yield forbidden(path, "hostProcess containers are disallowed by cluster policy")


def _host_process(context: SecurityContext | PodSecurityContext | None) -> bool | None:
    if context is None or context.windows_options is None:
        return None
    return context.windows_options.host_process


def _validate_linux(spec: PodSpec, path: Path) -> FieldErrors:
    rule = "windows options cannot be set for a linux pod"
    if spec.security_context is not None and spec.security_context.windows_options is not None:
        yield forbidden(path.child("securityContext", "windowsOptions"), rule)
    for container, here in all_containers(spec, path):
        context = container.security_context
        if context is not None and context.windows_options is not None:
            yield forbidden(here.child("securityContext", "windowsOptions"), rule)


def _validate_windows(spec: PodSpec, path: Path) -> FieldErrors:
    yield from _validate_unset(
        spec.security_context, _LINUX_POD_FIELDS, path.child("securityContext")
    )
    yield from _validate_unset(spec, _LINUX_SPEC_FIELDS, path)
    for container, here in all_containers(spec, path):
        yield from _validate_unset(
            container.security_context, _LINUX_CONTAINER_FIELDS, here.child("securityContext")
        )


def _validate_unset(model: object, fields: dict[str, str], path: Path) -> FieldErrors:
    for name, wire in fields.items():
        # Lists and the plain booleans of a pod are unset when they are empty or false.
        value = getattr(model, name, None)
        if value is not None and value != [] and (value or name not in ("host_pid", "host_ipc")):
            yield forbidden(path.child(wire), _NOT_ON_WINDOWS)


def _validate_credentials(spec: str, path: Path) -> FieldErrors:
    if not spec:
        yield invalid(path, spec, "gmsaCredentialSpec cannot be an empty string")
    elif byte_length(spec) > _CREDENTIALS_MAX_KIB * 1024:
        rule = f"gmsaCredentialSpec size must be under {_CREDENTIALS_MAX_KIB} KiB"
        yield invalid(path, spec, rule)


def _validate_user_name(name: str, path: Path) -> FieldErrors:
    if not name:
        yield invalid(path, name, "runAsUserName cannot be an empty string")
    elif _CONTROL.search(name):
        yield invalid(path, name, "runAsUserName cannot contain control characters")
    elif name.count("\\") > 1:
        yield invalid(path, name, "runAsUserName cannot contain more than one backslash")
    else:
        domain, separator, user = name.rpartition("\\")
        for rule in _user_name_problems(domain if separator else None, user):
            yield invalid(path, name, f"runAsUserName's {rule}")


def _user_name_problems(domain: str | None, user: str) -> list[str]:
    """Return the broken rules about the two parts of a user name in a Windows domain."""
    length = byte_length(domain or "")
    problems = {
        f"Domain length must be under {_DOMAIN_MAX} characters": length >= _DOMAIN_MAX,
        "Domain doesn't match the NetBios nor the DNS format": (
            domain is not None and not _is_domain(domain)
        ),
        "User cannot be empty": not user,
        f"User length must not be longer than {_USER_MAX} characters": (
            byte_length(user) > _USER_MAX
        ),
        "User cannot contain only periods or spaces": bool(user) and not user.strip(". "),
        'User cannot contain the following characters: "/\\:;|=,+*?<>@[]': (
            not _BAD_USER.isdisjoint(user)
        ),
    }
    return [rule for rule, broken in problems.items() if broken]


def _is_domain(domain: str) -> bool:
    if _NETBIOS.fullmatch(domain):
        return True
    # A longer domain is refused for its length; matching it would only cost time.
    return len(domain) > _DOMAIN_MAX or bool(_DNS.fullmatch(domain))
