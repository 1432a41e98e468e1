"""What a failed call says about the request: was it refused, is it unknown, is it final.

Everything about retrying rests on this one judgement. *Refused* is claimed only where the request
provably never reached the log of the cluster; whatever is not recognised is *unknown*.
"""

from enum import Enum

from grpc import StatusCode
from grpc.aio import AioRpcError

from apiserver.storage.interface import Full, StorageError, Unavailable, ValueTooLarge


class AccessDenied(StorageError):
    """etcd refuses the user, the password or the user's permissions."""


class RevisionCompacted(StorageError):
    """etcd says that a revision is compacted; the caller knows which."""


class RevisionInFuture(StorageError):
    """etcd says that a revision has not happened; the caller knows which."""


class LeaseNotFound(StorageError):
    """The lease of a write has expired or was revoked; the write did not happen."""


class Verdict(Enum):
    """What may be done after a failed call."""

    REFUSED = "refused"
    """It did not happen; another endpoint or another moment may take it."""
    UNKNOWN = "unknown"
    """It may have happened, or may yet."""
    TOKEN = "token"
    """It did not happen, for want of a fresh authentication token."""
    FINAL = "final"
    """It did not happen, and will not however often it is sent."""


# Written by gRPC's client when there was no connection to send the request over.
_NOT_CONNECTED = "failed to connect to all addresses"
# Each is decided by the member that was asked, before it proposes anything to the others.
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
    }
)


def judge(error: AioRpcError) -> Verdict:
    """What is known of a request whose call failed."""
    details = error.details() or ""
    if error.code() is StatusCode.UNAUTHENTICATED or details.startswith(_STALE_TOKEN):
        return Verdict.TOKEN
    if details.startswith((_NOT_CONNECTED, *_NOT_PROPOSED)):
        return Verdict.REFUSED
    if error.code() in _FINAL:
        return Verdict.FINAL
    return Verdict.UNKNOWN


def translate(error: AioRpcError) -> StorageError:
    """The error to raise for a final verdict."""
    code, details = error.code(), error.details() or ""
    if any(text in details for text in _TOO_LARGE):
        return ValueTooLarge(f"etcd: {details} (see its --max-request-bytes)")
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
    """Whether the cluster has no users at all, so that a password is not wanted."""
    return "authentication is not enabled" in (error.details() or "")
