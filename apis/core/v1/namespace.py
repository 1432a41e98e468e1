"""Namespace: the scope of object names; its content is deleted before it is removed."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time

ACTIVE: Final = "Active"
TERMINATING: Final = "Terminating"

FINALIZER_KUBERNETES: Final = "kubernetes"
"""Stays in `spec.finalizers` until the namespace controller has found the namespace empty."""

NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""Every namespace has its own name under this label, so that selectors can name it."""


class NamespaceSpec(Model):
    """What must happen before a namespace is removed."""

    finalizers: list[str] = field(
        default_factory=list,
        proto=1,
        list_type="atomic",
        doc="Who must empty the namespace before it is removed. Only `finalize` changes it.",
    )


class NamespaceCondition(Model):
    """One aspect of how the removal of a namespace goes on."""

    type: str = field("", proto=1, omit_empty=False, doc="What the condition is about.")
    status: str = field("", proto=2, omit_empty=False, enum=("True", "False", "Unknown"))
    last_transition_time: Time | None = field(
        None, proto=4, doc="When the status was last another one."
    )
    reason: str = field("", proto=5, doc="Why, in one word for programs.")
    message: str = field("", proto=6, doc="Why, for people.")


class NamespaceStatus(Model):
    """Where a namespace is in its life."""

    phase: str = field("", proto=1, enum=(ACTIVE, TERMINATING), doc="Whether it is being removed.")
    conditions: list[NamespaceCondition] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("type",),
        patch_strategy="merge",
        patch_merge_key="type",
        doc="How the removal goes on.",
    )


class Namespace(Object):
    """A Namespace is a space in which the names of objects are unique."""

    spec: NamespaceSpec = field(
        default_factory=NamespaceSpec, proto=2, doc="What holds up its removal."
    )
    status: NamespaceStatus = field(
        default_factory=NamespaceStatus, proto=3, doc="Where it is in its life."
    )
