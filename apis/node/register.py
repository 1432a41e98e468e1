"""Registration of node.k8s.io, for clients and servers."""

from typing import Final

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.node import GROUP, v1

V1: Final = GroupVersion(GROUP, "v1")


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(V1, v1.RuntimeClass, internal=True)
