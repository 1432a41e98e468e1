"""The pod-sized kind as a group that a server can serve; apart, so that clients load no server."""

from typing import Final

from apiserver.group import Group, Resource
from apiserver.registry.strategy import Strategy
from tests.benchmarks.pods import VERSION, Pod, add_to_scheme

PODS: Final = Group(
    name=VERSION.group,
    versions=(VERSION.version,),
    add_to_scheme=add_to_scheme,
    resources=(Resource("pods", Pod, Strategy[Pod]()),),
)
