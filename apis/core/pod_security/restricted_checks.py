"""Restricted checks: what a hardened pod says about itself, beside all that baseline checks."""

from typing import Final

from apis.core.pod_containers import AnyContainer
from apis.core.pod_security.baseline_checks import seccomp_profile
from apis.core.pod_security.violation import (
    PodToCheck,
    Violation,
    containers,
    plural,
    quoted,
    setters,
    uses,
)
from apis.core.v1.volume import Volume

_ALLOWED_SOURCES: Final = (
    "config_map",
    "csi",
    "downward_api",
    "empty_dir",
    "ephemeral",
    "image",
    "persistent_volume_claim",
    "projected",
    "secret",
)
_OTHER_SOURCES: Final = {
    "host_path": "hostPath",
    "gce_persistent_disk": "gcePersistentDisk",
    "aws_elastic_block_store": "awsElasticBlockStore",
    "git_repo": "gitRepo",
    "nfs": "nfs",
    "iscsi": "iscsi",
    "glusterfs": "glusterfs",
    "rbd": "rbd",
    "flex_volume": "flexVolume",
    "cinder": "cinder",
    "cephfs": "cephfs",
    "flocker": "flocker",
    "fc": "fc",
    "azure_file": "azureFile",
    "vsphere_volume": "vsphereVolume",
    "quobyte": "quobyte",
    "azure_disk": "azureDisk",
    "photon_persistent_disk": "photonPersistentDisk",
    "portworx_volume": "portworxVolume",
    "scale_io": "scaleIO",
    "storageos": "storageos",
}
_ALL: Final = "ALL"
_NET_BIND_SERVICE: Final = "NET_BIND_SERVICE"


def privilege_escalation(pod: PodToCheck) -> Violation | None:
    names = pod.containers_with(
        lambda container: (
            (own := container.security_context) is None
            or own.allow_privilege_escalation is not False
        )
    )
    if not names:
        return None
    return Violation(
        "allowPrivilegeEscalation != false",
        f"{containers(names)} must set securityContext.allowPrivilegeEscalation=false",
    )


def dropped_capabilities(pod: PodToCheck) -> Violation | None:
    added: set[str] = set()

    def keeps_some(container: AnyContainer) -> bool:
        context = container.security_context
        return not (context and context.capabilities and _ALL in context.capabilities.drop)

    def adds_some(container: AnyContainer) -> bool:
        context = container.security_context
        if context is None or context.capabilities is None:
            return False
        own = set(context.capabilities.add) - {_NET_BIND_SERVICE}
        added.update(own)
        return bool(own)

    keeping, adding = pod.containers_with(keeps_some), pod.containers_with(adds_some)
    details = []
    if keeping:
        details.append(f'{containers(keeping)} must set securityContext.capabilities.drop=["ALL"]')
    if adding:
        details.append(
            f"{containers(adding)} must not include {quoted(sorted(added))}"
            " in securityContext.capabilities.add"
        )
    return Violation("unrestricted capabilities", "; ".join(details)) if details else None


def volume_types(pod: PodToCheck) -> Violation | None:
    bad = {
        volume.name: _source_name(volume)
        for volume in pod.spec.volumes
        if not any(getattr(volume, source) is not None for source in _ALLOWED_SOURCES)
    }
    if not bad:
        return None
    types = sorted(set(bad.values()))
    what = plural("restricted volume type", types)
    return Violation(
        "restricted volume types",
        f"{plural('volume', bad)} {quoted(bad)} {uses(bad)} {what} {quoted(types)}",
    )


def run_as_non_root(pod: PodToCheck) -> Violation | None:
    context = pod.spec.security_context
    of_pod = context.run_as_non_root if context else None
    denying = pod.containers_with(
        lambda container: (
            (own := container.security_context) is not None and own.run_as_non_root is False
        )
    )
    reason = "runAsNonRoot != true"
    if denying or of_pod is False:
        who = setters(denying, pod=of_pod is False)
        return Violation(reason, f"{who} must not set securityContext.runAsNonRoot=false")
    if of_pod:
        return None
    silent = pod.containers_with(
        lambda container: (own := container.security_context) is None or own.run_as_non_root is None
    )
    if not silent:
        return None
    return Violation(
        reason, f"pod or {containers(silent)} must set securityContext.runAsNonRoot=true"
    )


def run_as_user(pod: PodToCheck) -> Violation | None:
    context = pod.spec.security_context
    of_pod = context is not None and context.run_as_user == 0
    names = pod.containers_with(
        lambda container: (own := container.security_context) is not None and own.run_as_user == 0
    )
    if not names and not of_pod:
        return None
    return Violation("runAsUser=0", f"{setters(names, pod=of_pod)} must not set runAsUser=0")


def required_seccomp_profile(pod: PodToCheck) -> Violation | None:
    if violation := seccomp_profile(pod):
        return violation
    context = pod.spec.security_context
    if context is not None and context.seccomp_profile is not None:
        return None
    silent = pod.containers_with(
        lambda container: (own := container.security_context) is None or own.seccomp_profile is None
    )
    if not silent:
        return None
    return Violation(
        "seccompProfile",
        f"pod or {containers(silent)} must set securityContext.seccompProfile.type to"
        ' "RuntimeDefault" or "Localhost"',
    )


def _source_name(volume: Volume) -> str:
    sources = (wire for name, wire in _OTHER_SOURCES.items() if getattr(volume, name) is not None)
    return next(sources, "unknown")
