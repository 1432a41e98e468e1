"""Worker: gunicorn's ASGI worker, with a heartbeat and an end that suit an API server.

The heartbeat is a task of its own, so neither a long watch nor a long stop looks like a hung
worker. A stop goes in this order: no new connections; the application ends its streams; requests
in flight are answered, each with `HTTPConnection: close`; idle connections get a moment in which a
request already on its way still finds somebody, and are closed; the application shuts down.

Certificates that are renewed on disk are taken up without a restart.
"""

import asyncio
import gc
import os
import ssl
from collections.abc import Callable
from contextlib import suppress
from mmap import mmap
from pathlib import Path
from typing import Any, ClassVar, Final
from weakref import WeakSet

from gunicorn import sock
from gunicorn.arbiter import Arbiter
from gunicorn.asgi.lifespan import LifespanManager
from gunicorn.workers.gasgi import ASGIWorker

from apiserver.http.exchange import DRAIN
from apiserver.process.connection import HTTPConnection

HEARTBEAT: Final = 1.0
HANDSHAKE_TIMEOUT: Final = 10.0
GOODBYE_TIMEOUT: Final = 2.0
"""Seconds a client has to confirm the end of a TLS connection."""
IDLE_GRACE: Final = 1.0
"""Seconds an idle connection is left open after the stop began."""
RETRY: Final = 1.0
"""Seconds before a worker that could not start is replaced by the next."""
LAST_STEPS: Final = 5
"""Seconds of gunicorn's graceful timeout that are left for the application's own shutdown."""
GARBAGE: Final = (10_000, 20, 20)
"""How much must be new, and survive, for Python to look for garbage that refers to itself."""

