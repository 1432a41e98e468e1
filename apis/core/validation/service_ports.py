"""Validation of service ports, individually and for duplicates."""

from collections.abc import Iterator
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    GoStruct,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.names import (
    is_dns1123_label,
    is_port_name,
    is_port_number,
    is_qualified_name,
)
from apimachinery.scalars.intstr import IntOrString
from apis.core.v1.service import CLUSTER_IP, ServicePort, ServiceSpec

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")


def validate_ports(spec: ServiceSpec, path: Path) -> FieldErrors:
    names: set[str] = set()
    for position, port in enumerate(spec.ports):
        here = path.index(position)
        yield from _validate_name(port.name, here.child("name"), names, alone=len(spec.ports) == 1)
        yield from _validate_port(port, here)
    for position, port in enumerate(spec.ports):
        if port.node_port and spec.type == CLUSTER_IP:
            rule = "may not be used when `type` is 'ClusterIP'"
            yield forbidden(path.index(position).child("nodePort"), rule)
    for position, port in _duplicates(spec.ports, by="node_port"):
        yield duplicate(path.index(position).child("nodePort"), port.node_port)
    for position, port in _duplicates(spec.ports, by="port"):
        # The duplicate is the pair of number and protocol: the message shows nothing else.
        shown = GoStruct(
            Name="",
            Protocol=port.protocol,
            AppProtocol=None,
            Port=port.port,
            TargetPort=0,
            NodePort=0,
        )
        yield duplicate(path.index(position), shown)


def _validate_name(name: str, path: Path, names: set[str], *, alone: bool) -> FieldErrors:
    if not name:
        if not alone:
            yield required(path)
        return
    for error in is_dns1123_label(name):
        yield invalid(path, name, error)
    if name in names:
        yield duplicate(path, name)
    names.add(name)


def _validate_port(port: ServicePort, path: Path) -> FieldErrors:
    for error in is_port_number(port.port):
        yield invalid(path.child("port"), port.port, error)
    if not port.protocol:
        yield required(path.child("protocol"))
    elif port.protocol not in _PROTOCOLS:
        yield not_supported(path.child("protocol"), port.protocol, _PROTOCOLS)
    yield from _validate_target(port.target_port or 0, path.child("targetPort"))
    for error in is_qualified_name(port.app_protocol) if port.app_protocol is not None else ():
        yield invalid(path.child("appProtocol"), port.app_protocol, error)


def _validate_target(target: IntOrString, path: Path) -> FieldErrors:
    errors = is_port_number(target) if isinstance(target, int) else is_port_name(target)
    for error in errors:
        yield invalid(path, target, error)


def _duplicates(ports: list[ServicePort], *, by: str) -> Iterator[tuple[int, ServicePort]]:
    """Yield ports that repeat a number and protocol; an unset (0) node port never repeats."""
    seen: set[tuple[str, int]] = set()
    for position, port in enumerate(ports):
        key = (port.protocol, getattr(port, by))
        if key in seen:
            yield position, port
        if key[1] or by == "port":
            seen.add(key)
