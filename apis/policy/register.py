"""Register the group's kinds in a scheme, for clients and servers."""

from typing import Final

from apimachinery.schema import GroupVersion
from apimachinery.scheme import Scheme
from apis.policy import GROUP, v1

V1: Final = GroupVersion(GROUP, "v1")
V1BETA1: Final = GroupVersion(GROUP, "v1beta1")
"""Has the same Eviction, which older clients send; its other kinds are not served."""


def add_to_scheme(scheme: Scheme) -> None:
    add_eviction_to_scheme(scheme)
    scheme.add(V1, v1.PodDisruptionBudget, internal=True)


def add_eviction_to_scheme(scheme: Scheme) -> None:
    """Register Eviction, which pods have as a subresource even where no budgets are served."""
    if not scheme.recognizes(V1.with_kind("Eviction")):
        scheme.add(V1, v1.Eviction, internal=True)
        scheme.add(V1BETA1, v1.Eviction)
