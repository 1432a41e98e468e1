"""Registration of scheduling.k8s.io, for clients and servers."""

from typing import Final

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.scheduling import GROUP, v1
from apis.scheduling.v1 import defaults

V1: Final = GroupVersion(GROUP, "v1")


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(V1, v1.PriorityClass, internal=True)
    scheme.add_defaults(defaults.set_priority_class_defaults)
