"""What clients and servers need to know of the group."""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.autoscaling import GROUP, v1


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, "v1"), v1.Scale, internal=True)
