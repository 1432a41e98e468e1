"""APIError: what went wrong with a request, one class per Status reason.

A server raises them and answers with their Status; a client makes them from the Status it is
answered with, so both sides catch the same names:

    APIError
      BadRequest 400            Unauthorized 401           Forbidden 403
      NotFound 404              MethodNotAllowed 405       NotAcceptable 406
      AlreadyExists 409         Conflict 409               Gone 410, Expired 410
      RequestEntityTooLarge 413 UnsupportedMediaType 415   Invalid 422
      TooManyRequests 429       InternalError 500          ServerTimeout 500
      StorageReadError 500      ServiceUnavailable 503     Timeout 504

A Status whose reason nobody knows becomes the class of its code, or a plain APIError when the code
says no more; the reason is kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Self

from apimachinery.fieldpath import FieldError, to_aggregate_message
from apimachinery.meta.status import Status, StatusCause, StatusDetails
from apimachinery.schema import GroupKind, GroupResource


class APIError(Exception):
    """An error as a client sees it; *str* is the message."""

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
        super().__init__(message)
        self.message = message
        self.details = details
        if reason is not None:
            self.reason = reason
        if code is not None:
            self.code = code
        self.continue_token = ""
        """For an expired list: a token that goes on at the newest revision."""

    @property
    def retry_after(self) -> int:
        """Seconds after which to try again; 0 when the server did not say."""
        return self.details.retry_after_seconds if self.details else 0

    @property
    def causes(self) -> Sequence[StatusCause]:
        return self.details.causes if self.details else ()

    def has_cause(self, reason: str) -> bool:
        return any(cause.reason == reason for cause in self.causes)

    @property
    def status(self) -> Status:
        """What a server answers."""
        made = Status(
            kind="Status",
            api_version="v1",
            status="Failure",
            message=self.message,
            reason=self.reason,
            details=self.details,
            code=self.code,
        )
        made.metadata.continue_ = self.continue_token
        return made

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
        """An error about one object of a resource, or of a kind where the wire says kind."""
        made = cls.__new__(cls)
        kind = resource.resource if isinstance(resource, GroupResource) else resource.kind
        details = StatusDetails(
            name=name,
            group=resource.group,
            kind=kind,
            causes=list(causes),
            retry_after_seconds=retry_after,
        )
        APIError.__init__(made, message, details=details)
        return made


class BadRequest(APIError):
    """The request cannot be understood: a body, a name, a parameter."""

    reason, code = "BadRequest", 400


class Unauthorized(APIError):
    """Nobody knows who is asking."""

    reason, code = "Unauthorized", 401

    def __init__(self, message: str = "Unauthorized") -> None:
        super().__init__(message)


class Forbidden(APIError):
    """Who is asking may not."""

    reason, code = "Forbidden", 403

    @classmethod
    def of(
        cls, resource: GroupResource, name: str, why: str, *, causes: Iterable[StatusCause] = ()
    ) -> Self:
        """`pods "a" is forbidden: why`; without a resource, `forbidden: why`."""
        if not resource.resource:
            message = f"forbidden: {why}"
        elif name:
            message = f'{resource} "{name}" is forbidden: {why}'
        else:
            message = f"{resource} is forbidden: {why}"
        return cls._about(message, resource, name, causes=causes)


class NotFound(APIError):
    """There is no such object."""

    reason, code = "NotFound", 404

    @classmethod
    def of(cls, resource: GroupResource, name: str) -> Self:
        return cls._about(f'{resource} "{name}" not found', resource, name)

    @classmethod
    def resource(cls) -> Self:
        """A path inside a known group that leads to no resource."""
        message = "the server could not find the requested resource"
        return cls(message, details=StatusDetails())


class MethodNotAllowed(APIError):
    """The resource does not have this verb."""

    reason, code = "MethodNotAllowed", 405

    def __init__(
        self, message: str = "the server does not allow this method on the requested resource"
    ) -> None:
        super().__init__(message, details=StatusDetails())

    @classmethod
    def of(cls, resource: GroupResource, verb: str) -> Self:
        return cls._about(f'{verb} is not supported on resources of kind "{resource}"', resource)


class NotAcceptable(APIError):
    """The answer exists in none of the forms the client accepts."""

    reason, code = "NotAcceptable", 406

    @classmethod
    def of(cls, accepted: Iterable[str]) -> Self:
        return cls(f"only the following media types are accepted: {', '.join(accepted)}")


class AlreadyExists(APIError):
    """There is an object of this name already."""

    reason, code = "AlreadyExists", 409

    @classmethod
    def of(cls, resource: GroupResource, name: str) -> Self:
        return cls._about(f'{resource} "{name}" already exists', resource, name)

    @classmethod
    def generated_name(cls, resource: GroupResource, name: str) -> Self:
        """Every name the server made was taken; the next try may be luckier."""
        message = (
            f'{resource} "{name}" already exists, the server was not able to generate a unique'
            " name for the object"
        )
        return cls._about(message, resource, name, retry_after=1)


class Conflict(APIError):
    """The object is not what the client believes it to be."""

    reason, code = "Conflict", 409

    @classmethod
    def of(cls, resource: GroupResource | GroupKind, name: str, why: str) -> Self:
        message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
        return cls._about(message, resource, name)

    @classmethod
    def modified(cls, resource: GroupResource, name: str) -> Self:
        """Somebody changed the object since the client read it."""
        return cls.of(resource, name, MODIFIED)

    @classmethod
    def apply(cls, message: str, conflicts: Iterable[tuple[str, str]]) -> Self:
        """Fields that other managers own: (`conflict with "m"`, `.data.a`) each."""
        causes = [
            StatusCause(reason="FieldManagerConflict", message=text, field=path)
            for text, path in conflicts
        ]
        return cls(message, details=StatusDetails(causes=causes))


MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class Gone(APIError):
    """What was asked for existed and does not any more."""

    reason, code = "Gone", 410


class Expired(APIError):
    """The revision asked for is forgotten: list again."""

    reason, code = "Expired", 410


class RequestEntityTooLarge(APIError):
    reason, code = "RequestEntityTooLarge", 413

    @classmethod
    def of(cls, limit: int) -> Self:
        return cls(f"Request entity too large: limit is {limit}")


class UnsupportedMediaType(APIError):
    """The body is in a form that the server does not read."""

    reason, code = "UnsupportedMediaType", 415

    @classmethod
    def of(cls, accepted: Iterable[str]) -> Self:
        return cls(
            "the body of the request was in an unknown format - accepted media types include: "
            + ", ".join(accepted)
        )


class Invalid(APIError):
    """The object is understood and breaks rules; every broken rule is a cause."""

    reason, code = "Invalid", 422

    @classmethod
    def of(cls, kind: GroupKind, name: str, errors: Iterable[FieldError]) -> Self:
        """`ConfigMap "x" is invalid: …`, one cause for each error."""
        found = list(errors)
        causes = [
            StatusCause(reason=error.reason, message=error.body, field=error.field)
            for error in found
        ]
        message = f'{kind} "{name}" is invalid: {to_aggregate_message(found)}'
        return cls._about(message, kind, name, causes=causes)

    @classmethod
    def request(cls) -> Self:
        """A patch that could not be carried out; the wire says no more."""
        message = "the server rejected our request due to an error in our request"
        return cls(message, details=StatusDetails())


class TooManyRequests(APIError):
    """The server is busy, or a limit is reached: try again later."""

    reason, code = "TooManyRequests", 429

    @classmethod
    def of(cls, message: str, *, retry_after: int = 1) -> Self:
        return cls(message, details=StatusDetails(retry_after_seconds=retry_after))


class InternalError(APIError):
    """A bug, or something the client can do nothing about."""

    reason, code = "InternalError", 500

    @classmethod
    def of(cls, why: str) -> Self:
        details = StatusDetails(causes=[StatusCause(message=why)])
        return cls(f"Internal error occurred: {why}", details=details)


class ServerTimeout(APIError):
    """The server could not finish in time; the operation can be tried again."""

    reason, code = "ServerTimeout", 500

    @classmethod
    def of(cls, resource: GroupResource, verb: str, *, retry_after: int = 2) -> Self:
        message = (
            f"The {verb} operation against {resource} could not be completed at this time,"
            " please try again."
        )
        return cls._about(message, resource, verb, retry_after=retry_after)


class StorageReadError(APIError):
    """What is stored cannot be read."""

    reason, code = "StorageReadError", 500


class ServiceUnavailable(APIError):
    reason, code = "ServiceUnavailable", 503

    @classmethod
    def of(cls, message: str, *, retry_after: int = 0) -> Self:
        details = StatusDetails(retry_after_seconds=retry_after) if retry_after else None
        return cls(message, details=details)


class Timeout(APIError):
    """The request's time is up."""

    reason, code = "Timeout", 504

    @classmethod
    def of(cls, why: str, *, retry_after: int = 0) -> Self:
        return cls(f"Timeout: {why}", details=StatusDetails(retry_after_seconds=retry_after))

    @classmethod
    def future_revision(cls, asked: int, current: int) -> Self:
        """A resourceVersion that the server has not reached."""
        cause = StatusCause(reason="ResourceVersionTooLarge", message="Too large resource version")
        details = StatusDetails(causes=[cause], retry_after_seconds=1)
        return cls(
            f"Timeout: Too large resource version: {asked}, current: {current}", details=details
        )


