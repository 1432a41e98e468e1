"""The group networking.k8s.io as a server installs it."""

from typing import Final

from apis.networking import GROUP, printers, v1
from apis.networking.admission import DEFAULT_INGRESS_CLASS
from apis.networking.register import add_to_scheme
from apis.networking.strategy import (
    IngressClassStrategy,
    IngressStrategy,
    IPAddressStrategy,
    NetworkPolicyStrategy,
    ServiceCIDRStrategy,
)
from apiserver import STATUS, Group, Resource

NETWORKING: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "ingressclasses",
            v1.IngressClass,
            IngressClassStrategy(),
            namespaced=False,
            columns=printers.INGRESS_CLASS_COLUMNS,
            roles=(),
        ),
        Resource(
            "ingresses",
            v1.Ingress,
            IngressStrategy(),
            short_names=("ing",),
            subresources=(STATUS,),
            columns=printers.INGRESS_COLUMNS,
        ),
        Resource(
            "ipaddresses",
            v1.IPAddress,
            IPAddressStrategy(),
            short_names=("ip",),
            namespaced=False,
            columns=printers.IP_ADDRESS_COLUMNS,
            roles=(),
        ),
        Resource(
            "networkpolicies",
            v1.NetworkPolicy,
            NetworkPolicyStrategy(),
            short_names=("netpol",),
            columns=printers.NETWORK_POLICY_COLUMNS,
        ),
        Resource(
            "servicecidrs",
            v1.ServiceCIDR,
            ServiceCIDRStrategy(),
            namespaced=False,
            subresources=(STATUS,),
            columns=printers.SERVICE_CIDR_COLUMNS,
            roles=(),
        ),
    ),
    plugins=(DEFAULT_INGRESS_CLASS,),
)
