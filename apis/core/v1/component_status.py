"""ComponentStatus: the health of a part of the control plane. It is answered, never stored."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field

HEALTHY: Final = "Healthy"


class ComponentCondition(Model):
    """A condition of a component."""

    type: str = field(
        "", proto=1, omit_empty=False, known=(HEALTHY,), doc="Type of the condition: Healthy."
    )
    status: str = field(
        "",
        proto=2,
        omit_empty=False,
        known=("False", "True", "Unknown"),
        doc="Whether the component is healthy.",
    )
    message: str = field("", proto=3, doc="What the health check of the component answered.")
    error: str = field("", proto=4, doc="Reason why the health check failed.")


class ComponentStatus(Object):
    """ComponentStatus shows the health of a part of the control plane.

    Deprecated since v1.19: the health checks of the components themselves say more.
    """

    conditions: list[ComponentCondition] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions of the component.",
    )
