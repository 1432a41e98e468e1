from apis.networking.strategy.ip_address import IPAddressStrategy
from apis.networking.strategy.service_cidr import ServiceCIDRStrategy

__all__ = ["IPAddressStrategy", "ServiceCIDRStrategy"]
