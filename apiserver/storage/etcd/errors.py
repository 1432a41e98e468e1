"""etcd errors: classifies failed calls, and with that decides which may be retried.

A call is classified as *refused* only if the request provably never reached the log of the cluster;
any unrecognised failure is *unknown*.
"""

from enum import Enum

from grpc import StatusCode
from grpc.aio import AioRpcError

from apiserver.storage.interface import Damaged, Full, StorageError, Unavailable, ValueTooLarge


class AccessDenied(StorageError):
    """etcd rejects the user, the password or the user's permissions."""


class RevisionCompacted(StorageError):
    """etcd reports that the requested revision is compacted."""


class RevisionInFuture(StorageError):
    """etcd reports that the requested revision is in the future."""


class LeaseNotFound(StorageError):
    """The lease of a write has expired or was revoked; nothing was written."""


class NotProcessed(AioRpcError):  # type: ignore[misc]
    """The request was not sent, or the member reports that it has not processed it."""


class FailureKind(Enum):
    """What a failed call implies for the request."""

    REFUSED = "refused"
    """It had no effect; another endpoint or a later attempt may accept it."""
    UNKNOWN = "unknown"
    """It may have taken effect, or may do so later."""
    TOKEN = "token"
    """It had no effect; a new authentication token is required."""
    FINAL = "final"
    """It had no effect, and retrying cannot succeed."""


# The message of gRPC's client when there was no connection to send the request over.
_NOT_CONNECTED = "failed to connect to all addresses"
# The contacted member rejects these itself, before it proposes anything to the cluster.
_NOT_PROPOSED = (
    "etcdserver: no leader",
    "etcdserver: too many requests",
    "etcdserver: rpc not supported for learner",
)
_STALE_TOKEN = (
    "etcdserver: invalid auth token",
    "etcdserver: user name is empty",
    "etcdserver: revision of auth store is old",
)
_NO_SPACE = "database space exceeded"
_TOO_LARGE = ("request is too large", "larger than max")
_FINAL = frozenset(
    {
        StatusCode.INVALID_ARGUMENT,
        StatusCode.NOT_FOUND,
        StatusCode.ALREADY_EXISTS,
        StatusCode.PERMISSION_DENIED,
        StatusCode.RESOURCE_EXHAUSTED,
        StatusCode.FAILED_PRECONDITION,
        StatusCode.OUT_OF_RANGE,
        StatusCode.UNIMPLEMENTED,
        StatusCode.DATA_LOSS,
    }
)


def is_stale_token(reason: str) -> bool:
    """Return whether a watch was cancelled because a new authentication token is required."""
    return any(text in reason for text in _STALE_TOKEN)


def classify(error: AioRpcError) -> FailureKind:
    """Classify a failed call."""
    details = error.details() or ""
    if error.code() is StatusCode.UNAUTHENTICATED or details.startswith(_STALE_TOKEN):
        return FailureKind.TOKEN
    if isinstance(error, NotProcessed) or details.startswith((_NOT_CONNECTED, *_NOT_PROPOSED)):
        return FailureKind.REFUSED
    if error.code() in _FINAL:
        return FailureKind.FINAL
    return FailureKind.UNKNOWN


def translate(error: AioRpcError) -> StorageError:
    """Return the error to raise for a FINAL failure."""
    code, details = error.code(), error.details() or ""
    if any(text in details for text in _TOO_LARGE):
        return ValueTooLarge(f"etcd: {details} (see its --max-request-bytes)")
    if code is StatusCode.DATA_LOSS:
        return Damaged(f"etcd: {details} (see `etcdctl alarm list`)")
    if code is StatusCode.PERMISSION_DENIED or "authentication failed" in details:
        return AccessDenied(f"etcd: {details}")
    if _NO_SPACE in details:
        return Full(f"etcd: {details}")
    if code is StatusCode.RESOURCE_EXHAUSTED:
        return Unavailable(f"etcd: {details}")
    if code is StatusCode.OUT_OF_RANGE and "has been compacted" in details:
        return RevisionCompacted(details)
    if code is StatusCode.OUT_OF_RANGE and "future revision" in details:
        return RevisionInFuture(details)
    if code is StatusCode.NOT_FOUND and "lease not found" in details:
        return LeaseNotFound(details)
    return StorageError(f"etcd: {details} ({code.name})")


def authentication_is_off(error: AioRpcError) -> bool:
    """Return whether the cluster has authentication disabled, so that no password is required."""
    return "authentication is not enabled" in (error.details() or "")
