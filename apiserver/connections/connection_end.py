"""Connection end: closes a transport so that its client receives the response.

If the system closes a socket while its client is still sending, it answers with a reset, and the
client loses what it has not read yet. So after a response to a request whose body has not arrived,
the connection only announces its end, and discards what arrives for a moment, as Go's server does.

A transport that is closed sends its pending output first. The limit that asyncio sets to the end of
TLS includes this time, and without TLS there is none; so this module limits how long a client may
receive nothing.
"""

import asyncio
from typing import Final

from apiserver.connections.delivery import Delivery

LINGER_SECONDS: Final = 0.5
"""The time for which what a client still sends is discarded after an early response."""
STALL_SECONDS: Final = 15.0
"""The time in which a client must read some of its pending response."""
CONFIRM_SECONDS: Final = 2.0
"""The time in which a client that has received everything must confirm the end of TLS."""

_LOOK_SECONDS: Final = 0.5
"""The time after which the progress of a client is looked at again."""


class ConnectionEnd:
    """The end of one connection, after which nothing more is written."""

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        self._loop = loop
        self._transport = transport
        self._delivery = Delivery(transport)
        self._progressed_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, *, client_sends: bool) -> None:
        """Close the transport after the pending output is sent.

        With *client_sends* what arrives is discarded first, for which the transport must be
        reading.
        """
        self.cancel()
        transport = self._transport
        # A second close() would make a transport of asyncio lose its TLS, and abort() do nothing.
        if transport.is_closing():
            self.watch()
            return
        if transport.can_write_eof():
            transport.write_eof()
        if client_sends:
            self._timer = self._loop.call_later(LINGER_SECONDS, self._close)
        else:
            self._close()

    def watch(self) -> None:
        """Abort the transport, which closes itself, when its client receives nothing."""
        self.cancel()
        self._progressed_at = self._loop.time()
        first = min(CONFIRM_SECONDS, _LOOK_SECONDS)
        self._timer = self._loop.call_later(first, self._require_progress)

    def cancel(self) -> None:
        """Do nothing more: the transport is closed."""
        if self._timer is not None:
            self._timer.cancel()

    def _close(self) -> None:
        if not self._transport.is_closing():
            self._transport.close()
        self.watch()

    def _require_progress(self) -> None:
        """Abort the transport if its client has received nothing for too long."""
        now = self._loop.time()
        if self._delivery.has_progressed():
            self._progressed_at = now
        limit = STALL_SECONDS if self._delivery.is_pending else CONFIRM_SECONDS
        remaining = self._progressed_at + limit - now
        # The timer may come a moment early.
        if remaining < 0.01:
            self._transport.abort()
        else:
            remaining = min(remaining, _LOOK_SECONDS)
            self._timer = self._loop.call_later(remaining, self._require_progress)
