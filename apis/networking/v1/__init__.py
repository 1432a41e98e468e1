from apis.networking.v1.ip_address import IPAddress, IPAddressSpec, ParentReference
from apis.networking.v1.service_cidr import ServiceCIDR, ServiceCIDRSpec, ServiceCIDRStatus

__all__ = [
    "IPAddress",
    "IPAddressSpec",
    "ParentReference",
    "ServiceCIDR",
    "ServiceCIDRSpec",
    "ServiceCIDRStatus",
]
