"""Answers that are errors: the Status in the body, or the nearest one when there is none.

A proxy, a load balancer or an unknown path answers in text; those get the words that every
Kubernetes client uses for them, so that scripts which look for the words find them.
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
"""How much of an answer that is no Status goes into the error."""
_HEAD: Final = 4096
"""Where a Status says that it is one; lists of megabytes are not searched."""
UNEXPECTED: Final = "UnexpectedServerResponse"

_KNOWN: Final = {
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


def error_of(request: Request, status: int, headers: Headers, body: bytes) -> APIError:
    """The error that an answer other than success tells of."""
    found = status_in(body)
    if found is not None and found.status != "Success":
        return from_status(found)
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


def status_in(body: bytes) -> Status | None:
    """The Status that *body* is, or None."""
    if b'"Status"' not in body[:_HEAD]:
        return None
    try:
        found = decode_json(Status, body, find_unknown=False).object
    except DecodeError:
        return None
    return found if (found.kind, found.api_version) == ("Status", "v1") else None


def generic_status(
    code: int,
    *,
    verb: str,
    resource: GroupResource | None = None,
    name: str = "",
    text: str = "",
    retry_after: int = 0,
) -> Status:
    """The Status for an answer that brought none; *text* is what it brought instead."""
    reason, message = _KNOWN.get(code, _unknown(code, text))
    message = message.replace("{text}", text)
    if code == 409 and verb == "POST":
        reason = "AlreadyExists"
    if code == 406 and text in ("", "unknown"):
        message = _NOT_ACCEPTABLE
    about = resource or GroupResource()
    if not about.empty:
        named = f" {name}" if name else ""
        message = f"{message} ({verb.lower()} {about}{named})"
    details = StatusDetails(
        name=name,
        group=about.group,
        kind=about.resource,
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
    """The seconds of a Retry-After header; a date there is not understood, as elsewhere."""
    text = headers.get("retry-after").strip()
    return min(int(text), 2**31 - 1) if text.isdecimal() and text.isascii() else None


def _unknown(code: int, text: str) -> tuple[str, str]:
    if code >= 500:
        shown = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        message = f'an error on the server ("{shown}") has prevented the request from succeeding'
        return "InternalError", message
    return (
        "",
        f"the server responded with the status code {code} but did not return more information",
    )


def _is_text(headers: Headers) -> bool:
    kind = headers.media_type
    return (
        kind.startswith("text/")
        or kind in ("", JSON, YAML)
        or (kind.startswith("application/") and kind != PROTOBUF and "octet" not in kind)
    )
