"""The group scheduling.k8s.io as a server installs it."""

from typing import Final

from apis.scheduling import GROUP, v1
from apis.scheduling.admission import PRIORITY, keep_system_classes
from apis.scheduling.printers import PRIORITY_CLASS_COLUMNS
from apis.scheduling.register import add_to_scheme
from apis.scheduling.strategy import PriorityClassStrategy
from apis.scheduling.system_classes import system_priority_classes
from apiserver import Group, Resource

SCHEDULING: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "priorityclasses",
            v1.PriorityClass,
            PriorityClassStrategy(),
            short_names=("pc",),
            namespaced=False,
            columns=PRIORITY_CLASS_COLUMNS,
            roles=(),
        ),
    ),
    validating=(keep_system_classes,),
    bootstrap=system_priority_classes,
    plugins=(PRIORITY,),
)
