from apis.networking.strategy.ingress import IngressStrategy
from apis.networking.strategy.ingress_class import IngressClassStrategy
from apis.networking.strategy.ip_address import IPAddressStrategy
from apis.networking.strategy.network_policy import NetworkPolicyStrategy
from apis.networking.strategy.service_cidr import ServiceCIDRStrategy

__all__ = [
    "IPAddressStrategy",
    "IngressClassStrategy",
    "IngressStrategy",
    "NetworkPolicyStrategy",
    "ServiceCIDRStrategy",
]
