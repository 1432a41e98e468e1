"""The group policy as a server installs it.

Evictions are not a resource of this group: they are created at the pods they evict.
"""

from typing import Final

from apis.policy import GROUP, v1
from apis.policy.printers import POD_DISRUPTION_BUDGET_COLUMNS
from apis.policy.register import add_to_scheme
from apis.policy.strategy import PodDisruptionBudgetStrategy
from apiserver import STATUS, Group, Resource

POLICY: Final = Group(
    name=GROUP,
    versions=("v1",),
    add_to_scheme=add_to_scheme,
    resources=(
        Resource(
            "poddisruptionbudgets",
            v1.PodDisruptionBudget,
            PodDisruptionBudgetStrategy(),
            short_names=("pdb",),
            subresources=(STATUS,),
            columns=POD_DISRUPTION_BUDGET_COLUMNS,
        ),
    ),
)