_CLASSES: Final = (
    *(BadRequest, Unauthorized, Forbidden, NotFound, MethodNotAllowed, NotAcceptable),
    *(Conflict, AlreadyExists, Gone, Expired, RequestEntityTooLarge, UnsupportedMediaType),
    *(Invalid, TooManyRequests, InternalError, ServerTimeout, StorageReadError),
    *(ServiceUnavailable, Timeout),
)
_BY_REASON: Final[Mapping[str, type[APIError]]] = {cls.reason: cls for cls in _CLASSES}
# Of two classes with one code the first is meant: a 409 that says no more is a conflict.
_BY_CODE: Final[Mapping[int, type[APIError]]] = {cls.code: cls for cls in reversed(_CLASSES)}


def class_of(reason: str, code: int) -> type[APIError]:
    """The class of a reason, or of the code where the reason is not known."""
    return _BY_REASON.get(reason) or _BY_CODE.get(code, APIError)


def from_status(status: Status) -> APIError:
    """The error that a Status tells of."""
    cls = class_of(status.reason, status.code)
    made = cls.__new__(cls)
    APIError.__init__(
        made,
        status.message or status.reason or f"status code {status.code}",
        details=status.details,
        reason=status.reason,
        code=status.code or cls.code,
    )
    made.continue_token = status.metadata.continue_
    return made
