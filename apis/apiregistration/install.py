"""The group apiregistration.k8s.io as a server installs it."""

from typing import Final

from apis.apiregistration import GROUP, v1
from apis.apiregistration.printers import API_SERVICE_COLUMNS
from apis.apiregistration.register import add_to_scheme
from apis.apiregistration.strategy import APIServiceStrategy
from apiserver import STATUS, Group, Resource

APIREGISTRATION: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "apiservices",
            v1.APIService,
            APIServiceStrategy(),
            categories=("api-extensions",),
            namespaced=False,
            subresources=(STATUS,),
            columns=API_SERVICE_COLUMNS,
            roles=(),
        ),
    ),
)
