"""Validation of the ports of containers: each port, and host ports that containers share."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    duplicate,
    invalid,
    not_supported,
    required,
)
from apimachinery.names import is_port_name, is_port_number
from apis.core.v1.container import Container, ContainerPort
from apis.core.v1.pod import PodSpec

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")


def validate_container_ports(ports: Sequence[ContainerPort], path: Path) -> FieldErrors:
    names: set[str] = set()
    for position, port in enumerate(ports):
        here = path.index(position)
        if port.name:
            yield from _validate_name(port.name, here.child("name"), names)
        if not port.container_port:
            yield required(here.child("containerPort"))
        for error in is_port_number(port.container_port) if port.container_port else ():
            yield invalid(here.child("containerPort"), port.container_port, error)
        for error in is_port_number(port.host_port) if port.host_port else ():
            yield invalid(here.child("hostPort"), port.host_port, error)
        if not port.protocol:
            yield required(here.child("protocol"))
        elif port.protocol not in _PROTOCOLS:
            yield not_supported(here.child("protocol"), port.protocol, _PROTOCOLS)


def validate_host_port_conflicts(containers: Sequence[Container], path: Path) -> FieldErrors:
    """Validate that no two of the containers, which run at the same time, use one host port."""
    taken: set[str] = set()
    for position, container in enumerate(containers):
        ports = path.index(position).child("ports")
        for index, port in enumerate(container.ports):
            if not port.host_port:
                continue
            address = f"{port.protocol}/{port.host_ip}/{port.host_port}"
            if address in taken:
                yield duplicate(ports.index(index).child("hostPort"), address)
            taken.add(address)


def validate_host_network_ports(spec: PodSpec, path: Path, *, in_pod: bool) -> FieldErrors:
    """Validate that a pod in the host's network uses the same port there as in the container.

    The template of a pod may leave the host port out: it is defaulted when the pod is created.
    """
    if not spec.host_network:
        return
    for position, container in enumerate(spec.containers):
        ports = path.child("containers").index(position).child("ports")
        for index, port in enumerate(container.ports):
            if (in_pod or port.host_port) and port.host_port != port.container_port:
                rule = "must match `containerPort` when `hostNetwork` is true"
                yield invalid(ports.index(index).child("hostPort"), port.host_port, rule)


def _validate_name(name: str, path: Path, names: set[str]) -> FieldErrors:
    errors = is_port_name(name)
    for error in errors:
        yield invalid(path, name, error)
    if not errors:
        if name in names:
            yield duplicate(path, name)
        names.add(name)
