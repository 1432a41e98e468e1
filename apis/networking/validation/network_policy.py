"""Validation of NetworkPolicies."""

from collections.abc import Iterator, Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.ip_addresses import is_strict_cidr, parse_cidr
from apimachinery.meta.metadata_validation import validate_label_selector
from apimachinery.names import is_port_name, is_port_number
from apis.networking.v1 import (
    IPBlock,
    NetworkPolicy,
    NetworkPolicyPeer,
    NetworkPolicyPort,
    NetworkPolicySpec,
)
from apis.networking.v1.network_policy import EGRESS, INGRESS

_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_POLICY_TYPES: Final = (INGRESS, EGRESS)


def validate_network_policy(policy: NetworkPolicy) -> FieldErrors:
    spec, path = policy.spec, Path("spec")
    yield from validate_label_selector(spec.pod_selector, path.child("podSelector"))
    for position, rule in enumerate(spec.ingress):
        here = path.child("ingress").index(position)
        yield from _validate_rule(rule.ports, rule.from_, here, "from")
    for position, egress_rule in enumerate(spec.egress):
        here = path.child("egress").index(position)
        yield from _validate_rule(egress_rule.ports, egress_rule.to, here, "to")
    yield from _validate_policy_types(spec.policy_types, path.child("policyTypes"))


def ip_blocks(spec: NetworkPolicySpec) -> Iterator[tuple[IPBlock, Path]]:
    """Yield every range of addresses in a policy, and where it is."""
    for position, rule in enumerate(spec.ingress):
        path = Path("spec", "ingress").index(position).child("from")
        for index, peer in enumerate(rule.from_):
            if peer.ip_block is not None:
                yield peer.ip_block, path.index(index).child("ipBlock")
    for position, egress_rule in enumerate(spec.egress):
        path = Path("spec", "egress").index(position).child("to")
        for index, peer in enumerate(egress_rule.to):
            if peer.ip_block is not None:
                yield peer.ip_block, path.index(index).child("ipBlock")


def _validate_rule(
    ports: Sequence[NetworkPolicyPort],
    peers: Sequence[NetworkPolicyPeer],
    path: Path,
    direction: str,
) -> FieldErrors:
    for position, port in enumerate(ports):
        yield from _validate_port(port, path.child("ports").index(position))
    for position, peer in enumerate(peers):
        yield from _validate_peer(peer, path.child(direction).index(position))


def _validate_port(port: NetworkPolicyPort, path: Path) -> FieldErrors:
    if port.protocol is not None and port.protocol not in _PROTOCOLS:
        yield not_supported(path.child("protocol"), port.protocol, _PROTOCOLS)
    match port.port:
        case None:
            yield from _forbid_end(port, path, "may not be specified when `port` is not specified")
        case int() as number:
            for error in is_port_number(number):
                yield invalid(path.child("port"), number, error)
            yield from _validate_end(port.end_port, number, path.child("endPort"))
        case name:
            yield from _forbid_end(port, path, "may not be specified when `port` is non-numeric")
            for error in is_port_name(name):
                yield invalid(path.child("port"), name, error)


def _forbid_end(port: NetworkPolicyPort, path: Path, rule: str) -> FieldErrors:
    if port.end_port is not None:
        yield invalid(path.child("endPort"), port.end_port, rule)


def _validate_end(end: int | None, start: int, path: Path) -> FieldErrors:
    if end is None:
        return
    if end < start:
        yield invalid(path, end, "must be greater than or equal to `port`")
    for error in is_port_number(end):
        yield invalid(path, end, error)


def _validate_peer(peer: NetworkPolicyPeer, path: Path) -> FieldErrors:
    yield from validate_label_selector(peer.pod_selector, path.child("podSelector"))
    yield from validate_label_selector(peer.namespace_selector, path.child("namespaceSelector"))
    if peer.ip_block is not None:
        yield from _validate_ip_block(peer.ip_block, path.child("ipBlock"))
    selectors = [s for s in (peer.pod_selector, peer.namespace_selector) if s is not None]
    if not selectors and peer.ip_block is None:
        yield required(path, "must specify a peer")
    elif selectors and peer.ip_block is not None:
        yield forbidden(path, "may not specify both ipBlock and another peer")


def _validate_ip_block(block: IPBlock, path: Path) -> FieldErrors:
    if not block.cidr:
        yield required(path.child("cidr"))
        return
    for error in is_strict_cidr(block.cidr):
        yield invalid(path.child("cidr"), block.cidr, error)
    parsed = parse_cidr(block.cidr)
    if parsed is None:
        return
    whole = parsed.network
    for position, cidr in enumerate(block.except_):
        here = path.child("except").index(position)
        for error in is_strict_cidr(cidr):
            yield invalid(here, cidr, error)
        inner = parse_cidr(cidr)
        if inner is None:
            continue
        part = inner.network
        if part.network_address not in whole or whole.prefixlen >= part.prefixlen:
            yield invalid(here, cidr, "must be a strict subset of `cidr`")


def _validate_policy_types(types: Sequence[str], path: Path) -> FieldErrors:
    if len(types) > len(_POLICY_TYPES):
        yield invalid(path, types, "may not specify more than two policyTypes")
        return
    for position, policy_type in enumerate(types):
        if policy_type not in _POLICY_TYPES:
            yield not_supported(path.index(position), policy_type, _POLICY_TYPES)
