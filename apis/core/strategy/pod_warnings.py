"""Warnings about pods and pod templates that are valid and still unlikely to be meant."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from apimachinery.fieldpath import Path, quote
from apimachinery.ip_addresses import ip_warnings
from apimachinery.meta.types import ObjectMeta
from apimachinery.names import is_label_value
from apimachinery.scalars.quantity import Quantity
from apis.core.strategy.pod_disabled_fields import AnyContainer
from apis.core.strategy.pod_preparation import APP_ARMOR_ANNOTATION, app_armor_profile
from apis.core.v1.container import ContainerPort
from apis.core.v1.env import EnvVar
from apis.core.v1.pod import PodSpec
from apis.core.v1.pod_template import PodTemplateSpec
from apis.core.v1.scheduling import NodeSelectorTerm, PodAffinity, PodAntiAffinity
from apis.core.v1.volume import Volume
from apis.core.validation.node_labels import DEPRECATED_NODE_LABELS

MAX_WARNINGS: Final = 256
"""The maximum number of warnings that a response can have: more are not searched for."""

_ANNOTATIONS: Final[Mapping[str, str]] = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
    "security.alpha.kubernetes.io/unsafe-sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
}
_SECCOMP_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
_SECCOMP: Final = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_APP_ARMOR: Final = 'deprecated since v1.30; use the "appArmorProfile" field instead'

_VOLUMES: Final[Mapping[str, tuple[str, str]]] = {
    "photon_persistent_disk": (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    "git_repo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scale_io": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
_BYTES: Final = ("memory", "ephemeral-storage")


def pod_warnings(spec: PodSpec, metadata: ObjectMeta, path: Path) -> Iterator[str]:
    """Yield the warnings about a pod; *path* is that of a pod template, else empty."""
    return islice(_all(spec, metadata, path), MAX_WARNINGS)


def template_warnings(template: PodTemplateSpec, path: Path) -> Iterator[str]:
    """Yield the warnings about a pod template."""
    return pod_warnings(template.spec, template.metadata, path)


def app_armor_warnings(spec: PodSpec, metadata: ObjectMeta, path: Path) -> Iterator[str]:
    """Yield the warnings about annotations in place of AppArmor profiles.

    They come first for a pod, whose profiles the server has set from the annotations.
    """
    context = spec.security_context
    pod_profile = context.app_armor_profile if context is not None else None
    for container, _ in _containers(spec, path):
        name = f"{APP_ARMOR_ANNOTATION}{container.name}"
        own = container.security_context
        has_field = own is not None and own.app_armor_profile is not None and not path.empty
        if name not in metadata.annotations or has_field:
            continue
        profile = app_armor_profile(metadata.annotations[name])
        if profile is None or profile != pod_profile:
            yield f"{path.child('metadata', 'annotations').key(name)}: {_APP_ARMOR}"


def _all(spec: PodSpec, metadata: ObjectMeta, path: Path) -> Iterator[str]:
    place = path.child("spec")
    yield from _node_label_warnings(spec, place)
    for name, text in _ANNOTATIONS.items():
        if name in metadata.annotations:
            yield f"{path.child('metadata', 'annotations').key(name)}: {text}"
    yield from _volume_warnings(spec.volumes, place.child("volumes"))
    yield from _duplicate_warnings(spec, place)
    yield from _amount_warnings(spec.overhead, place.child("overhead"))
    yield from _annotation_warnings(spec, metadata, path)
    for container, container_path in _containers(spec, place):
        yield from _container_warnings(container, container_path)
    yield from _port_warnings(spec, place)
    if (spec.termination_grace_period_seconds or 0) < 0:
        rule = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{place.child('terminationGracePeriodSeconds')}: {rule}"
    yield from _affinity_warnings(spec, place.child("affinity"))
    if spec.dns_config is not None:
        for position, server in enumerate(spec.dns_config.nameservers):
            yield from ip_warnings(server, place.child("dnsConfig", "nameservers").index(position))
    for position, alias in enumerate(spec.host_aliases):
        yield from ip_warnings(alias.ip, place.child("hostAliases").index(position).child("ip"))


def _containers(spec: PodSpec, path: Path) -> Iterator[tuple[AnyContainer, Path]]:
    lists: tuple[tuple[str, Iterable[AnyContainer]], ...] = (
        ("initContainers", spec.init_containers),
        ("containers", spec.containers),
        ("ephemeralContainers", spec.ephemeral_containers),
    )
    for name, containers in lists:
        for position, container in enumerate(containers):
            yield container, path.child(name).index(position)


def _node_label_warnings(spec: PodSpec, path: Path) -> Iterator[str]:
    for name in sorted(spec.node_selector.keys() & DEPRECATED_NODE_LABELS.keys()):
        yield f"{path.child('nodeSelector').key(name)}: {DEPRECATED_NODE_LABELS[name]}"
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    if affinity is not None:
        place = path.child("affinity", "nodeAffinity")
        required = affinity.required_during_scheduling_ignored_during_execution
        terms = required.node_selector_terms if required is not None else []
        name = "requiredDuringSchedulingIgnoredDuringExecution"
        for position, term in enumerate(terms):
            where = place.child(name, "nodeSelectorTerms").index(position)
            yield from _term_warnings(term, where, with_values=False)
        name = "preferredDuringSchedulingIgnoredDuringExecution"
        preferred = affinity.preferred_during_scheduling_ignored_during_execution
        for position, choice in enumerate(preferred):
            where = place.child(name).index(position).child("preference")
            yield from _term_warnings(choice.preference, where, with_values=True)
    for position, constraint in enumerate(spec.topology_spread_constraints):
        where = path.child("topologySpreadConstraints").index(position)
        if constraint.topology_key in DEPRECATED_NODE_LABELS:
            text = DEPRECATED_NODE_LABELS[constraint.topology_key]
            yield f"{where.child('topologyKey')}: {constraint.topology_key} is {text}"
        if constraint.label_selector is None:
            yield _without_selector(where.child("labelSelector"))


def _term_warnings(term: NodeSelectorTerm, path: Path, *, with_values: bool) -> Iterator[str]:
    for position, expression in enumerate(term.match_expressions):
        place = path.child("matchExpressions").index(position)
        if expression.key in DEPRECATED_NODE_LABELS:
            text = DEPRECATED_NODE_LABELS[expression.key]
            yield f"{place.child('key')}: {expression.key} is {text}"
        for index, value in enumerate(expression.values if with_values else ()):
            for problem in is_label_value(value):
                yield f"{place.child('values').index(index)}: {value} is invalid, {problem}"


def _volume_warnings(volumes: Iterable[Volume], path: Path) -> Iterator[str]:
    for position, volume in enumerate(volumes):
        for name, (wire, text) in _VOLUMES.items():
            if getattr(volume, name) is not None:
                yield f"{path.index(position).child(wire)}: {text}"


def _duplicate_warnings(spec: PodSpec, path: Path) -> Iterator[str]:
    seen: set[str] = set()
    for position, alias in enumerate(spec.host_aliases):
        if alias.ip in seen:
            place = path.child("hostAliases").index(position).child("ip")
            yield f"{place}: duplicate ip {quote(alias.ip)}"
        seen.add(alias.ip)
    seen = set()
    for position, secret in enumerate(spec.image_pull_secrets):
        place = path.child("imagePullSecrets").index(position).child("name")
        if secret.name in seen:
            yield f"{place}: duplicate name {quote(secret.name)}"
        seen.add(secret.name)
        if not secret.name:
            yield f'{place}: invalid empty name ""'


def _amount_warnings(amounts: Mapping[str, Quantity], path: Path) -> Iterator[str]:
    for name in _BYTES:
        amount = amounts.get(name)
        if amount is not None and amount.milli_value() % 1000:
            text = f'fractional byte value "{amount}" is invalid, must be an integer'
            yield f"{path.key(name)}: {text}"


def _annotation_warnings(spec: PodSpec, metadata: ObjectMeta, path: Path) -> Iterator[str]:
    annotations, place = metadata.annotations, path.child("metadata", "annotations")
    context = spec.security_context
    if _SECCOMP_POD in annotations and (context is None or context.seccomp_profile is None):
        yield f"{place.key(_SECCOMP_POD)}: {_SECCOMP}"
    for container, _ in _containers(spec, path):
        own = container.security_context
        name = f"{_SECCOMP_CONTAINER}{container.name}"
        if name in annotations and (own is None or own.seccomp_profile is None):
            yield f"{place.key(name)}: {_SECCOMP}"
    if not path.empty:
        yield from app_armor_warnings(spec, metadata, path)


def _container_warnings(container: AnyContainer, path: Path) -> Iterator[str]:
    for name in _BYTES:
        for kind in ("limits", "requests"):
            amounts: Mapping[str, Quantity] = getattr(container.resources, kind)
            if name in amounts:
                place = path.child("resources", kind)
                yield from _amount_warnings({name: amounts[name]}, place)
    seen: set[str] = set()
    for position, variable in enumerate(container.env):
        if variable.name in seen and _hides(variable):
            text = f"hides previous definition of {quote(variable.name)}"
            place = path.child("env").index(position)
            yield f"{place}: {text}, which may be dropped when using apply"
        seen.add(variable.name)


def _hides(variable: EnvVar) -> bool:
    reference = f"$({variable.name})"
    return (
        variable.value_from is not None
        or variable.value == reference
        or reference not in variable.value
    )


def _port_warnings(spec: PodSpec, path: Path) -> Iterator[str]:
    ports = [
        (port, place.child("ports").index(position))
        for container, place in _containers(spec, path)
        for position, port in enumerate(container.ports)
    ]
    seen: dict[tuple[int, str], _Ports] = defaultdict(_Ports)
    for port, place in ports:
        if port.host_ip and not port.host_port:
            yield f"{place}: hostIP set without hostPort: {_go_text(port)}"
        others = seen[port.container_port, port.protocol]
        yield from others.warnings(port, place)
        others.add(port, place)
    named: dict[str, Path] = {}
    for port, place in ports:
        other = named.setdefault(port.name, place) if port.name else place
        if other is not place:
            text = f"duplicate port name {quote(port.name)} with {other}"
            yield f"{place}: {text}, services and probes that select ports by name will use {other}"


class _Ports:
    """The ports of a pod with one number and protocol, by host port and address."""

    def __init__(self) -> None:
        self._places: dict[int, dict[str, list[Path]]] = {}

    def add(self, port: ContainerPort, place: Path) -> None:
        by_address = self._places.setdefault(port.host_port, {})
        by_address.setdefault(port.host_ip, []).append(place)

    def warnings(self, port: ContainerPort, place: Path) -> Iterator[str]:
        """Yield the conflicts of another port with these; every step yields one."""
        same = self._places.get(port.host_port, {})
        for other in same.get(port.host_ip, ()):
            yield f"{place}: duplicate port definition with {other}"
        for other in self._overlapping(port):
            yield f"{place}: overlapping port definition with {other}"
        if port.host_port:
            for other in _ambiguous(same, port.host_ip):
                yield f"{place}: dangerously ambiguous port definition with {other}"

    def _overlapping(self, port: ContainerPort) -> Iterator[Path]:
        # An unset host port overlaps every other one.
        overlapped = {0: self._places.get(0, {})} if port.host_port else self._places
        for host_port, by_address in overlapped.items():
            for address, places in by_address.items():
                if (host_port, address) != (port.host_port, port.host_ip):
                    yield from places


def _ambiguous(by_address: Mapping[str, list[Path]], address: str) -> Iterator[Path]:
    if address:
        yield from by_address.get("", ())
        return
    for other, places in by_address.items():
        if other:
            yield from places


def _go_text(port: ContainerPort) -> str:
    return (
        f"{{Name:{port.name} HostPort:{port.host_port} ContainerPort:{port.container_port}"
        f" Protocol:{port.protocol} HostIP:{port.host_ip}}}"
    )


def _affinity_warnings(spec: PodSpec, path: Path) -> Iterator[str]:
    affinity = spec.affinity
    if affinity is None:
        return
    rules: tuple[tuple[str, PodAffinity | PodAntiAffinity | None], ...] = (
        ("podAffinity", affinity.pod_affinity),
        ("podAntiAffinity", affinity.pod_anti_affinity),
    )
    for name, terms in rules:
        if terms is not None:
            yield from _pod_term_warnings(terms, path.child(name))


def _pod_term_warnings(rules: PodAffinity | PodAntiAffinity, path: Path) -> Iterator[str]:
    place = path.child("requiredDuringSchedulingIgnoredDuringExecution")
    for position, term in enumerate(rules.required_during_scheduling_ignored_during_execution):
        if term.label_selector is None:
            yield _without_selector(place.index(position).child("labelSelector"))
    place = path.child("preferredDuringSchedulingIgnoredDuringExecution")
    for position, choice in enumerate(rules.preferred_during_scheduling_ignored_during_execution):
        if choice.pod_affinity_term.label_selector is None:
            where = place.index(position).child("podAffinityTerm", "labelSelector")
            yield _without_selector(where)


def _without_selector(path: Path) -> str:
    return f"{path}: a null labelSelector results in matching no pod"
