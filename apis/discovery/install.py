"""The group discovery.k8s.io as a server installs it."""

from typing import Final

from apis.discovery import GROUP, v1
from apis.discovery.printers import ENDPOINT_SLICE_COLUMNS
from apis.discovery.register import add_to_scheme
from apis.discovery.strategy import EndpointSliceStrategy
from apiserver import Group, Resource

DISCOVERY: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "endpointslices",
            v1.EndpointSlice,
            EndpointSliceStrategy(),
            columns=ENDPOINT_SLICE_COLUMNS,
            roles=("view",),
        ),
    ),
)
