"""The types of core/v1, each module imported when one of its names is used first.

A new type is added twice: to the imports, which type checkers read, and to the names below them.
"""

from typing import TYPE_CHECKING

from apimachinery.lazy_names import lazy_names

if TYPE_CHECKING:
    from apis.core.v1.config_map import ConfigMap as ConfigMap
    from apis.core.v1.event import Event as Event
    from apis.core.v1.event import EventSeries as EventSeries
    from apis.core.v1.event import EventSource as EventSource
    from apis.core.v1.namespace import Namespace as Namespace
    from apis.core.v1.namespace import NamespaceCondition as NamespaceCondition
    from apis.core.v1.namespace import NamespaceSpec as NamespaceSpec
    from apis.core.v1.namespace import NamespaceStatus as NamespaceStatus
    from apis.core.v1.references import LocalObjectReference as LocalObjectReference
    from apis.core.v1.references import ObjectReference as ObjectReference
    from apis.core.v1.secret import Secret as Secret
    from apis.core.v1.service import ClientIPConfig as ClientIPConfig
    from apis.core.v1.service import LoadBalancerIngress as LoadBalancerIngress
    from apis.core.v1.service import LoadBalancerStatus as LoadBalancerStatus
    from apis.core.v1.service import PortStatus as PortStatus
    from apis.core.v1.service import Service as Service
    from apis.core.v1.service import ServicePort as ServicePort
    from apis.core.v1.service import ServiceSpec as ServiceSpec
    from apis.core.v1.service import ServiceStatus as ServiceStatus
    from apis.core.v1.service import SessionAffinityConfig as SessionAffinityConfig
    from apis.core.v1.service_account import ServiceAccount as ServiceAccount
else:
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "config_map": "ConfigMap",
            "event": "Event EventSeries EventSource",
            "namespace": "Namespace NamespaceCondition NamespaceSpec NamespaceStatus",
            "references": "LocalObjectReference ObjectReference",
            "secret": "Secret",
            "service": (
                "ClientIPConfig LoadBalancerIngress LoadBalancerStatus PortStatus Service"
                " ServicePort ServiceSpec ServiceStatus SessionAffinityConfig"
            ),
            "service_account": "ServiceAccount",
        },
    )
