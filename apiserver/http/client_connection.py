"""Client connection: what the steps of a request and its network connection share.

The connection puts one object of this class into the scope of each of its requests. In-process
clients have no connection; their requests use a new object, which stays as it is.
"""

from typing import Final

CONNECTION: Final = "apiserver.connection"
"""The key of the object in the ASGI scope of a request."""


class ClientConnection:
    """The state of one connection of one client."""

    __slots__ = ("authenticated", "headers", "is_open", "stalled")

    def __init__(self) -> None:
        self.is_open = True
        """False once the connection is lost: nothing that is sent arrives any more."""
        self.stalled = False
        """Whether it was aborted because the client did not read its response."""
        self.authenticated = False
        """Whether any request on it had valid credentials."""
        self.headers: object = None
        """What was read from the headers of its latest request."""