_NO_CHECK_TIME: Final = ssl.VerifyFlags(0x200000)
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME. Who comes with an expired certificate is told so by a 401,
as by Kubernetes, and not by a handshake that fails; `auth/x509.py` looks at the dates."""


class Worker(ASGIWorker):  # type: ignore[misc]  # gunicorn has no types
    """One process that serves."""

    alive: bool
    _shared: ClassVar[mmap | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Here this is still the master: the byte is one for it and all the workers it forks.
        Worker._shared = self._has_served = Worker._shared or mmap(-1, 1)
        self.connections: WeakSet[HTTPConnection] = WeakSet()
        self._stopping = asyncio.Event()
        self._tls: ssl.SSLContext | None = None
        self._tls_stamp: tuple[int, ...] = ()

    def handle_exit_signal(self) -> None:
        super().handle_exit_signal()
        self._stopping.set()

    def handle_quit_signal(self) -> None:
        super().handle_quit_signal()
        self._stopping.set()

    async def _serve(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            heartbeat = tasks.create_task(self._beat(), name="heartbeat")
            self.lifespan = _Lifespan(self.asgi, self.log, self.state)
            if await self._started():
                _settle_garbage()
                await self._listen()
                self._has_served[0] = 1
                if announce := getattr(self.app, "ready", None):
                    announce()
                await self._stopping.wait()
            await self._stop()
            heartbeat.cancel()

    async def _beat(self) -> None:
        while True:
            self.notify()
            # An orphan stops: a new master has bound or will bind the same address.
            if not self.alive or self.ppid != os.getppid():
                self.alive = False
                self._stopping.set()
            self._follow_certificate()
            await asyncio.sleep(HEARTBEAT)

    async def _started(self) -> bool:
        """Whether the application has started, and not been stopped before it had."""
        starting = asyncio.create_task(self.lifespan.startup(), name="start")
        stopping = asyncio.create_task(self._stopping.wait(), name="stop")
        await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not starting.done():
            starting.cancel()
            return False
        if error := starting.exception():
            self.log.error("%s", error)
            raise SystemExit(await self._failed_to_start())
        return True

    async def _failed_to_start(self) -> int:
        """The exit code of a worker whose application does not start.

        Before anybody has served the master gives up, since the same would happen for ever. Later
        it may be that the store is away for a while: then those that serve go on, and the master
        tries again.
        """
        if not self._has_served[0]:
            code: int = Arbiter.WORKER_BOOT_ERROR
            return code
        with suppress(TimeoutError):
            async with asyncio.timeout(RETRY):
                await self._stopping.wait()
        return 1

    async def _listen(self) -> None:
        if self.cfg.is_ssl:
            self._tls = self._tls_context()
        for listener in self.sockets:
            server = await self.loop.create_server(
                lambda: HTTPConnection(self),
                sock=listener.sock,
                ssl=self._tls,
                ssl_handshake_timeout=HANDSHAKE_TIMEOUT if self._tls else None,
                ssl_shutdown_timeout=GOODBYE_TIMEOUT if self._tls else None,
                backlog=self.cfg.backlog,
            )
            self.servers.append(server)

    def _tls_context(self) -> ssl.SSLContext:
        try:
            self._tls_stamp = self._certificate_stamp()
            context: ssl.SSLContext = sock.ssl_context(self.cfg)
            context.verify_flags |= _NO_CHECK_TIME
            # A resumed session does not know who vouched for its client. Those of TLS 1.2 cannot
            # be turned off; they end after two hours.
            context.num_tickets = 0
        except (OSError, ssl.SSLError) as error:
            self.log.error("%s, %s: %s", self.cfg.certfile, self.cfg.keyfile, error)
            raise SystemExit(Arbiter.WORKER_BOOT_ERROR) from error
        return context

    async def _stop(self) -> None:
        for server in self.servers:
            server.close()
        drain: Callable[[], None] | None = self.state.get(DRAIN)
        if drain is not None:
            drain()
        await self._finish_requests()
        if self.servers and not self._quick_shutdown:
            await self.lifespan.shutdown()

    async def _finish_requests(self) -> None:
        now = self.loop.time()
        idle_end = now + IDLE_GRACE
        end = now + max(1, self.cfg.graceful_timeout - LAST_STEPS)
        while not self._quick_shutdown and (left := self._unfinished()):
            if self.loop.time() >= end:
                self.log.warning("stopping with %d connections still busy", len(left))
                return
            if self.loop.time() >= idle_end:
                for connection in left:
                    if connection.is_idle:
                        connection.close()
            await asyncio.sleep(0.02)

    def _unfinished(self) -> list[HTTPConnection]:
        # A handshake that failed leaves no trace but its age.
        oldest = self.loop.time() - HANDSHAKE_TIMEOUT
        return [c for c in self.connections if c.transport or c.accepted_at > oldest]

    def _certificate_stamp(self) -> tuple[int, ...]:
        found = [Path(self.cfg.certfile).stat(), Path(self.cfg.keyfile).stat()]
        return tuple(number for each in found for number in (each.st_mtime_ns, each.st_ino))

    def _follow_certificate(self) -> None:
        if self._tls is None:
            return
        # Files may be missing or not match while they are being replaced: the next beat sees.
        with suppress(OSError, ssl.SSLError):
            stamp = self._certificate_stamp()
            if stamp == self._tls_stamp:
                return
            pair = (self.cfg.certfile, self.cfg.keyfile)
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*pair)
            self._tls.load_cert_chain(*pair)
            self._tls_stamp = stamp
            self.log.info("serving with the renewed certificate %s", self.cfg.certfile)


def _settle_garbage() -> None:
    """Let the collector pass over what a start has made, which stays, and look more rarely.

    Nearly everything a request makes is gone with its last reference. At Python's own pace it took
    a fifteenth of the time to search through all types and schemas again and again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE)


class _Lifespan(LifespanManager):  # type: ignore[misc]  # gunicorn has no types
    """Lets a start take as long as it needs: gunicorn's own gives up after half a minute, and a
    large store takes longer to read. The heartbeat goes on meanwhile."""

    async def startup(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": self.state}
        await self._receive_queue.put({"type": "lifespan.startup"})
        self._task = asyncio.create_task(self._run_lifespan(scope), name="lifespan")
        await self._startup_complete.wait()
        if self._startup_failed:
            raise RuntimeError(self._startup_error)
