"""The group networking.k8s.io as a server installs it."""

from typing import Final

from apis.networking import GROUP, printers, v1
from apis.networking.register import add_to_scheme
from apis.networking.strategy import IPAddressStrategy, ServiceCIDRStrategy
from apiserver import STATUS, Group, Resource

NETWORKING: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "ipaddresses",
            v1.IPAddress,
            IPAddressStrategy(),
            short_names=("ip",),
            namespaced=False,
            columns=printers.IP_ADDRESS_COLUMNS,
        ),
        Resource(
            "servicecidrs",
            v1.ServiceCIDR,
            ServiceCIDRStrategy(),
            namespaced=False,
            subresources=(STATUS,),
            columns=printers.SERVICE_CIDR_COLUMNS,
        ),
    ),
)
