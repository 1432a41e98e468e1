"""APIError: the errors of API requests, one class per Status reason.

The server raises an error and responds with its Status; the client rebuilds the error from that
Status, so both sides catch the same classes:

    APIError
      BadRequest 400            Unauthorized 401           Forbidden 403
      NotFound 404              MethodNotAllowed 405       NotAcceptable 406
      AlreadyExists 409         Conflict 409               Gone 410, Expired 410
      RequestEntityTooLarge 413 UnsupportedMediaType 415   Invalid 422
      TooManyRequests 429       InternalError 500          ServerTimeout 500
      StorageReadError 500      ServiceUnavailable 503     Timeout 504

A Status with an unknown reason becomes the class of its code, or a plain APIError if the code is
unknown too; the reason is kept either way.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, Self

from apimachinery.fieldpath import FieldError, shorten, to_aggregate_message
from apimachinery.meta.status import Status, StatusCause, StatusDetails
from apimachinery.schema import GroupKind, GroupResource

MAX_CAUSES: Final = 100
"""The maximum number of field errors that one response reports."""

MAX_MESSAGE: Final = 1024 * 1024
"""The maximum number of characters in a message; a longer one is cut."""

MORE_ERRORS: Final = "too many errors, the list is truncated"


class APIError(Exception):
    """An error as the client sees it; `str(error)` is the message."""

    reason: str = ""
    code: int = 500

    def __init__(
        self,
        message: str,
        *,
        details: StatusDetails | None = None,
        reason: str | None = None,
        code: int | None = None,
    ) -> None:
        message = shorten(message, MAX_MESSAGE)
        super().__init__(message)
        self.message = message
        self.details = details
        if reason is not None:
            self.reason = reason
        if code is not None:
            self.code = code
        self.continue_token = ""
        """For an expired list: a token that continues at the latest revision."""

    @property
    def retry_after(self) -> int:
        """Seconds to wait before a retry; 0 if the server suggested none."""
        return self.details.retry_after_seconds if self.details else 0

    @property
    def causes(self) -> Sequence[StatusCause]:
        return self.details.causes if self.details else ()

    def has_cause(self, reason: str) -> bool:
        return any(cause.reason == reason for cause in self.causes)

    @property
    def status(self) -> Status:
        """The Status that the server responds with."""
        status = Status(
            kind="Status",
            api_version="v1",
            status="Failure",
            message=self.message,
            reason=self.reason,
            details=self.details,
            code=self.code,
        )
        status.metadata.continue_ = self.continue_token
        return status

    @classmethod
    def _about(
        cls,
        message: str,
        resource: GroupResource | GroupKind,
        name: str = "",
        *,
        causes: Iterable[StatusCause] = (),
        retry_after: int = 0,
    ) -> Self:
        """Return an error whose details name one object.

        The `kind` of the details is the resource, or the kind where Kubernetes sends the kind.
        """
        error = cls.__new__(cls)
        kind = resource.resource if isinstance(resource, GroupResource) else resource.kind
        details = StatusDetails(
            name=name,
            group=resource.group,
            kind=kind,
            causes=list(causes),
            retry_after_seconds=retry_after,
        )
        APIError.__init__(error, message, details=details)
        return error


class BadRequest(APIError):
    """The request is malformed: its body, a name or a parameter."""

    reason, code = "BadRequest", 400


class Unauthorized(APIError):
    """The request is not authenticated."""

    reason, code = "Unauthorized", 401

    def __init__(self, message: str = "Unauthorized") -> None:
        super().__init__(message)


class Forbidden(APIError):
    """The user is not allowed to make this request."""

    reason, code = "Forbidden", 403

    @classmethod
    def of(
        cls, resource: GroupResource, name: str, reason: str, *, causes: Iterable[StatusCause] = ()
    ) -> Self:
        """Return `pods "a" is forbidden: reason`, or `forbidden: reason` without a resource."""
        if not resource.resource:
            message = f"forbidden: {reason}"
        elif name:
            message = f'{resource} "{name}" is forbidden: {reason}'
        else:
            message = f"{resource} is forbidden: {reason}"
        return cls._about(message, resource, name, causes=causes)


class NotFound(APIError):
    """The object does not exist."""

    reason, code = "NotFound", 404

    @classmethod
    def of(cls, resource: GroupResource, name: str) -> Self:
        return cls._about(f'{resource} "{name}" not found', resource, name)

    @classmethod
    def resource(cls) -> Self:
        """Return the error for a path in a served group that names no resource."""
        message = "the server could not find the requested resource"
        return cls(message, details=StatusDetails())


class MethodNotAllowed(APIError):
    """The resource does not support this verb."""

    reason, code = "MethodNotAllowed", 405

    def __init__(
        self, message: str = "the server does not allow this method on the requested resource"
    ) -> None:
        super().__init__(message, details=StatusDetails())

    @classmethod
    def of(cls, resource: GroupResource, verb: str) -> Self:
        return cls._about(f'{verb} is not supported on resources of kind "{resource}"', resource)


class NotAcceptable(APIError):
    """The server cannot respond in any media type that the client accepts."""

    reason, code = "NotAcceptable", 406

    @classmethod
    def of(cls, accepted: Iterable[str]) -> Self:
        return cls(f"only the following media types are accepted: {', '.join(accepted)}")


class AlreadyExists(APIError):
    """An object of this name exists already."""

    reason, code = "AlreadyExists", 409

    @classmethod
    def of(cls, resource: GroupResource, name: str) -> Self:
        return cls._about(f'{resource} "{name}" already exists', resource, name)

    @classmethod
    def generated_name(cls, resource: GroupResource, name: str) -> Self:
        """Return the error for a create whose generated names were all taken; a retry may work."""
        message = (
            f'{resource} "{name}" already exists, the server was not able to generate a unique'
            " name for the object"
        )
        return cls._about(message, resource, name, retry_after=1)


class Conflict(APIError):
    """The request conflicts with the current state of the object."""

    reason, code = "Conflict", 409

    @classmethod
    def of(cls, resource: GroupResource | GroupKind, name: str, reason: str) -> Self:
        message = f'Operation cannot be fulfilled on {resource} "{name}": {reason}'
        return cls._about(message, resource, name)

    @classmethod
    def modified(cls, resource: GroupResource, name: str) -> Self:
        """Return the error for an update whose resourceVersion is no longer current."""
        return cls.of(resource, name, MODIFIED)

    @classmethod
    def apply(cls, message: str, conflicts: Iterable[tuple[str, str]]) -> Self:
        """Return the error for a server-side apply of fields that other managers own.

        Each conflict is a message and a field path: (`conflict with "m"`, `.data.a`).
        """
        causes = [
            StatusCause(reason="FieldManagerConflict", message=text, field=path)
            for text, path in islice(conflicts, MAX_CAUSES)
        ]
        return cls(message, details=StatusDetails(causes=causes))


MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class Gone(APIError):
    """The resource existed and is no longer available."""

    reason, code = "Gone", 410


class Expired(APIError):
    """The requested resourceVersion has been compacted: the client must list again."""

    reason, code = "Expired", 410


class RequestEntityTooLarge(APIError):
    """The body of the request exceeds the server's limit."""

    reason, code = "RequestEntityTooLarge", 413

    @classmethod
    def of(cls, limit: int) -> Self:
        return cls(f"Request entity too large: limit is {limit}")


