"""Registration of networking.k8s.io, for clients and servers: kinds and defaults."""

from typing import Final

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.networking import GROUP, v1
from apis.networking.v1 import defaults

V1: Final = GroupVersion(GROUP, "v1")


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(
        V1,
        v1.IPAddress,
        v1.Ingress,
        v1.IngressClass,
        v1.NetworkPolicy,
        v1.ServiceCIDR,
        internal=True,
    )
    scheme.add_defaults(
        defaults.set_network_policy_defaults,
        defaults.set_network_policy_port_defaults,
        defaults.set_parameters_reference_defaults,
    )
