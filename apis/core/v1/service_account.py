"""ServiceAccount: the identity of a program."""

from apimachinery.meta.types import Object
from apimachinery.model.model import field
from apis.core.v1.references import LocalObjectReference, ObjectReference


class ServiceAccount(Object):
    """A ServiceAccount is who a program in a namespace is."""

    secrets: list[ObjectReference] = field(
        default_factory=list,
        proto=2,
        list_map_keys=("name",),
        patch_strategy="merge",
        patch_merge_key="name",
        doc="Secrets that programs of this account may use.",
    )
    image_pull_secrets: list[LocalObjectReference] = field(
        default_factory=list,
        proto=3,
        list_type="atomic",
        doc="Secrets with which the images of such programs are pulled.",
    )
    automount_service_account_token: bool | None = field(
        None, proto=4, doc="Whether such programs are given a token unasked."
    )
