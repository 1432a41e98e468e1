"""Validation of what a pod is called on the network: host names, DNS settings, host aliases."""

from collections.abc import Sequence
from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from apimachinery.ip_addresses import is_strict_ip
from apimachinery.names import (
    byte_length,
    is_dns1123_label,
    is_dns1123_subdomain,
    is_dns1123_subdomain_with_underscore,
)
from apis.core.v1.pod import HostAlias, PodDNSConfig, PodSpec

_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_NO_POLICY: Final = "None"
_NAMESERVERS_MAX: Final = 3
_SEARCHES_MAX: Final = 32
_SEARCH_LIST_MAX: Final = 2048
_HOST_NAME_MAX: Final = 64


def validate_dns_policy(policy: str, path: Path) -> FieldErrors:
    if not policy:
        yield required(path)
    elif policy not in _POLICIES:
        yield not_supported(path, policy, _POLICIES)


def validate_dns_config(config: PodDNSConfig | None, policy: str, path: Path) -> FieldErrors:
    """Validate DNS settings; the policy `None` takes nothing from the cluster or the node."""
    if policy == _NO_POLICY and config is None:
        yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
    elif policy == _NO_POLICY and config is not None and not config.nameservers:
        rule = "must provide at least one DNS nameserver when `dnsPolicy` is None"
        yield required(path.child("nameservers"), rule)
    elif config is not None:
        yield from _validate_nameservers(config.nameservers, path.child("nameservers"))
        yield from _validate_searches(config.searches, path.child("searches"))
        for position, option in enumerate(config.options):
            if not option.name:
                yield required(path.child("options").index(position), "must not be empty")


def validate_host_name_override(spec: PodSpec, path: Path) -> FieldErrors:
    name = spec.hostname_override
    if name is None:
        return
    if spec.set_hostname_as_fqdn:
        yield forbidden(path, "may not be specified when setHostnameAsFQDN is true")
    if spec.host_network:
        yield forbidden(path, "may not be specified when hostNetwork is true")
    if byte_length(name) > _HOST_NAME_MAX:
        yield too_long(path, _HOST_NAME_MAX)
    for error in is_dns1123_subdomain(name):
        yield invalid(path, name, error)


def validate_host_name(name: str, path: Path) -> FieldErrors:
    for error in is_dns1123_label(name) if name else ():
        yield invalid(path, name, error)


def validate_host_aliases(aliases: Sequence[HostAlias], path: Path) -> FieldErrors:
    for position, alias in enumerate(aliases):
        here = path.index(position)
        for error in is_strict_ip(alias.ip):
            yield invalid(here.child("ip"), alias.ip, error)
        for index, name in enumerate(alias.hostnames):
            for error in is_dns1123_subdomain(name):
                yield invalid(here.child("hostnames").index(index), name, error)


def _validate_nameservers(addresses: Sequence[str], path: Path) -> FieldErrors:
    if len(addresses) > _NAMESERVERS_MAX:
        rule = f"must not have more than {_NAMESERVERS_MAX} nameservers"
        yield invalid(path, list(addresses), rule)
    for position, address in enumerate(addresses):
        for error in is_strict_ip(address):
            yield invalid(path.index(position), address, error)


def _validate_searches(searches: Sequence[str], path: Path) -> FieldErrors:
    if len(searches) > _SEARCHES_MAX:
        rule = f"must not have more than {_SEARCHES_MAX} search paths"
        yield invalid(path, list(searches), rule)
    if byte_length(" ".join(searches)) > _SEARCH_LIST_MAX:
        rule = (
            f"must not have more than {_SEARCH_LIST_MAX} characters (including spaces) "
            "in the search list"
        )
        yield invalid(path, list(searches), rule)
    for position, search in enumerate(searches):
        if search == ".":
            continue
        domain = search.removesuffix(".")
        for error in is_dns1123_subdomain_with_underscore(domain):
            yield invalid(path.index(position), domain, error)
