"""Register the group's kinds in a scheme, for clients and servers."""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.apiextensions import GROUP, v1
from apis.apiextensions.v1.defaults import set_service_defaults, set_spec_defaults


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, "v1"), v1.CustomResourceDefinition, internal=True)
    scheme.add_defaults(set_spec_defaults)
    scheme.add_defaults(set_service_defaults)
