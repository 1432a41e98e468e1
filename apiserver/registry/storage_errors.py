"""Storage errors: translate what a backend raises into the API errors that clients see."""

from typing import Final

from apimachinery.errors import (
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
from apiserver.storage.objects import Unreadable, WouldLoseFields

NEWER_RELEASE_RETRY: Final = 1
"""Seconds after which a client may try a write again that another release has to carry out."""
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
        case Unavailable():
            return ServerTimeout.of(resource, verb)
        case revision.NotReady():
            return TooManyRequests.of("storage is (re)initializing")
        case revision.TooLargeRevision():
            return Timeout.future_revision(error.requested, error.current)
        case FutureRevision():
            return Timeout.future_revision(error.revision, error.current)
        case Compacted():
            return Expired(TOO_OLD)
        case revision.RevisionExpired():
            return Expired(str(error))
        case _:
            return InternalError.of(str(error))


def _incomplete(error: Unreadable | WouldLoseFields) -> APIError:
    if isinstance(error, WouldLoseFields):
        retry_after = NEWER_RELEASE_RETRY if error.is_newer else 0
        return ServiceUnavailable.of(str(error), retry_after=retry_after)
    return StorageReadError(str(error))
