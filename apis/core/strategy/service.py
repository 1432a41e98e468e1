"""Strategy of Services.

The type of a service decides which of its fields apply, and many clients send only the fields they
support. So an update keeps fields that a client omitted, and clears those that do not apply to the
new type, unless the client changed them together with the type: then validation refuses them.

Cluster IPs and node ports are allocated before (`apis.core.allocation`), if the server does so.
"""

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from apimachinery.fieldpath import FieldErrors, Path
from apimachinery.ip_addresses import cidr_warnings, ip_warnings
from apimachinery.meta.metadata_validation import dns_label_name
from apimachinery.names import is_ip
from apis.core.v1.service import (
    CLUSTER_IP,
    EXTERNAL_NAME,
    HEADLESS,
    IPV4,
    IPV6,
    LOAD_BALANCER,
    NO_AFFINITY,
    NODE_PORT,
    REQUIRE_DUAL_STACK,
    SINGLE_STACK,
    LoadBalancerStatus,
    Service,
    ServiceSpec,
    is_externally_accessible,
    is_headless,
    needs_health_check,
)
from apis.core.validation.service import (
    TOPOLOGY_HINTS,
    TOPOLOGY_MODE,
    validate_service,
    validate_service_status_update,
    validate_service_update,
)
from apis.core.validation.service_addresses import family_of
from apiserver import Strategy

T = TypeVar("T")

_NODE_PORTS: Final = (NODE_PORT, LOAD_BALANCER)


class ServiceStrategy(Strategy[Service]):
    """Names are DNS labels that start with a letter, because they become host names."""

    qualified_finalizers = True
    allow_create_on_update = True
    returns_deleted_object = True
    status_updates_metadata = True

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        return dns_label_name(name, prefix)

    def prepare_for_create(self, obj: Service) -> None:
        spec = obj.spec
        if spec.cluster_ip and not spec.cluster_ips:
            spec.cluster_ips = [spec.cluster_ip]
        _set_families(obj)
        _clear_internal_policy(spec)

    def prepare_for_update(self, new: Service, old: Service) -> None:
        keep_omitted_fields(new, old)
        sync_cluster_ips(new.spec, old.spec)
        _clear_inapplicable_fields(new, old)
        _set_families(new)
        _clear_internal_policy(new.spec)

    def validate(self, obj: Service) -> FieldErrors:
        yield from validate_service(obj)

    def validate_update(self, new: Service, old: Service) -> FieldErrors:
        yield from validate_service_update(new, old)

    def validate_status_update(self, new: Service, old: Service) -> FieldErrors:
        yield from validate_service_status_update(new)

    def warnings(self, obj: Service, old: Service | None = None) -> Iterable[str]:
        return list(_warnings(obj))

    def desired_state(self, obj: Service) -> object:
        return None


def _set_families(service: Service) -> None:
    """Default the IP families and their policy from the cluster IPs."""
    spec = service.spec
    if spec.type == EXTERNAL_NAME:
        return
    assigned = [family_of(ip) for ip in spec.cluster_ips if ip != HEADLESS and not is_ip(ip)]
    families = spec.ip_families or assigned or [IPV4]
    # Without a selector the endpoints are unknown, and may have either family.
    open_ended = is_headless(service) and not spec.selector
    if spec.ip_family_policy is None:
        dual = len(families) > 1 or len(assigned) > 1 or (open_ended and not spec.ip_families)
        spec.ip_family_policy = REQUIRE_DUAL_STACK if dual else SINGLE_STACK
    if spec.ip_family_policy == REQUIRE_DUAL_STACK and len(families) == 1:
        families = [families[0], IPV6 if families[0] == IPV4 else IPV4]
    spec.ip_families = list(families)


def keep_omitted_fields(new: Service, old: Service) -> None:
    """Copy addresses and ports of *old* that the client has left out."""
    if EXTERNAL_NAME not in (new.spec.type, old.spec.type):
        new.spec.cluster_ip = new.spec.cluster_ip or old.spec.cluster_ip
        new.spec.cluster_ips = new.spec.cluster_ips or list(old.spec.cluster_ips)
        new.spec.ip_family_policy = new.spec.ip_family_policy or old.spec.ip_family_policy
        if new.spec.cluster_ips == old.spec.cluster_ips:
            new.spec.ip_families = new.spec.ip_families or list(old.spec.ip_families)
    if new.spec.type in _NODE_PORTS and old.spec.type in _NODE_PORTS:
        _keep_node_ports(new.spec, old.spec)
    if needs_health_check(old) and needs_health_check(new):
        port = new.spec.health_check_node_port or old.spec.health_check_node_port
        new.spec.health_check_node_port = port


def _keep_node_ports(new: ServiceSpec, old: ServiceSpec) -> None:
    by_name = {port.name: port.node_port for port in old.ports}
    taken = _node_ports(new) & _node_ports(old)
    for port in new.ports:
        before = by_name.get(port.name, 0)
        if not port.node_port and before not in taken:
            port.node_port = before


