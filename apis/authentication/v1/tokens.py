"""TokenRequest: the document of the token subresource of service accounts."""

from apimachinery.meta.types import Object
from apimachinery.model.model import Model, field
from apimachinery.scalars.time import Time


class BoundObjectReference(Model):
    """Reference to an object that a token is bound to."""

    kind: str = field("", proto=1, doc="Kind of the referent: Pod, Secret or Node.")
    api_version: str = field("", proto=2, doc="API version of the referent.")
    name: str = field("", proto=3, doc="Name of the referent.")
    uid: str = field("", proto=4, doc="UID of the referent.")


class TokenRequestSpec(Model):
    """Parameters of the requested token."""

    audiences: list[str] = field(
        default_factory=list,
        proto=1,
        omit_empty=False,
        list_type="atomic",
        required=False,
        doc="Intended audiences of the token; defaults to the API server.",
    )
    bound_object_ref: BoundObjectReference | None = field(
        None,
        proto=3,
        omit_empty=False,
        required=False,
        doc="Object that the token is bound to; the token is valid while the object exists.",
    )
    expiration_seconds: int | None = field(
        None, proto=4, doc="Requested lifetime of the token in seconds; defaults to an hour."
    )
    attestations: dict[str, list[str]] = field(
        default_factory=dict, proto=5, doc="Attestations to include in the token."
    )


class TokenRequestStatus(Model):
    """Result of a token request."""

    token: str = field("", proto=1, omit_empty=False, required=False, doc="Opaque bearer token.")
    expiration_timestamp: Time | None = field(
        None, proto=2, omit_empty=False, required=False, doc="Time of expiration of the token."
    )


class TokenRequest(Object):
    """TokenRequest requests a token for a given service account."""

    spec: TokenRequestSpec = field(
        default_factory=TokenRequestSpec, proto=2, doc="Parameters of the requested token."
    )
    status: TokenRequestStatus = field(
        default_factory=TokenRequestStatus, proto=3, doc="Result of a token request."
    )
