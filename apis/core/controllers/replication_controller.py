"""The controller of replication controllers, the predecessors of replica sets."""

from typing import Final

from apimachinery.meta.types import LabelSelector
from apimachinery.selectors.label_selector import Selector, from_label_selector, nothing
from apis.core.controllers.pod_set import PodSetKind
from apis.core.v1.replication_controller import (
    ReplicationController,
    ReplicationControllerCondition,
)
from client.controller.manager import Manager


def _selector_of(controller: ReplicationController) -> Selector:
    labels = controller.spec.selector
    return from_label_selector(LabelSelector(match_labels=labels)) if labels else nothing()


REPLICATION_CONTROLLERS: Final = PodSetKind(
    ReplicationController,
    name="replicationcontroller",
    selector_of=_selector_of,
    condition=ReplicationControllerCondition,
    counts_terminating=False,
)


def setup(manager: Manager) -> None:
    """Add the controller to a manager."""
    REPLICATION_CONTROLLERS.add_to(manager)
