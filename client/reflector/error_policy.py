"""Error policy of a reflector: which list and watch errors lead to a retry or to a new list."""

from typing import Final

from apimachinery.errors import APIError, Expired, Gone, Timeout, TooManyRequests

_TOO_LARGE: Final = "Too large resource version"


class VeryShortWatch(Exception):
    """A watch that ended within a second without an event.

    It counts as an error, so that the reflector backs off from a server that closes every watch
    at once.
    """

    def __init__(self, name: str) -> None:
        super().__init__(
            f"very short watch: {name}: unexpected watch close, watch lasted less than a second"
            " and no items received"
        )


def is_expired(error: BaseException) -> bool:
    """Return whether the requested resourceVersion is too old for the server."""
    return isinstance(error, Expired | Gone)


def is_too_large(error: BaseException) -> bool:
    """Return whether the server has not reached the requested resourceVersion yet.

    Newer servers report a cause; older ones only a message.
    """
    if not isinstance(error, APIError):
        return False
    if error.has_cause("ResourceVersionTooLarge"):
        return True
    if not isinstance(error, Timeout) or error.details is None:
        return False
    messages = (error.message, *(cause.message for cause in error.causes))
    return any(_TOO_LARGE in message for message in messages)


def is_version_unavailable(error: BaseException) -> bool:
    """Return whether the server cannot serve the resourceVersion: too old or not yet reached."""
    return is_expired(error) or is_too_large(error)


def can_resume_later(error: BaseException) -> bool:
    """Return whether the watch can probably resume later: the server restarts or is overloaded."""
    return isinstance(error, ConnectionRefusedError | TooManyRequests)
