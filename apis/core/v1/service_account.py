"""ServiceAccount: an identity for programs."""

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apis.core.v1.references import LocalObjectReference, ObjectReference


class ServiceAccount(Object):
    """ServiceAccount is an identity for programs in a namespace."""

    secrets: list[ObjectReference] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Secrets that pods of this service account may use.",
    )
    image_pull_secrets: list[LocalObjectReference] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Secrets for pulling the images of pods of this service account.",
    )
    automount_service_account_token: bool | None = field(
        None, proto=4, doc="Whether pods of this service account automatically get a token."
    )
