"""Checks: which of them a level has in a version of Kubernetes, and what they find.

A check changes with the releases of Kubernetes; a namespace may pin the version whose checks it
wants. The checks run in the order of their identifiers, those of the baseline level first; a
restricted check may take the place of a baseline check.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from apis.core.pod_security import baseline_checks as baseline
from apis.core.pod_security import restricted_checks as restricted
from apis.core.pod_security.baseline_checks import unless_own_users, unless_windows
from apis.core.pod_security.levels import Level, LevelVersion
from apis.core.pod_security.violation import Check, PodToCheck, Violation

NEWEST: Final = 37
"""The newest release that changed a check; later versions are the same."""

_SELINUX_TYPES: Final = frozenset(("", "container_t", "container_init_t", "container_kvm_t"))
_SYSCTLS_0: Final = frozenset(
    (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
    )
)
_SYSCTLS_27: Final = _SYSCTLS_0 | {"net.ipv4.ip_local_reserved_ports"}
_SYSCTLS_29: Final = _SYSCTLS_27 | {
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
}
_SYSCTLS_32: Final = _SYSCTLS_29 | {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}
_SYSCTLS_37: Final = _SYSCTLS_32 | {
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_notsent_lowat",
}


@dataclass(frozen=True, slots=True)
class VersionedCheck:
    """A check of a level, as it is from each of some minor versions on."""

    level: Level
    versions: Mapping[int, Check]
    replaces: str = ""
    """The baseline check that is not needed beside it."""

    def at(self, minor: int) -> Check | None:
        known = [version for version in self.versions if version <= minor]
        return self.versions[max(known)] if known else None


_BASELINE: Final[Mapping[str, Mapping[int, Check]]] = {
    "appArmorProfile": {0: baseline.app_armor_profile},
    "capabilities_baseline": {0: baseline.capabilities},
    "hostNamespaces": {0: baseline.host_namespaces},
    "hostPathVolumes": {0: baseline.host_path_volumes},
    "hostPorts": {0: baseline.host_ports},
    "hostProbesAndHostLifecycle": {34: baseline.probe_hosts},
    "privileged": {0: baseline.privileged},
    "procMount": {0: baseline.proc_mount, 35: unless_own_users(baseline.proc_mount)},
    "seLinuxOptions": {
        0: baseline.se_linux_options(_SELINUX_TYPES),
        31: baseline.se_linux_options(_SELINUX_TYPES | {"container_engine_t"}),
    },
    "seccompProfile_baseline": {0: baseline.seccomp_annotations, 19: baseline.seccomp_profile},
    "sysctls": {
        0: baseline.sysctls(_SYSCTLS_0),
        27: baseline.sysctls(_SYSCTLS_27),
        29: baseline.sysctls(_SYSCTLS_29),
        32: baseline.sysctls(_SYSCTLS_32),
        37: baseline.sysctls(_SYSCTLS_37),
    },
    "windowsHostProcess": {0: baseline.windows_host_process},
}

CHECKS: Final[Mapping[str, VersionedCheck]] = {
    **{name: VersionedCheck(Level.BASELINE, versions) for name, versions in _BASELINE.items()},
    "allowPrivilegeEscalation": VersionedCheck(
        Level.RESTRICTED,
        {
            8: restricted.privilege_escalation,
            25: unless_windows(restricted.privilege_escalation),
        },
    ),
    "capabilities_restricted": VersionedCheck(
        Level.RESTRICTED,
        {
            22: restricted.dropped_capabilities,
            25: unless_windows(restricted.dropped_capabilities),
        },
        replaces="capabilities_baseline",
    ),
    "procMount_restricted": VersionedCheck(
        Level.RESTRICTED, {35: baseline.proc_mount}, replaces="procMount"
    ),
    "restrictedVolumes": VersionedCheck(
        Level.RESTRICTED, {0: restricted.volume_types}, replaces="hostPathVolumes"
    ),
    "runAsNonRoot": VersionedCheck(
        Level.RESTRICTED,
        {0: restricted.run_as_non_root, 35: unless_own_users(restricted.run_as_non_root)},
    ),
    "runAsUser": VersionedCheck(
        Level.RESTRICTED,
        {23: restricted.run_as_user, 35: unless_own_users(restricted.run_as_user)},
    ),
    "seccompProfile_restricted": VersionedCheck(
        Level.RESTRICTED,
        {
            19: restricted.required_seccomp_profile,
            25: unless_windows(restricted.required_seccomp_profile),
        },
        replaces="seccompProfile_baseline",
    ),
}


def violations(demand: LevelVersion, pod: PodToCheck) -> list[Violation]:
    """Return why *pod* is not allowed at a level; nothing if it is."""
    if demand.level is Level.PRIVILEGED:
        return []
    minor = demand.version.minor
    checks = _checks_of(demand.level, NEWEST if minor is None else min(minor, NEWEST))
    return [found for check in checks if (found := check(pod)) is not None]


@cache
def _checks_of(level: Level, minor: int) -> Sequence[Check]:
    found = {
        name: check
        for name, versioned in CHECKS.items()
        if versioned.level <= level and (check := versioned.at(minor)) is not None
    }
    replaced = {CHECKS[name].replaces for name in found}
    order = sorted(found, key=lambda name: (CHECKS[name].level, name))
    return [found[name] for name in order if name not in replaced]
