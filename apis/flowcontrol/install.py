"""The group flowcontrol.apiserver.k8s.io as a server installs it."""

from typing import Final

from apis.flowcontrol import GROUP, v1
from apis.flowcontrol.printers import FLOW_SCHEMA_COLUMNS, PRIORITY_LEVEL_COLUMNS
from apis.flowcontrol.register import add_to_scheme
from apis.flowcontrol.strategy import FlowSchemaStrategy, PriorityLevelStrategy
from apiserver import STATUS, Group, Resource

FLOWCONTROL: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "flowschemas",
            v1.FlowSchema,
            FlowSchemaStrategy(),
            namespaced=False,
            subresources=(STATUS,),
            columns=FLOW_SCHEMA_COLUMNS,
        ),
        Resource(
            "prioritylevelconfigurations",
            v1.PriorityLevelConfiguration,
            PriorityLevelStrategy(),
            namespaced=False,
            subresources=(STATUS,),
            columns=PRIORITY_LEVEL_COLUMNS,
        ),
    ),
)
