"""RuntimeClass: a container runtime that pods can choose."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.quantity import Quantity
from apis.core.v1.scheduling import Toleration


class Overhead(Model):
    """Resources that a runtime needs for a pod beside its containers."""

    pod_fixed: dict[str, Quantity] = field(
        default_factory=dict, proto=1, doc="Resources of each pod, such as `cpu` and `memory`."
    )


class Scheduling(Model):
    """Nodes that support a runtime."""

    node_selector: dict[str, str] = field(
        default_factory=dict,
        proto=1,
        map_type="atomic",
        doc=(
            "Labels of the nodes that support the runtime; added to the selector of its pods,"
            " which are rejected if both name different values."
        ),
    )
    tolerations: list[Toleration] = field(
        default_factory=list,
        proto=2,
        list_type="atomic",
        doc="Tolerations that are added to those of the pods.",
    )


class RuntimeClass(Object):
    """RuntimeClass names a container runtime; pods choose it with `spec.runtimeClassName`."""

    handler: str = field(
        "",
        proto=2,
        omit_empty=False,
        doc=(
            "Configuration of the container runtime on the nodes, a DNS label. All nodes of the"
            " class must have it. Required and immutable."
        ),
    )
    overhead: Overhead | None = field(
        None, proto=3, doc="Resources that the runtime needs beside the containers."
    )
    scheduling: Scheduling | None = field(
        None, proto=4, doc="Nodes that support the runtime; by default all."
    )