def sync_cluster_ips(new: ServiceSpec, old: ServiceSpec) -> None:
    """Copy `clusterIP` to `clusterIPs` if an old client changed only the former."""
    if new.cluster_ip != old.cluster_ip and new.cluster_ips == old.cluster_ips:
        new.cluster_ips = [new.cluster_ip] if new.cluster_ip else []


def _clear_inapplicable_fields(new: Service, old: Service) -> None:
    spec, before = new.spec, old.spec
    if spec.type == EXTERNAL_NAME != before.type:
        _clear_addresses(spec, before)
    loses_node_ports = before.type in _NODE_PORTS and spec.type not in _NODE_PORTS
    if loses_node_ports and _node_ports(spec) <= _node_ports(before):
        for port in spec.ports:
            port.node_port = 0
    if needs_health_check(old) and not needs_health_check(new):
        spec.health_check_node_port = _clear_unless_changed(
            spec.health_check_node_port, before.health_check_node_port, 0
        )
    if is_externally_accessible(old) and not is_externally_accessible(new):
        spec.external_traffic_policy = _clear_unless_changed(
            spec.external_traffic_policy, before.external_traffic_policy, ""
        )
    if spec.type != LOAD_BALANCER:
        _clear_load_balancer(new, old)


def _clear_internal_policy(spec: ServiceSpec) -> None:
    if spec.type == EXTERNAL_NAME:
        spec.internal_traffic_policy = None


def _clear_addresses(spec: ServiceSpec, before: ServiceSpec) -> None:
    if (spec.cluster_ip, spec.cluster_ips) == (before.cluster_ip, before.cluster_ips):
        spec.cluster_ip, spec.cluster_ips = "", []
    spec.ip_families = _clear_unless_changed(spec.ip_families, before.ip_families, [])
    spec.ip_family_policy = _clear_unless_changed(
        spec.ip_family_policy, before.ip_family_policy, None
    )


def _clear_load_balancer(new: Service, old: Service) -> None:
    spec, before = new.spec, old.spec
    if before.type == LOAD_BALANCER:
        spec.allocate_load_balancer_node_ports = _clear_unless_changed(
            spec.allocate_load_balancer_node_ports, before.allocate_load_balancer_node_ports, None
        )
        spec.load_balancer_class = _clear_unless_changed(
            spec.load_balancer_class, before.load_balancer_class, None
        )
    new.status.load_balancer = LoadBalancerStatus()


def _clear_unless_changed(value: T, before: T, empty: T) -> T:
    """Return *empty*, unless the client changed the value together with the type."""
    return empty if value == before else value


def _node_ports(spec: ServiceSpec) -> set[int]:
    return {port.node_port for port in spec.ports if port.node_port}


def _warnings(service: Service) -> Iterator[str]:
    spec = service.spec
    if TOPOLOGY_HINTS in service.metadata.annotations:
        yield f"annotation {TOPOLOGY_HINTS} is deprecated, please use {TOPOLOGY_MODE} instead"
    if spec.type == CLUSTER_IP and spec.cluster_ip == HEADLESS:
        yield from _headless_warnings(spec)
    if spec.type == EXTERNAL_NAME and spec.external_ips:
        yield f'spec.externalIPs is ignored when spec.type is "{EXTERNAL_NAME}"'
    if spec.type != EXTERNAL_NAME and spec.external_name:
        yield f'spec.externalName is ignored when spec.type is not "{EXTERNAL_NAME}"'
    yield from _address_warnings(service)
    if spec.traffic_distribution == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def _address_warnings(service: Service) -> Iterator[str]:
    spec, path = service.spec, Path("spec")
    if spec.type != EXTERNAL_NAME and not is_headless(service):
        for position, address in enumerate(spec.cluster_ips):
            yield from ip_warnings(address, path.child("clusterIPs").index(position))
    for position, address in enumerate(spec.external_ips):
        yield from ip_warnings(address, path.child("externalIPs").index(position))
    if spec.external_ips and spec.type != EXTERNAL_NAME and not is_headless(service):
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if spec.load_balancer_ip:
        yield from ip_warnings(spec.load_balancer_ip, path.child("loadBalancerIP"))
    for position, cidr in enumerate(spec.load_balancer_source_ranges):
        yield from cidr_warnings(cidr, path.child("loadBalancerSourceRanges").index(position))


def _headless_warnings(spec: ServiceSpec) -> Iterator[str]:
    if spec.load_balancer_ip:
        yield "spec.loadBalancerIP is ignored for headless services"
    if spec.external_ips:
        yield "spec.externalIPs is ignored for headless services"
    if spec.session_affinity != NO_AFFINITY:
        yield "spec.SessionAffinity is ignored for headless services"
