"""StorageClass: how volumes of a class are provisioned."""

from typing import Final

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apis.core.v1.topology_selectors import TopologySelectorTerm

DELETE: Final = "Delete"
RETAIN: Final = "Retain"
IMMEDIATE: Final = "Immediate"
WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"

DEFAULT_CLASS_ANNOTATION: Final = "storageclass.kubernetes.io/is-default-class"
"""Annotation that makes a class the default of claims, with the value `true`."""


class StorageClass(Object):
    """StorageClass describes how volumes are provisioned for the claims that name it.

    The annotation `storageclass.kubernetes.io/is-default-class` with the value `true` makes it the
    class of claims that name none.
    """

    provisioner: str = field(
        "", proto=2, omit_empty=False, doc="Provisioner of the volumes. Required and immutable."
    )
    parameters: dict[str, str] = field(
        default_factory=dict,
        proto=3,
        doc="Parameters of the provisioner, at most 512 and 256 KiB. Immutable.",
    )
    reclaim_policy: str | None = field(
        None,
        proto=4,
        enum=(DELETE, "Recycle", RETAIN),
        doc=(
            "What becomes of a volume when its claim is deleted: Delete, which is the default, or"
            " Retain. Immutable."
        ),
    )
    mount_options: list[str] = field(
        default_factory=list,
        proto=5,
        list_type="atomic",
        doc="Mount options of the volumes, such as `ro`; not validated.",
    )
    allow_volume_expansion: bool | None = field(
        None, proto=6, doc="Whether volumes can be expanded by changing their claims."
    )
    volume_binding_mode: str | None = field(
        None,
        proto=7,
        enum=(IMMEDIATE, WAIT_FOR_FIRST_CONSUMER),
        doc=(
            "When volumes are provisioned and bound: Immediate, which is the default, or"
            " WaitForFirstConsumer, when a pod uses the claim. Immutable."
        ),
    )
    allowed_topologies: list[TopologySelectorTerm] = field(
        default_factory=list,
        proto=8,
        list_type="atomic",
        doc=(
            "Topologies that volumes may be provisioned in; empty for all. A topology must match"
            " one of the terms."
        ),
    )
