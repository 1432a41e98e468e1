"""Printer columns of the kinds of networking.k8s.io."""

from typing import Final

from apis.networking.v1 import IPAddress, ServiceCIDR
from apiserver.views.table import NAME, Column

_NONE: Final = "<none>"


def address_parent(address: IPAddress) -> str:
    """Return the resource, namespace and name of the object that uses an address."""
    parent = address.spec.parent_ref
    if parent is None:
        return _NONE
    resource = f"{parent.resource}.{parent.group}" if parent.group else parent.resource
    return "/".join(filter(None, (resource.lower(), parent.namespace, parent.name)))


def service_ranges(service_cidr: ServiceCIDR) -> str:
    return ",".join(service_cidr.spec.cidrs)


# As in Kubernetes, the table of addresses has no age.
IP_ADDRESS_COLUMNS: Final = (
    NAME,
    Column("ParentRef", address_parent, description="Object that uses the address."),
)

SERVICE_CIDR_COLUMNS: Final = (
    Column("CIDRs", service_ranges, description="Ranges that cluster IPs are allocated from."),
)
