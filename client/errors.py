"""Errors of the client itself: configuration, credentials, and waiting for objects.

Errors reported by a server are `apimachinery.errors.APIError`s, and those of a connection are
`client.transport.transport.TransportError`s.
"""

from apimachinery.meta.types import Object


class ConfigError(ValueError):
    """The configuration is missing, incomplete or contradictory."""


class CredentialError(Exception):
    """Credentials could not be obtained: an exec plugin failed, a token file is empty."""


class Deleted(Exception):
    """The object was deleted while a caller waited for it; *object* is its last state."""

    def __init__(self, message: str, last: Object) -> None:
        super().__init__(message)
        self.object = last


class WaitTimeout(TimeoutError):
    """A wait timed out; *object* is the last state of the object, or None if it did not exist."""

    def __init__(self, message: str, last: Object | None) -> None:
        super().__init__(message)
        self.object = last
