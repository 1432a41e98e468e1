"""ReplicaSet controller: keeps as many pods of a template as its replica set wants."""

from typing import Final

from apimachinery.selectors.label_selector import from_label_selector
from apis.apps.v1 import ReplicaSet
from apis.apps.v1.replica_set import ReplicaSetCondition
from apis.core.controllers.pod_set import PodSetKind
from client.controller.manager import Manager

REPLICA_SETS: Final = PodSetKind(
    ReplicaSet,
    name="replicaset",
    selector_of=lambda each: from_label_selector(each.spec.selector),
    condition=ReplicaSetCondition,
    counts_terminating=True,
)


def setup(manager: Manager) -> None:
    """Add the controller to a manager."""
    REPLICA_SETS.add_to(manager)
