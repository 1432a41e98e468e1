"""What goes wrong on this side of the wire.

What a server answers is an `apimachinery.errors.APIError`; what a transport meets on the way is a
`client.transport.transport.TransportError`. Here is the rest: configuration, and objects that went
away.
"""

from apimachinery.meta.types import Object


class ConfigError(ValueError):
    """A configuration that leads to no server, or to one nobody could log in to."""


class CredentialError(Exception):
    """Credentials could not be had: a plugin failed, a token file is empty."""


class Deleted(Exception):
    """The object that was waited for has been deleted; *object* is its last state."""

    def __init__(self, message: str, last: Object) -> None:
        super().__init__(message)
        self.object = last


class WaitTimeout(TimeoutError):
    """What was waited for did not come in time; *object* is what there was instead, if anything."""

    def __init__(self, message: str, last: Object | None) -> None:
        super().__init__(message)
        self.object = last
