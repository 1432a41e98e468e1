"""The group node.k8s.io as a server installs it."""

from typing import Final

from apis.node import GROUP, v1
from apis.node.admission import RUNTIME_CLASS
from apis.node.printers import RUNTIME_CLASS_COLUMNS
from apis.node.register import add_to_scheme
from apis.node.strategy import RuntimeClassStrategy
from apiserver import Group, Resource

NODE: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "runtimeclasses",
            v1.RuntimeClass,
            RuntimeClassStrategy(),
            namespaced=False,
            columns=RUNTIME_CLASS_COLUMNS,
            roles=(),
        ),
    ),
    plugins=(RUNTIME_CLASS,),
)
