"""Registration of discovery.k8s.io, for clients and servers."""

from typing import Final

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.discovery import GROUP, v1
from apis.discovery.v1 import defaults

V1: Final = GroupVersion(GROUP, "v1")


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(V1, v1.EndpointSlice, internal=True)
    scheme.add_defaults(defaults.set_endpoint_port_defaults)
