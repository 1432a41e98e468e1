from apis.core.v1.config_map import ConfigMap
from apis.core.v1.event import Event, EventSeries, EventSource
from apis.core.v1.namespace import Namespace, NamespaceCondition, NamespaceSpec, NamespaceStatus
from apis.core.v1.references import LocalObjectReference, ObjectReference
from apis.core.v1.secret import Secret
from apis.core.v1.service import (
    ClientIPConfig,
    LoadBalancerIngress,
    LoadBalancerStatus,
    PortStatus,
    Service,
    ServicePort,
    ServiceSpec,
    ServiceStatus,
    SessionAffinityConfig,
)
from apis.core.v1.service_account import ServiceAccount

__all__ = [
    "ClientIPConfig",
    "ConfigMap",
    "Event",
    "EventSeries",
    "EventSource",
    "LoadBalancerIngress",
    "LoadBalancerStatus",
    "LocalObjectReference",
    "Namespace",
    "NamespaceCondition",
    "NamespaceSpec",
    "NamespaceStatus",
    "ObjectReference",
    "PortStatus",
    "Secret",
    "Service",
    "ServiceAccount",
    "ServicePort",
    "ServiceSpec",
    "ServiceStatus",
    "SessionAffinityConfig",
]
