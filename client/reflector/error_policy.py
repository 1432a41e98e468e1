"""What an error of a list or a watch means for a reflector: ask again, otherwise, or list anew."""

from typing import Final

from apimachinery.errors import APIError, Expired, Gone, Timeout, TooManyRequests

_TOO_LARGE: Final = "Too large resource version"


class VeryShortWatch(Exception):
    """A watch that ended within a second and brought nothing.

    Taken for an error so that a server which closes every watch at once is not asked for one
    after the other.
    """

    def __init__(self, name: str) -> None:
        super().__init__(
            f"very short watch: {name}: unexpected watch close, watch lasted less than a second"
            " and no items received"
        )


def is_expired(error: BaseException) -> bool:
    """Whether the server has forgotten the resourceVersion it was asked for."""
    return isinstance(error, Expired | Gone)


def is_too_large(error: BaseException) -> bool:
    """Whether the server has not reached the resourceVersion yet, in the words of any release."""
    if not isinstance(error, APIError):
        return False
    if error.has_cause("ResourceVersionTooLarge"):
        return True
    if not isinstance(error, Timeout) or error.details is None:
        return False
    said = (error.message, *(cause.message for cause in error.causes))
    return any(_TOO_LARGE in text for text in said)


def is_unavailable(error: BaseException) -> bool:
    """Whether a resourceVersion cannot be had, for whatever reason."""
    return is_expired(error) or is_too_large(error)


def is_worth_waiting(error: BaseException) -> bool:
    """Whether the server is likely to come back and know where a watch was."""
    return isinstance(error, ConnectionRefusedError | TooManyRequests)
