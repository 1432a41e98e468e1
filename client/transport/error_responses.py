"""Error responses: decode the Status in the body, or build one if the body has none.

A proxy, a load balancer or an unknown path responds with plain text. The Status built for such a
response has the message that client-go gives it, so that scripts which match on messages work.
"""

from typing import Final

from apimachinery.errors import APIError, from_status
from apimachinery.meta.status import Status, StatusCause, StatusDetails
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.schema import GroupResource
from apimachinery.serialization.media_types import JSON, PROTOBUF, YAML
from client.transport.request import Request
from client.transport.transport import Headers

MAX_TEXT: Final = 2048
"""Bytes of a body without a Status that the error quotes."""
_STATUS_KIND_BYTES: Final = 4096
"""Bytes of a body in which the kind Status must appear, to avoid searching lists of megabytes."""
UNEXPECTED: Final = "UnexpectedServerResponse"

_REASONS_AND_MESSAGES: Final = {
    400: ("BadRequest", "the server rejected our request for an unknown reason"),
    401: ("Unauthorized", "the server has asked for the client to provide credentials"),
    403: ("Forbidden", "{text}"),
    404: ("NotFound", "the server could not find the requested resource"),
    405: ("MethodNotAllowed", "the server does not allow this method on the requested resource"),
    406: ("NotAcceptable", "{text}"),
    409: ("Conflict", "the server reported a conflict"),
    415: ("UnsupportedMediaType", "{text}"),
    422: ("Invalid", "the server rejected our request due to an error in our request"),
    429: (
        "TooManyRequests",
        "the server has received too many requests and has asked us to try again later",
    ),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: (
        "Timeout",
        "the server was unable to return a response in the time allotted, but may still be"
        " processing the request",
    ),
}
_NOT_ACCEPTABLE: Final = (
    "the server was unable to respond with a content type that the client supports"
)


def error_from_response(request: Request, status: int, headers: Headers, body: bytes) -> APIError:
    """Return the APIError for a response whose status code is not a success."""
    status_object = parse_status(body)
    if status_object is not None and status_object.status != "Success":
        return from_status(status_object)
    text = "unknown"
    if _is_text(headers):
        text = body[:MAX_TEXT].decode(errors="replace").strip()
    return from_status(
        generic_status(
            status,
            verb=request.method,
            resource=request.resource,
            name=request.name,
            text=text,
            retry_after=retry_after_seconds(headers) or 0,
        )
    )


def parse_status(body: bytes) -> Status | None:
    """Return *body* decoded as a Status, or None if it is anything else."""
    if b'"Status"' not in body[:_STATUS_KIND_BYTES]:
        return None
    try:
        status = decode_json(Status, body, find_unknown=False).object
    except DecodeError:
        return None
    return status if (status.kind, status.api_version) == ("Status", "v1") else None


def generic_status(
    code: int,
    *,
    verb: str,
    resource: GroupResource | None = None,
    name: str = "",
    text: str = "",
    retry_after: int = 0,
) -> Status:
    """Build the Status for a response without one; *text* is the body of the response."""
    reason, message = _REASONS_AND_MESSAGES.get(code, _default_reason_and_message(code, text))
    message = message.replace("{text}", text)
    if code == 409 and verb == "POST":
        reason = "AlreadyExists"
    if code == 406 and text in ("", "unknown"):
        message = _NOT_ACCEPTABLE
    resource = resource or GroupResource()
    if not resource.empty:
        suffix = f" {name}" if name else ""
        message = f"{message} ({verb.lower()} {resource}{suffix})"
    details = StatusDetails(
        name=name,
        group=resource.group,
        kind=resource.resource,
        causes=[StatusCause(reason=UNEXPECTED, message=text)],
        retry_after_seconds=retry_after,
    )
    return Status(
        kind="Status",
        api_version="v1",
        status="Failure",
        message=message,
        reason=reason,
        details=details,
        code=code,
    )


def retry_after_seconds(headers: Headers) -> int | None:
    """Return the seconds of a Retry-After header, or None; like client-go, ignore dates."""
    text = headers.get("retry-after").strip()
    return min(int(text), 2**31 - 1) if text.isdecimal() and text.isascii() else None


def _default_reason_and_message(code: int, text: str) -> tuple[str, str]:
    if code >= 500:
        quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        message = f'an error on the server ("{quoted}") has prevented the request from succeeding'
        return "InternalError", message
    return (
        "",
        f"the server responded with the status code {code} but did not return more information",
    )


def _is_text(headers: Headers) -> bool:
    media_type = headers.media_type
    return (
        media_type.startswith("text/")
        or media_type in ("", JSON, YAML)
        or (
            media_type.startswith("application/")
            and media_type != PROTOBUF
            and "octet" not in media_type
        )
    )
