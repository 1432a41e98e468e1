"""Connection end: closes a transport so that its client receives the response.

If the system closes a socket while its client is still sending, it answers with a reset, and the
client loses what it has not read yet. So after a response to a request whose body has not arrived,
the connection only announces its end, and discards what arrives for a moment, as Go's server does.
"""

import asyncio
from typing import Final

LINGER_SECONDS: Final = 0.5
"""The time for which what a client still sends is discarded after an early response."""


class ConnectionEnd:
    """The end of one connection, after which nothing more is written."""

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        self._loop = loop
        self._transport = transport
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, *, client_sends: bool) -> None:
        """Close the transport after the pending output is sent.

        With *client_sends* what arrives is discarded first, for which the transport must be
        reading.
        """
        if self._transport.can_write_eof():
            self._transport.write_eof()
        if client_sends:
            self._timer = self._loop.call_later(LINGER_SECONDS, self._transport.close)
        else:
            self._transport.close()

    def cancel(self) -> None:
        """Do nothing more: the transport is closed."""
        if self._timer is not None:
            self._timer.cancel()
