"""Listener: accepts connections, and never more than a worker can hold.

A client needs no credentials to open a connection, so their number is bounded. A worker holds up to
1,000 connections of clients that have not authenticated yet, and in total as many as it may open
files. One more, and the oldest connection without a client that is known is closed, or one that is
idle: whoever floods a server with connections ends his own, and others are served. Only if every
connection is in use is the new one refused.

A worker that has more connections than its share leaves a waiting one to the other workers
(`connection_shares.py`): it stops listening, looks again every millisecond, and accepts the
connection itself if nobody has come for it.

gunicorn's servers cannot be told any of this: they accept whatever comes.
"""

import asyncio
import errno
import logging
import resource
import select
import socket
import ssl
from contextlib import suppress
from typing import Any, Final
from weakref import WeakKeyDictionary

from apiserver.connections.connection import HTTPConnection
from apiserver.connections.connection_shares import ConnectionShare

log = logging.getLogger(__name__)

MAX_NEWCOMERS: Final = 1000
"""The number of connections on which no request has been authenticated."""
MAX_CONNECTIONS: Final = 16_384
RESERVED_FILES: Final = 64
"""Files that are left for the store, certificates and logs."""
HANDSHAKE_TIMEOUT: Final = 10.0

_TLS_END_TIMEOUT: Final = 24 * 3600.0
"""No limit: it would cut off clients that read the rest of a response slowly.

`connection_end.py` aborts a connection whose client receives nothing or does not confirm the end.
"""
_ACCEPTS_PER_TURN: Final = 16
_PAUSE_SECONDS: Final = 0.1
"""The time for which nothing is accepted after the process has run out of files."""
LEAVE_SECONDS: Final = 0.1
"""The time for which a waiting connection is left to workers that have fewer."""
_LOOK_SECONDS: Final = 0.001
_OUT_OF_FILES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def raise_file_limit() -> int:
    """Allow this process as many open files as it may have; return how many connections fit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(1, min(files - RESERVED_FILES, MAX_CONNECTIONS))


class Listener:
    """Accepts the connections of one listening socket for *worker*."""

    def __init__(
        self, worker: Any, listening: socket.socket, tls: ssl.SSLContext | None, *, limit: int
    ) -> None:
        self._worker = worker
        self._loop: asyncio.AbstractEventLoop = worker.loop
        self._socket = listening
        self._tls = tls
        self._limit = limit
        self._share: ConnectionShare = worker.share
        self._left_since: float | None = None
        """When a waiting connection was left to the other workers; None if none is."""
        self._newcomers: WeakKeyDictionary[HTTPConnection, asyncio.Task[None]]
        self._newcomers = WeakKeyDictionary()
        """Connections that may not be authenticated, the oldest first."""
        self._resume: asyncio.TimerHandle | None = None
        self._has_warned = False

    def start(self) -> None:
        self._socket.setblocking(False)
        self._listen()

    def close(self) -> None:
        """Accept no more connections; those that have begun are unaffected."""
        if self._resume is not None:
            self._resume.cancel()
        self._loop.remove_reader(self._socket.fileno())

    def _listen(self) -> None:
        self._left_since = None
        self._loop.add_reader(self._socket.fileno(), self._accept_waiting)

    def _accept_waiting(self) -> None:
        self._share.show_life()
        for _ in range(_ACCEPTS_PER_TURN):
            if not self._share.is_fair:
                self._leave_to_others()
                return
            try:
                raw, _address = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _OUT_OF_FILES:
                    raise
                self._pause(error)
                return
            if self._make_room():
                self._begin(raw)
            else:
                raw.close()

    def _leave_to_others(self) -> None:
        """Stop listening while other workers with fewer connections may accept the waiting one."""
        self._left_since = self._loop.time()
        self.close()
        self._resume = self._loop.call_later(_LOOK_SECONDS, self._look_again)

    def _look_again(self) -> None:
        """Listen again if the connection is gone, or if it is this worker's turn now."""
        if self._share.is_fair or not self._has_waiting():
            self._listen()
        elif self._left_since is not None and self._loop.time() < self._left_since + LEAVE_SECONDS:
            self._resume = self._loop.call_later(_LOOK_SECONDS, self._look_again)
        else:
            self._share.pass_over()
            self._listen()

    def _has_waiting(self) -> bool:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(0))

    def _pause(self, error: OSError) -> None:
        """Close a connection and accept nothing for a moment; the others wait in the kernel."""
        self._warn(f"connections cannot be accepted: {error}")
        self._evict()
        self.close()
        self._resume = self._loop.call_later(_PAUSE_SECONDS, self._listen)

    def _make_room(self) -> bool:
        """Close connections until another one fits; return False if all are in use."""
        if len(self._worker.connections) >= self._limit:
            self._warn(f"{self._limit} connections are open: closing those that are not in use")
            return self._evict()
        if len(self._newcomers) >= MAX_NEWCOMERS:
            self._forget_known()
            if len(self._newcomers) >= MAX_NEWCOMERS:
                return self._evict_newcomer()
        return True

    def _evict(self) -> bool:
        return self._evict_newcomer() or self._evict_idle()

    def _evict_newcomer(self) -> bool:
        self._forget_known()
        found = next((each for each in self._newcomers if not each.is_serving), None)
        if found is None:
            return False
        self._newcomers.pop(found).cancel()
        found.abort()
        return True

    def _evict_idle(self) -> bool:
        connections = self._worker.connections
        found = next((each for each in connections if each.is_ending or each.is_idle), None)
        if found is None:
            return False
        found.abort()
        return True

    def _forget_known(self) -> None:
        """Drop the connections that have been authenticated or have ended from the newcomers."""
        for connection in [
            connection
            for connection in self._newcomers
            if connection.shared.authenticated or not connection.shared.is_open
        ]:
            del self._newcomers[connection]

    def _begin(self, raw: socket.socket) -> None:
        connection = HTTPConnection(self._worker)
        # The task ends with the handshake; it is kept until the client is known.
        self._newcomers[connection] = self._loop.create_task(
            self._establish(raw, connection), name="connection"
        )

    async def _establish(self, raw: socket.socket, connection: HTTPConnection) -> None:
        try:
            raw.setblocking(False)
            if raw.family != socket.AF_UNIX:
                raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await self._loop.connect_accepted_socket(
                lambda: connection,
                raw,
                ssl=self._tls,
                ssl_handshake_timeout=HANDSHAKE_TIMEOUT if self._tls else None,
                ssl_shutdown_timeout=_TLS_END_TIMEOUT if self._tls else None,
            )
        except OSError:  # the client has left, or the handshake failed
            self._newcomers.pop(connection, None)
        finally:
            if not connection.is_open:
                self._worker.connections.discard(connection)

    def _warn(self, message: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            log.warning("%s", message)
            self._loop.call_later(60.0, self._allow_warning)

    def _allow_warning(self) -> None:
        self._has_warned = False
