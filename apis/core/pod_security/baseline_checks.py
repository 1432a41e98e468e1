"""Baseline checks: what lets a container break out of its pod, or meddle with the node."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from apimachinery.fieldpath import quote
from apis.core.pod_containers import AnyContainer
from apis.core.pod_security.violation import (
    Check,
    PodToCheck,
    Violation,
    containers,
    plural,
    quoted,
    setters,
    uses,
)
from apis.core.v1.security_context import (
    AppArmorProfile,
    PodSecurityContext,
    SeccompProfile,
    SecurityContext,
    SELinuxOptions,
)

DEFAULT_CAPABILITIES: Final = frozenset(
    (
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    )
)
"""The capabilities that container runtimes give without being asked."""

_APP_ARMOR_ANNOTATION: Final = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_OF_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_OF_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_PROFILES: Final = ("RuntimeDefault", "Localhost")
_DEFAULT_PROC_MOUNT: Final = "Default"


def host_namespaces(pod: PodToCheck) -> Violation | None:
    flags = {
        "hostNetwork": pod.spec.host_network,
        "hostPID": pod.spec.host_pid,
        "hostIPC": pod.spec.host_ipc,
    }
    shared = [f"{name}=true" for name, is_set in flags.items() if is_set]
    return Violation("host namespaces", ", ".join(shared)) if shared else None


def host_path_volumes(pod: PodToCheck) -> Violation | None:
    names = [volume.name for volume in pod.spec.volumes if volume.host_path is not None]
    if not names:
        return None
    return Violation("hostPath volumes", f"{plural('volume', names)} {quoted(names)}")


def host_ports(pod: PodToCheck) -> Violation | None:
    ports: set[str] = set()

    def is_bad(container: AnyContainer) -> bool:
        own = [str(port.host_port) for port in container.ports if port.host_port]
        ports.update(own)
        return bool(own)

    names = pod.containers_with(is_bad)
    if not names:
        return None
    detail = f"{containers(names)} {uses(names)} {plural('hostPort', ports)}"
    return Violation("hostPort", f"{detail} {', '.join(sorted(ports))}")


def probe_hosts(pod: PodToCheck) -> Violation | None:
    """Probes and hooks of another host make the kubelet send requests there."""
    hosts: set[str] = set()

    def is_bad(container: AnyContainer) -> bool:
        own = set(_handler_hosts(container))
        hosts.update(own)
        return bool(own)

    names = sorted(set(pod.containers_with(is_bad)))
    if not names:
        return None
    what = plural("probe or lifecycle host", hosts)
    return Violation(
        "probe or lifecycle host",
        f"{containers(names)} {uses(names)} {what} {quoted(sorted(hosts))}",
    )


def privileged(pod: PodToCheck) -> Violation | None:
    names = pod.containers_with(
        lambda container: bool(container.security_context and container.security_context.privileged)
    )
    if not names:
        return None
    return Violation(
        "privileged", f"{containers(names)} must not set securityContext.privileged=true"
    )


def proc_mount(pod: PodToCheck) -> Violation | None:
    types: set[str] = set()

    def is_bad(container: AnyContainer) -> bool:
        context = container.security_context
        if context is None or context.proc_mount in (None, _DEFAULT_PROC_MOUNT):
            return False
        types.add(str(context.proc_mount))
        return True

    names = pod.containers_with(is_bad)
    if not names:
        return None
    return Violation(
        "procMount",
        f"{containers(names)} must not set securityContext.procMount to {quoted(sorted(types))}",
    )


def capabilities(pod: PodToCheck) -> Violation | None:
    added: set[str] = set()

    def is_bad(container: AnyContainer) -> bool:
        context = container.security_context
        if context is None or context.capabilities is None:
            return False
        own = set(context.capabilities.add) - DEFAULT_CAPABILITIES
        added.update(own)
        return bool(own)

    names = pod.containers_with(is_bad)
    if not names:
        return None
    return Violation(
        "non-default capabilities",
        f"{containers(names)} must not include {quoted(sorted(added))}"
        " in securityContext.capabilities.add",
    )


def windows_host_process(pod: PodToCheck) -> Violation | None:
    context = pod.spec.security_context
    of_pod = bool(context and context.windows_options and context.windows_options.host_process)
    names = pod.containers_with(
        lambda container: bool(
            (own := container.security_context)
            and own.windows_options
            and own.windows_options.host_process
        )
    )
    if not names and not of_pod:
        return None
    return Violation(
        "hostProcess",
        f"{setters(names, pod=of_pod)} must not set"
        " securityContext.windowsOptions.hostProcess=true",
    )


def app_armor_profile(pod: PodToCheck) -> Violation | None:
    bad = _bad_profiles(pod, lambda context: context.app_armor_profile)
    who = [bad.setters] if bad.types else []
    annotations = sorted(
        f"{key}={quote(value)}"
        for key, value in pod.annotations.items()
        if key.startswith(_APP_ARMOR_ANNOTATION) and not _is_allowed_app_armor(value)
    )
    if annotations:
        who.append(plural("annotation", annotations))
    if not who:
        return None
    values = [*bad.types, *annotations]
    return Violation(
        plural("forbidden AppArmor profile", values),
        f"{' and '.join(who)} must not set AppArmor profile type to {quoted(values)}",
    )


def seccomp_annotations(pod: PodToCheck) -> Violation | None:
    keys = {_SECCOMP_OF_POD, *(_SECCOMP_OF_CONTAINER + each.name for each in pod.containers())}
    found = sorted(
        f"{key}={quote(pod.annotations[key])}"
        for key in keys
        if key in pod.annotations and not _is_allowed_seccomp(pod.annotations[key])
    )
    if not found:
        return None
    return Violation(
        "seccompProfile", f"forbidden {plural('annotation', found)} {', '.join(found)}"
    )


def seccomp_profile(pod: PodToCheck) -> Violation | None:
    bad = _bad_profiles(pod, lambda context: context.seccomp_profile)
    if not bad.types:
        return None
    return Violation(
        "seccompProfile",
        f"{bad.setters} must not set securityContext.seccompProfile.type to {quoted(bad.types)}",
    )


def se_linux_options(allowed: frozenset[str]) -> Check:
    """Return the check that accepts these types; the empty one is always among them."""

    def check(pod: PodToCheck) -> Violation | None:
        bad: list[SELinuxOptions] = []

        def is_bad(options: SELinuxOptions | None) -> bool:
            if options is None or not (options.user or options.role or options.type not in allowed):
                return False
            bad.append(options)
            return True

        context = pod.spec.security_context
        of_pod = is_bad(context.se_linux_options if context else None)
        names = pod.containers_with(
            lambda container: is_bad(
                own.se_linux_options if (own := container.security_context) else None
            )
        )
        if not bad:
            return None
        return Violation(
            "seLinuxOptions",
            f"{setters(names, pod=of_pod)} set forbidden securityContext.seLinuxOptions:"
            f" {_se_linux_problems(bad, allowed)}",
        )

    return check


def sysctls(allowed: frozenset[str]) -> Check:
    """Return the check that accepts these sysctls."""

    def check(pod: PodToCheck) -> Violation | None:
        context = pod.spec.security_context
        names = [each.name for each in context.sysctls] if context else []
        bad = [name for name in names if name not in allowed]
        return Violation("forbidden sysctls", ", ".join(bad)) if bad else None

    return check


def unless_own_users(check: Check) -> Check:
    """Return the check for pods whose users are those of the node."""
    return lambda pod: None if pod.has_own_users else check(pod)


def unless_windows(check: Check) -> Check:
    """Return the check for pods that are not said to run on Windows."""
    return lambda pod: None if pod.is_windows else check(pod)


@dataclass(frozen=True, slots=True)
class _BadProfiles:
    """The types of profiles that confine nothing, in order, and the words for who has them."""

    types: list[str]
    setters: str


def _bad_profiles(
    pod: PodToCheck,
    profile_of: Callable[
        [SecurityContext | PodSecurityContext], AppArmorProfile | SeccompProfile | None
    ],
) -> _BadProfiles:
    types: set[str] = set()

    def is_bad(context: SecurityContext | PodSecurityContext | None) -> bool:
        profile = profile_of(context) if context is not None else None
        if profile is None or profile.type in _PROFILES:
            return False
        types.add(profile.type)
        return True

    of_pod = is_bad(pod.spec.security_context)
    names = pod.containers_with(lambda container: is_bad(container.security_context))
    return _BadProfiles(sorted(types), setters(names, pod=of_pod))


def _handler_hosts(container: AnyContainer) -> list[str]:
    lifecycle = container.lifecycle
    handlers = (
        container.liveness_probe,
        container.readiness_probe,
        container.startup_probe,
        lifecycle.post_start if lifecycle else None,
        lifecycle.pre_stop if lifecycle else None,
    )
    actions = [
        action
        for handler in handlers
        if handler is not None
        for action in (handler.http_get, handler.tcp_socket)
    ]
    return [action.host for action in actions if action is not None and action.host]


def _is_allowed_app_armor(profile: str) -> bool:
    return profile in ("", "runtime/default") or profile.startswith("localhost/")


def _is_allowed_seccomp(profile: str) -> bool:
    return profile in ("runtime/default", "docker/default") or profile.startswith("localhost/")


def _se_linux_problems(bad: list[SELinuxOptions], allowed: frozenset[str]) -> str:
    types = sorted({options.type for options in bad if options.type not in allowed})
    problems = [f"{plural('type', types)} {quoted(types)}"] if types else []
    if any(options.user for options in bad):
        problems.append("user may not be set")
    if any(options.role for options in bad):
        problems.append("role may not be set")
    return "; ".join(problems)
