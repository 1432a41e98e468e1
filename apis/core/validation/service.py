"""Validation of services; addresses are in `service_addresses`, ports in `service_ports`.

Addresses and ports are allocated before validation, but not by every server: so
`healthCheckNodePort` of a load balancer may be unset.
"""

from typing import Final

from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.ip_addresses import is_strict_cidr, is_strict_ip
from apimachinery.meta.metadata_validation import validate_labels
from apimachinery.names import (
    is_dns1123_subdomain,
    is_ip,
    is_port_number,
    is_qualified_name,
)
from apis.core.v1.service import (
    CLIENT_IP,
    CLUSTER_IP,
    EXTERNAL_NAME,
    LOAD_BALANCER,
    NO_AFFINITY,
    NODE_PORT,
    LoadBalancerIngress,
    Service,
    ServiceSpec,
    SessionAffinityConfig,
    is_externally_accessible,
    is_headless,
    needs_health_check,
)
from apis.core.validation.service_addresses import (
    validate_address_update,
    validate_cluster_ips,
    validate_external_ips,
)
from apis.core.validation.service_ports import validate_ports

_SPEC: Final = Path("spec")
_TYPES: Final = (CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT)
_POLICIES: Final = ("Cluster", "Local")
_DISTRIBUTIONS: Final = ("PreferClose", "PreferSameNode", "PreferSameZone")
_AFFINITY_MAX: Final = 24 * 60 * 60
_ONLY_FOR_BALANCERS: Final = "may only be used when `type` is 'LoadBalancer'"

TOPOLOGY_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
TOPOLOGY_MODE: Final = "service.kubernetes.io/topology-mode"
SOURCE_RANGES: Final = "service.beta.kubernetes.io/load-balancer-source-ranges"


def validate_service(service: Service) -> FieldErrors:
    spec = service.spec
    yield from _validate_topology(service)
    if not spec.ports and not is_headless(service) and spec.type != EXTERNAL_NAME:
        yield required(_SPEC.child("ports"))
    yield from _validate_by_type(service)
    yield from validate_ports(spec, _SPEC.child("ports"))
    yield from validate_labels(spec.selector, _SPEC.child("selector"))
    yield from _validate_affinity(spec)
    yield from validate_cluster_ips(service, _SPEC)
    yield from validate_external_ips(spec.external_ips, _SPEC.child("externalIPs"))
    yield from _validate_choice(spec.type, _SPEC.child("type"), _TYPES)
    yield from _validate_source_ranges(service)
    yield from _validate_balancer(spec)
    yield from _validate_traffic(service)


def validate_service_update(new: Service, old: Service) -> FieldErrors:
    yield from validate_address_update(new, old)
    both_balanced = new.spec.type == old.spec.type == LOAD_BALANCER
    if both_balanced and new.spec.load_balancer_class != old.spec.load_balancer_class:
        path = _SPEC.child("loadBalancerClass")
        yield invalid(path, new.spec.load_balancer_class, "may not change once set")
    if needs_health_check(old) and needs_health_check(new):
        before = old.spec.health_check_node_port
        if before and new.spec.health_check_node_port != before:
            yield forbidden(_SPEC.child("healthCheckNodePort"), "field is immutable")
    yield from validate_service(new)


def validate_service_status_update(new: Service) -> FieldErrors:
    path = Path("status", "loadBalancer", "ingress")
    ingresses = new.status.load_balancer.ingress
    if ingresses and new.spec.type != LOAD_BALANCER:
        yield forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for position, ingress in enumerate(ingresses):
        yield from _validate_ingress(ingress, path.index(position))


def _validate_topology(service: Service) -> FieldErrors:
    annotations = service.metadata.annotations
    mode, hints = annotations.get(TOPOLOGY_MODE), annotations.get(TOPOLOGY_HINTS)
    if mode is not None and hints is not None and mode != hints:
        path = Path("metadata", "annotations").key(TOPOLOGY_MODE)
        rule = f"must match annotations[{TOPOLOGY_HINTS}] when both are specified"
        yield invalid(path, mode, rule)


def _validate_by_type(service: Service) -> FieldErrors:
    spec = service.spec
    if spec.type in (LOAD_BALANCER, NODE_PORT) and is_headless(service):
        rule = f"may not be set to 'None' for {spec.type} services"
        yield invalid(_SPEC.child("clusterIPs").index(0), spec.cluster_ips[0], rule)
    if spec.type == EXTERNAL_NAME:
        for name, value in (
            ("clusterIPs", spec.cluster_ips),
            ("ipFamilies", spec.ip_families),
            ("ipFamilyPolicy", spec.ip_family_policy),
        ):
            if value:
                yield forbidden(_SPEC.child(name), "may not be set for ExternalName services")
        yield from _validate_external_name(spec.external_name)


def _validate_external_name(name: str) -> FieldErrors:
    path = _SPEC.child("externalName")
    # A trailing dot marks a fully qualified name.
    host = name.removesuffix(".")
    if not host:
        yield required(path)
        return
    for error in is_dns1123_subdomain(host):
        yield invalid(path, host, error)


