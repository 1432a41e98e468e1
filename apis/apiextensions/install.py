"""The group apiextensions.k8s.io as a server installs it."""

from typing import Final

from apis.apiextensions import GROUP, v1
from apis.apiextensions.printers import DEFINITION_COLUMNS
from apis.apiextensions.register import add_to_scheme
from apis.apiextensions.strategy import DefinitionStrategy
from apiserver import STATUS, Group, Resource

APIEXTENSIONS: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "customresourcedefinitions",
            v1.CustomResourceDefinition,
            DefinitionStrategy(),
            short_names=("crd", "crds"),
            categories=("api-extensions",),
            namespaced=False,
            subresources=(STATUS,),
            columns=DEFINITION_COLUMNS,
            announced_storage_version="v1beta1",
        ),
    ),
)
