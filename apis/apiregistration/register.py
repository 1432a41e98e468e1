"""Registration of apiregistration.k8s.io, for clients and servers."""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.apiregistration import GROUP, v1
from apis.apiregistration.v1 import defaults


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, "v1"), v1.APIService, internal=True)
    scheme.add_defaults(defaults.set_service_reference_defaults)