def _validate_affinity(spec: ServiceSpec) -> FieldErrors:
    path = _SPEC.child("sessionAffinityConfig")
    affinity = spec.session_affinity
    yield from _validate_choice(affinity, _SPEC.child("sessionAffinity"), (CLIENT_IP, NO_AFFINITY))
    if affinity == CLIENT_IP:
        yield from _validate_affinity_config(spec.session_affinity_config, path)
    elif affinity == NO_AFFINITY and spec.session_affinity_config is not None:
        yield forbidden(path, f"must not be set when session affinity is {NO_AFFINITY}")


def _validate_affinity_config(config: SessionAffinityConfig | None, path: Path) -> FieldErrors:
    rule = f"when session affinity type is {CLIENT_IP}"
    if config is None:
        yield required(path, rule)
    elif config.client_ip is None:
        yield required(path.child("clientIP"), rule)
    elif config.client_ip.timeout_seconds is None:
        yield required(path.child("clientIP", "timeoutSeconds"), rule)
    elif not 0 < config.client_ip.timeout_seconds <= _AFFINITY_MAX:
        bounds = f"must be greater than 0 and less than {_AFFINITY_MAX}"
        yield invalid(
            path.child("clientIP", "timeoutSeconds"), config.client_ip.timeout_seconds, bounds
        )


def _validate_source_ranges(service: Service) -> FieldErrors:
    spec = service.spec
    annotation = service.metadata.annotations.get(SOURCE_RANGES)
    if spec.load_balancer_source_ranges:
        path = _SPEC.child("LoadBalancerSourceRanges")
        ranges = [
            (path.index(position), text)
            for position, text in enumerate(spec.load_balancer_source_ranges)
        ]
    elif annotation is not None:
        path = Path("metadata", "annotations").key(SOURCE_RANGES)
        ranges = [(path, text) for text in annotation.split(",") if annotation.strip()]
    else:
        return
    if spec.type != LOAD_BALANCER:
        yield forbidden(path, _ONLY_FOR_BALANCERS)
    for place, text in ranges:
        for error in is_strict_cidr(text.strip()):
            yield invalid(place, text.strip(), error)


def _validate_balancer(spec: ServiceSpec) -> FieldErrors:
    allocate, name = spec.allocate_load_balancer_node_ports, spec.load_balancer_class
    if spec.type == LOAD_BALANCER:
        if allocate is None:
            yield required(Path("allocateLoadBalancerNodePorts"))
        for error in is_qualified_name(name) if name is not None else ():
            yield invalid(_SPEC.child("loadBalancerClass"), name, error)
        return
    if allocate is not None:
        yield forbidden(_SPEC.child("allocateLoadBalancerNodePorts"), _ONLY_FOR_BALANCERS)
    if name is not None:
        yield forbidden(_SPEC.child("loadBalancerClass"), _ONLY_FOR_BALANCERS)


def _validate_traffic(service: Service) -> FieldErrors:
    spec = service.spec
    external = _SPEC.child("externalTrafficPolicy")
    if is_externally_accessible(service):
        yield from _validate_choice(spec.external_traffic_policy, external, _POLICIES)
    elif spec.external_traffic_policy:
        rule = "may only be set for externally-accessible services"
        yield invalid(external, spec.external_traffic_policy, rule)
    yield from _validate_health_check(service)
    internal = _SPEC.child("internalTrafficPolicy")
    if spec.internal_traffic_policy is not None:
        if spec.internal_traffic_policy not in _POLICIES:
            yield not_supported(internal, spec.internal_traffic_policy, _POLICIES)
    elif spec.type in (CLUSTER_IP, NODE_PORT, LOAD_BALANCER):
        yield required(internal)
    if spec.traffic_distribution not in (None, *_DISTRIBUTIONS):
        path = _SPEC.child("trafficDistribution")
        yield not_supported(path, spec.traffic_distribution, _DISTRIBUTIONS)


def _validate_health_check(service: Service) -> FieldErrors:
    port = service.spec.health_check_node_port
    path = _SPEC.child("healthCheckNodePort")
    if port and not needs_health_check(service):
        yield invalid(
            path,
            port,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        )
    elif port:
        for error in is_port_number(port):
            yield invalid(path, port, error)


def _validate_ingress(ingress: LoadBalancerIngress, path: Path) -> FieldErrors:
    for error in is_strict_ip(ingress.ip) if ingress.ip else ():
        yield invalid(path.child("ip"), ingress.ip, error)
    mode = path.child("ipMode")
    if ingress.ip and ingress.ip_mode is None:
        yield required(mode, "must be specified when `ip` is set")
    elif not ingress.ip and ingress.ip_mode is not None:
        yield forbidden(mode, "may not be specified when `ip` is not set")
    elif ingress.ip_mode not in (None, "Proxy", "VIP"):
        yield not_supported(mode, ingress.ip_mode, ("Proxy", "VIP"))
    if ingress.hostname:
        yield from _validate_hostname(ingress.hostname, path.child("hostname"))


def _validate_hostname(name: str, path: Path) -> FieldErrors:
    for error in is_dns1123_subdomain(name):
        yield invalid(path, name, error)
    if not is_ip(name):
        yield invalid(path, name, "must be a DNS name, not an IP address")


def _validate_choice(value: str, path: Path, choices: tuple[str, ...]) -> FieldErrors:
    if not value:
        yield required(path)
    elif value not in choices:
        yield not_supported(path, value, choices)