class UnsupportedMediaType(APIError):
    """The server cannot decode the media type of the body."""

    reason, code = "UnsupportedMediaType", 415

    @classmethod
    def of(cls, accepted: Iterable[str]) -> Self:
        return cls(
            "the body of the request was in an unknown format - accepted media types include: "
            + ", ".join(accepted)
        )


class Invalid(APIError):
    """The object is well-formed but fails validation; each field error is a cause."""

    reason, code = "Invalid", 422

    @classmethod
    def of(cls, kind: GroupKind, name: str, errors: Iterable[FieldError]) -> Self:
        """Return `ConfigMap "x" is invalid: …` with one cause for each of the first field errors.

        Validators are generators, so validation ends when the message is full.
        """
        remaining = iter(errors)
        field_errors = list(islice(remaining, MAX_CAUSES))
        # A rule may be broken twice in one place: one cause says so.
        distinct = dict.fromkeys((error.reason, error.body, error.field) for error in field_errors)
        causes = [
            StatusCause(reason=reason, message=body, field=field)
            for reason, body, field in distinct
        ]
        aggregate = to_aggregate_message(field_errors)
        if next(remaining, None) is not None:
            causes.append(StatusCause(message=MORE_ERRORS))
            aggregate = f"{aggregate}: {MORE_ERRORS}"
        name = shorten(name)
        return cls._about(f'{kind} "{name}" is invalid: {aggregate}', kind, name, causes=causes)

    @classmethod
    def request(cls) -> Self:
        """Return the error for a patch that cannot be applied, which has no further details."""
        message = "the server rejected our request due to an error in our request"
        return cls(message, details=StatusDetails())


