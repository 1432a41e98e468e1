"""Defaulting functions of core/v1."""

from typing import Final

from apis.core.v1.namespace import ACTIVE, NAME_LABEL, Namespace, NamespaceStatus
from apis.core.v1.secret import OPAQUE, Secret, merge_string_data
from apis.core.v1.service import (
    CLIENT_IP,
    CLUSTER_IP,
    LOAD_BALANCER,
    NO_AFFINITY,
    NODE_PORT,
    ClientIPConfig,
    Service,
    ServicePort,
    ServiceSpec,
    SessionAffinityConfig,
    is_externally_accessible,
)

AFFINITY_SECONDS: Final = 3 * 60 * 60

_WITH_ADDRESS: Final = (CLUSTER_IP, NODE_PORT, LOAD_BALANCER)


def set_namespace_defaults(namespace: Namespace) -> None:
    # With generateName the label is set later, when the strategy prepares the object.
    if namespace.metadata.name:
        namespace.metadata.labels[NAME_LABEL] = namespace.metadata.name


def set_namespace_status_defaults(status: NamespaceStatus) -> None:
    status.phase = status.phase or ACTIVE


def set_secret_defaults(secret: Secret) -> None:
    secret.type = secret.type or OPAQUE
    merge_string_data(secret)


def set_service_defaults(service: Service) -> None:
    spec = service.spec
    spec.type = spec.type or CLUSTER_IP
    _set_affinity(spec)
    if is_externally_accessible(service):
        spec.external_traffic_policy = spec.external_traffic_policy or "Cluster"
    if spec.internal_traffic_policy is None and spec.type in _WITH_ADDRESS:
        spec.internal_traffic_policy = "Cluster"
    if spec.type == LOAD_BALANCER:
        _set_balancer(service)


def set_service_port_defaults(port: ServicePort) -> None:
    port.protocol = port.protocol or "TCP"
    if not port.target_port:
        port.target_port = port.port


def _set_affinity(spec: ServiceSpec) -> None:
    spec.session_affinity = spec.session_affinity or NO_AFFINITY
    if spec.session_affinity == NO_AFFINITY:
        spec.session_affinity_config = None
    elif spec.session_affinity == CLIENT_IP:
        config = spec.session_affinity_config
        client_ip = config.client_ip if config else None
        if client_ip is None or client_ip.timeout_seconds is None:
            spec.session_affinity_config = SessionAffinityConfig(
                client_ip=ClientIPConfig(timeout_seconds=AFFINITY_SECONDS)
            )


def _set_balancer(service: Service) -> None:
    if service.spec.allocate_load_balancer_node_ports is None:
        service.spec.allocate_load_balancer_node_ports = True
    for ingress in service.status.load_balancer.ingress:
        if ingress.ip and ingress.ip_mode is None:
            ingress.ip_mode = "VIP"
