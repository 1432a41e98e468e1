"""Printer columns of the core kinds.

A time in a cell is shown as an age. The server adds the name and the age, except for events, which
define all their columns and have neither.
"""

from datetime import datetime
from typing import Final

from apis.core.v1 import service as types
from apis.core.v1.config_map import ConfigMap
from apis.core.v1.event import Event
from apis.core.v1.namespace import Namespace
from apis.core.v1.secret import Secret
from apis.core.v1.service import Service, ServicePort
from apiserver import Column

NONE: Final = "<none>"
UNKNOWN: Final = "<unknown>"


def namespace_status(namespace: Namespace) -> str:
    return namespace.status.phase


def config_map_size(config: ConfigMap) -> int:
    return len(config.data) + len(config.binary_data)


def secret_type(secret: Secret) -> str:
    return secret.type


def secret_size(secret: Secret) -> int:
    return len(secret.data)


def service_type(service: Service) -> str:
    return service.spec.type


def cluster_ip(service: Service) -> str:
    return service.spec.cluster_ips[0] if service.spec.cluster_ips else NONE


def external_ip(service: Service) -> str:
    """Return the external addresses of a service."""
    spec = service.spec
    match spec.type:
        case types.CLUSTER_IP | types.NODE_PORT:
            return ",".join(spec.external_ips) or NONE
        case types.LOAD_BALANCER:
            ingress = service.status.load_balancer.ingress
            addresses = sorted({point.ip or point.hostname for point in ingress} - {""})
            return ",".join([*addresses, *spec.external_ips]) or "<pending>"
        case types.EXTERNAL_NAME:
            return spec.external_name
    return "<unknown>"


def service_ports(service: Service) -> str:
    return ",".join(map(_port, service.spec.ports)) or NONE


def service_selector(service: Service) -> str:
    pairs = sorted(service.spec.selector.items())
    return ",".join(f"{key}={value}" for key, value in pairs) or NONE


def event_first_seen(event: Event) -> datetime | str:
    return event.first_timestamp or event.event_time or UNKNOWN


def event_last_seen(event: Event) -> datetime | str:
    if event.series is not None:
        return event.series.last_observed_time or UNKNOWN
    return event.last_timestamp or event_first_seen(event)


def event_count(event: Event) -> int:
    # An event with an eventTime counts in its series, and happened once without one.
    return event.series.count if event.series is not None else event.count or 1


def event_object(event: Event) -> str:
    involved = event.involved_object
    kind = involved.kind.lower()
    return f"{kind}/{involved.name}" if involved.name else kind


def event_source(event: Event) -> str:
    component = event.source.component or event.reporting_component
    instance = event.source.host or event.reporting_instance
    return f"{component}, {instance}" if instance else component


def _port(port: ServicePort) -> str:
    if port.node_port:
        return f"{port.port}:{port.node_port}/{port.protocol}"
    return f"{port.port}/{port.protocol}"


NAMESPACE_COLUMNS: Final = (
    Column("Status", namespace_status, description="Status of the namespace."),
)

CONFIG_MAP_COLUMNS: Final = (
    Column("Data", config_map_size, description="Number of data entries."),
)

SECRET_COLUMNS: Final = (
    Column("Type", secret_type, description="Type of the secret."),
    Column("Data", secret_size, description="Number of data entries."),
)

SERVICE_COLUMNS: Final = (
    Column("Type", service_type, description="Type of the service."),
    Column("Cluster-IP", cluster_ip, description="IP address of the service inside the cluster."),
    Column("External-IP", external_ip, description="External addresses of the service."),
    Column("Port(s)", service_ports, description="Ports exposed by the service."),
    Column(
        "Selector",
        service_selector,
        priority=1,
        description="Label selector of the pods behind the service.",
    ),
)

EVENT_COLUMNS: Final = (
    Column("Last Seen", event_last_seen, description="Time of the most recent occurrence."),
    Column("Type", lambda event: event.type, description="Type of the event: Normal or Warning."),
    Column("Reason", lambda event: event.reason, description="Reason of the event."),
    Column("Object", event_object, description="Object that the event is about."),
    Column(
        "Subobject",
        lambda event: event.involved_object.field_path,
        priority=1,
        description="Part of the object that the event is about.",
    ),
    Column("Source", event_source, priority=1, description="Component that reported the event."),
    Column("Message", lambda event: event.message.strip(), description="What happened."),
    Column("First Seen", event_first_seen, priority=1, description="Time of the first occurrence."),
    Column("Count", event_count, priority=1, description="Number of occurrences."),
    Column(
        "Name",
        lambda event: event.metadata.name,
        format="name",
        priority=1,
        description="Name of the event.",
    ),
)