class TooManyRequests(APIError):
    """The server is overloaded, or a limit is reached: the client must retry later."""

    reason, code = "TooManyRequests", 429

    @classmethod
    def of(cls, message: str, *, retry_after: int = 1) -> Self:
        return cls(message, details=StatusDetails(retry_after_seconds=retry_after))


class InternalError(APIError):
    """A bug in the server, or a failure that the client cannot fix."""

    reason, code = "InternalError", 500

    @classmethod
    def of(cls, reason: str) -> Self:
        details = StatusDetails(causes=[StatusCause(message=reason)])
        return cls(f"Internal error occurred: {reason}", details=details)


class ServerTimeout(APIError):
    """The server could not finish the operation in time; the client may retry it."""

    reason, code = "ServerTimeout", 500

    @classmethod
    def of(cls, resource: GroupResource, verb: str, *, retry_after: int = 2) -> Self:
        message = (
            f"The {verb} operation against {resource} could not be completed at this time,"
            " please try again."
        )
        return cls._about(message, resource, verb, retry_after=retry_after)


class StorageReadError(APIError):
    """The stored object cannot be decoded."""

    reason, code = "StorageReadError", 500


class ServiceUnavailable(APIError):
    """The server, or a service it depends on, is not available."""

    reason, code = "ServiceUnavailable", 503

    @classmethod
    def of(cls, message: str, *, retry_after: int = 0) -> Self:
        details = StatusDetails(retry_after_seconds=retry_after) if retry_after else None
        return cls(message, details=details)


class Timeout(APIError):
    """The request exceeded its timeout."""

    reason, code = "Timeout", 504

    @classmethod
    def of(cls, reason: str, *, retry_after: int = 0) -> Self:
        return cls(f"Timeout: {reason}", details=StatusDetails(retry_after_seconds=retry_after))

    @classmethod
    def future_revision(cls, requested: int, current: int) -> Self:
        """Return the error for a resourceVersion that the server has not reached."""
        cause = StatusCause(reason="ResourceVersionTooLarge", message="Too large resource version")
        details = StatusDetails(causes=[cause], retry_after_seconds=1)
        return cls(
            f"Timeout: Too large resource version: {requested}, current: {current}",
            details=details,
        )


_CLASSES: Final = (
    *(BadRequest, Unauthorized, Forbidden, NotFound, MethodNotAllowed, NotAcceptable),
    *(Conflict, AlreadyExists, Gone, Expired, RequestEntityTooLarge, UnsupportedMediaType),
    *(Invalid, TooManyRequests, InternalError, ServerTimeout, StorageReadError),
    *(ServiceUnavailable, Timeout),
)
_BY_REASON: Final[Mapping[str, type[APIError]]] = {cls.reason: cls for cls in _CLASSES}
# Where two classes share a code, the first one wins: a 409 without a reason is a Conflict.
_BY_CODE: Final[Mapping[int, type[APIError]]] = {cls.code: cls for cls in reversed(_CLASSES)}


def error_class(reason: str, code: int) -> type[APIError]:
    """Return the class for a reason, or for the code if the reason is unknown."""
    return _BY_REASON.get(reason) or _BY_CODE.get(code, APIError)


def from_status(status: Status) -> APIError:
    """Return the error that a Status describes."""
    cls = error_class(status.reason, status.code)
    # Subclasses have other constructor signatures.
    error = cls.__new__(cls)
    APIError.__init__(
        error,
        status.message or status.reason or f"status code {status.code}",
        details=status.details,
        reason=status.reason,
        code=status.code or cls.code,
    )
    error.continue_token = status.metadata.continue_
    return error
