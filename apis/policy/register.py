"""Register the group's kinds in a scheme, for clients and servers."""

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.policy import GROUP, v1


def add_to_scheme(scheme: Scheme) -> None:
    scheme.add(GroupVersion(GROUP, "v1"), v1.Eviction, v1.PodDisruptionBudget, internal=True)
