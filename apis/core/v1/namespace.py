"""Namespace: the scope of object names; its content is deleted before it is removed."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time

ACTIVE: Final = "Active"
TERMINATING: Final = "Terminating"

FINALIZER_KUBERNETES: Final = "kubernetes"
"""The finalizer in `spec` that the namespace controller removes from an empty namespace."""

NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The label with the name of the namespace, for selectors."""


class NamespaceSpec(Model):
    """Attributes of a Namespace."""

    finalizers: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Finalizers that must be empty before removal; changed only through `finalize`.",
    )


class NamespaceCondition(Model):
    """A condition of a terminating Namespace."""

    type: str = field("", proto=1, omit_empty=False, doc="Type of the condition.")
    status: str = field("", proto=2, omit_empty=False, known=("True", "False", "Unknown"))
    last_transition_time: Time | None = field(
        None, proto=4, omit_empty=False, required=False, doc="Time when the status last changed."
    )
    reason: str = field("", proto=5, doc="Machine-readable reason of the last transition.")
    message: str = field("", proto=6, doc="Human-readable details of the last transition.")


class NamespaceStatus(Model):
    """Current status of a Namespace."""

    phase: str = field(
        "",
        proto=1,
        known=(ACTIVE, TERMINATING),
        publish_enum=True,
        doc="Current lifecycle phase of the namespace.",
    )
    conditions: list[NamespaceCondition] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="Conditions that describe the progress of the deletion.",
    )


class Namespace(Object):
    """Namespace provides a scope for names."""

    spec: NamespaceSpec = field(
        default_factory=NamespaceSpec, proto=2, doc="Desired behavior of the namespace."
    )
    status: NamespaceStatus = field(
        default_factory=NamespaceStatus, proto=3, doc="Current status of the namespace."
    )
