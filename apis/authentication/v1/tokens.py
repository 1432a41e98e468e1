"""TokenRequest: the document of the token subresource of service accounts."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time


class BoundObjectReference(Model):
    """An object with which a token ceases to be valid."""

    kind: str = field("", proto=1, doc="Pod, Secret or Node.")
    api_version: str = field("", proto=2)
    name: str = field("", proto=3)
    uid: str = field("", proto=4)


class TokenRequestSpec(Model):
    """What the token should be good for."""

    audiences: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        doc="Whom it is meant for; the server itself if empty.",
    )
    bound_object_ref: BoundObjectReference | None = field(
        None, proto=3, doc="The object with which it ceases to be valid."
    )
    expiration_seconds: int | None = field(
        None, proto=4, doc="How long it should be valid; an hour unless given."
    )
    attestations: dict[str, list[str]] = field(
        default_factory=dict, proto=5, doc="What else the token should say."
    )


class TokenRequestStatus(Model):
    """The token."""

    token: str = field("", proto=1, omit_empty=False, doc="The token itself.")
    expiration_timestamp: Time | None = field(None, proto=2, doc="When it ceases to be valid.")


class TokenRequest(Object):
    """A TokenRequest asks for a token of a service account."""

    spec: TokenRequestSpec = field(
        default_factory=TokenRequestSpec, proto=2, doc="What it should be good for."
    )
    status: TokenRequestStatus = field(
        default_factory=TokenRequestStatus, proto=3, doc="The token."
    )
