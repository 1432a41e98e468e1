"""Storage errors: translate what a backend raises into the API errors that clients see."""

from typing import Final

from apimachinery.errors import (
    MAX_CAUSES,
    APIError,
    Expired,
    InternalError,
    RequestEntityTooLarge,
    ServerTimeout,
    ServiceUnavailable,
    StorageReadError,
    Timeout,
    TooManyRequests,
)
from apimachinery.meta.status import StatusCause, StatusDetails
from apimachinery.schema import GroupResource
from apiserver.storage.cache import read_revision as revision
from apiserver.storage.interface import (
    Compacted,
    Damaged,
    Full,
    FutureRevision,
    StorageError,
    Unavailable,
    ValueTooLarge,
)
from apiserver.storage.keys import ROOT
from apiserver.storage.objects import Unconverted, Unreadable, WouldLoseFields, WrittenUnconverted

NEWER_RELEASE_RETRY: Final = 1
"""Seconds after which a client may try a write again that another release has to carry out."""
_CORRUPT: Final = 7
"""Kubernetes' error code for an object that cannot be decoded."""
TOO_OLD: Final = "The resourceVersion for the provided list is too old."


def api_error(error: StorageError, resource: GroupResource, verb: str) -> APIError:
    """Return the error for a request of *verb* on *resource*."""
    match error:
        case Full() | Damaged():
            state = "full" if isinstance(error, Full) else "damaged"
            return InternalError.of(f"the store is {state}: {error}")
        case ValueTooLarge():
            return RequestEntityTooLarge(f"Request entity too large: {error}")
        case Unreadable() | WouldLoseFields():
            return _incomplete(error)
        case Unconverted() | WrittenUnconverted():
            return _unconverted(error, resource, verb)
        case Unavailable():
            return ServerTimeout.of(resource, verb)
        case revision.NotReady():
            return TooManyRequests.of("storage is (re)initializing")
        case revision.TooLargeRevision():
            return Timeout.future_revision(error.requested, error.current)
        case FutureRevision():
            return Timeout.future_revision(error.revision, error.current)
        case Compacted() | revision.RevisionExpired():
            return Expired(TOO_OLD if isinstance(error, Compacted) else str(error))
        case _:
            return InternalError.of(str(error))


def _incomplete(error: Unreadable | WouldLoseFields) -> APIError:
    if isinstance(error, WouldLoseFields):
        retry_after = NEWER_RELEASE_RETRY if error.is_newer else 0
        return ServiceUnavailable.of(str(error), retry_after=retry_after)
    return StorageReadError(str(error))


def _unconverted(
    error: Unconverted | WrittenUnconverted, resource: GroupResource, verb: str
) -> APIError:
    """Return the error for objects that could not be converted, as Kubernetes words it."""
    if isinstance(error, WrittenUnconverted) or not error.objects:
        return APIError(str(error))
    is_list = verb in ("list", "watch", "deletecollection")
    problems = [
        (
            key if is_list else key.removeprefix(ROOT[:-1]),
            f"object not decodable revision={revision}: {error.reason}",
        )
        for key, revision in error.objects
    ]
    if verb in ("create", "update"):
        return APIError(problems[0][1])
    corrupt = [
        (
            key,
            f"StorageError: corrupt object, Code: {_CORRUPT}, Key: {key}, ResourceVersion: 0,"
            f" AdditionalErrorMsg: {text}",
        )
        for key, text in problems
    ]
    if not is_list:
        return InternalError.of(corrupt[0][1])
    more = f" (and {len(corrupt) - 1} more)" if len(corrupt) > 1 else ""
    causes = [
        StatusCause(reason="UnexpectedServerResponse", message=text, field=key)
        for key, text in corrupt[:MAX_CAUSES]
    ]
    return StorageReadError(
        f"failed to read one or more {resource} from the storage: {corrupt[0][1]}{more}",
        details=StatusDetails(
            name="list", group=resource.group, kind=resource.resource, causes=causes
        ),
    )
