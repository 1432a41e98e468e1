"""Worker: an ASGI server under gunicorn, with a heartbeat and a graceful stop for an API server.

The heartbeat is a separate task, so neither a long watch nor a long stop makes the worker appear
hung. A stop has these steps: close the listening sockets; have the application end its streams;
complete the requests in flight, with `Connection: close` in the responses that start now; after a
grace period for requests that are already on their way, close the idle connections; shut down the
application.

Renewed certificates are loaded without a restart.
"""

import asyncio
import os
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self
from weakref import WeakSet

from gunicorn import sock
from gunicorn.arbiter import Arbiter
from gunicorn.asgi.lifespan import LifespanManager

from apiserver.connections.connection import HTTPConnection
from apiserver.connections.connection_shares import ConnectionShare, ConnectionShares
from apiserver.connections.listener import HANDSHAKE_TIMEOUT, Listener, raise_file_limit
from apiserver.http.exchange import DRAIN, GROUP_PACKAGES, LOOP_PAUSED
from apiserver.process.loop_watchdog import LoopPause, LoopWatchdog, PauseLog
from apiserver.process.loop_worker import LoopWorker
from apiserver.process.process_memory import ProcessMemory
from apiserver.process.supervised_worker import SHUTDOWN_MARGIN, SupervisedWorker, share_byte

HEARTBEAT: Final = 1.0
IDLE_GRACE: Final = 1.0
"""Seconds for which a connection stays open while it is idle, after a stop begins."""
RESTART_DELAY: Final = 1.0
"""Seconds before a worker that failed to start is replaced."""

_NO_CHECK_TIME: Final = ssl.VerifyFlags(0x200000)
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME.

As in Kubernetes, an expired client certificate leads to a 401 and not to a failed handshake;
`auth/x509.py` checks the dates.
"""


class Worker(LoopWorker):
    """One process that serves requests."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._has_served = share_byte()
        # Until it takes the place of a supervised one, a worker knows of no others.
        self._take_share(ConnectionShares().assign())
        self._stopping = asyncio.Event()
        self._listeners: list[Listener] = []
        self._pause_log = PauseLog()
        self._memory = ProcessMemory()
        self._tls: ssl.SSLContext | None = None
        self._certificate_version: tuple[int, ...] = ()

    @classmethod
    def in_place_of(cls, supervised: SupervisedWorker) -> Self:
        """Return the worker that serves in the process of *supervised*, with its heartbeat."""
        own = supervised
        worker = cls(own.age, own.ppid, own.sockets, own.app, own.timeout, own.cfg, own.log)
        worker.tmp.close()
        worker.tmp, worker.pid = own.tmp, own.pid
        worker._take_share(own.share)
        return worker

    def _take_share(self, share: ConnectionShare) -> None:
        self.share = share
        self.connections = _OpenConnections(share)

    @property
    def is_stopping(self) -> bool:
        """Whether responses that start now announce the end of their connection."""
        return self._stopping.is_set()

    def handle_exit_signal(self) -> None:
        # Not `alive = False`: gunicorn would then close connections after responses that were
        # started before and announced no end, while the next request is already on its way.
        self._stopping.set()

    def handle_quit_signal(self) -> None:
        super().handle_quit_signal()
        self._stopping.set()

    async def serve(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            heartbeat = tasks.create_task(self._run_heartbeat(), name="heartbeat")
            self.lifespan = _Lifespan(self.asgi, self.log, self.state)
            self._memory.start()
            if await self._start_application():
                watchdog = LoopWatchdog(self._on_pause, packages=self.state.get(GROUP_PACKAGES, ()))
                watchdog.start()
                self._listen()
                self._has_served[0] = 1
                if announce := getattr(self.app, "ready", None):
                    announce()
                await self._stopping.wait()
                watchdog.stop()
            await self._stop()
            heartbeat.cancel()

    def _on_pause(self, pause: LoopPause) -> None:
        self._pause_log.write(pause)
        record: Callable[[float, str], None] | None = self.state.get(LOOP_PAUSED)
        if record is not None:
            record(pause.seconds, pause.source)

    async def _run_heartbeat(self) -> None:
        while True:
            self.notify()
            self.share.show_life()
            # An orphaned worker stops: a new master has bound or will bind the same address.
            if self.ppid != os.getppid():
                self._stopping.set()
            self._reload_certificate()
            self._memory.check(len(self.connections))
            await asyncio.sleep(HEARTBEAT)

    async def _start_application(self) -> bool:
        """Return whether the application has started; False if it was stopped before."""
        starting = asyncio.create_task(self.lifespan.startup(), name="start")
        stopping = asyncio.create_task(self._stopping.wait(), name="stop")
        await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not starting.done():
            starting.cancel()
            return False
        if error := starting.exception():
            self.log.error("%s", error)
            raise SystemExit(await self._failed_start_code())
        return True

    async def _failed_start_code(self) -> int:
        """Return the exit code of a worker whose application failed to start, after a delay.

        If no worker has served yet, the master gives up, since retries would fail forever.
        Otherwise the store may be temporarily unavailable: other workers continue, and the master
        retries.
        """
        if not self._has_served[0]:
            code: int = Arbiter.WORKER_BOOT_ERROR
            return code
        with suppress(TimeoutError):
            async with asyncio.timeout(RESTART_DELAY):
                await self._stopping.wait()
        return 1

    def _listen(self) -> None:
        if self.cfg.is_ssl:
            self._tls = self._tls_context()
        limit = raise_file_limit()
        for listening in self.sockets:
            listener = Listener(self, listening.sock, self._tls, limit=limit)
            listener.start()
            self._listeners.append(listener)
        self.share.begin()

    def _tls_context(self) -> ssl.SSLContext:
        try:
            self._certificate_version = self._read_certificate_version()
            context: ssl.SSLContext = sock.ssl_context(self.cfg)
            context.verify_flags |= _NO_CHECK_TIME
            # A resumed session lacks the certificate chain of its client. Session tickets of TLS
            # 1.2 cannot be disabled; they expire after two hours.
            context.num_tickets = 0
        except (OSError, ssl.SSLError) as error:
            self.log.error("%s, %s: %s", self.cfg.certfile, self.cfg.keyfile, error)
            raise SystemExit(Arbiter.WORKER_BOOT_ERROR) from error
        return context

    async def _stop(self) -> None:
        self.share.end()
        for listener in self._listeners:
            listener.close()
        drain: Callable[[], None] | None = self.state.get(DRAIN)
        if drain is not None:
            drain()
        await self._finish_requests()
        if self._listeners and not self.quick_shutdown:
            await self.lifespan.shutdown()

    async def _finish_requests(self) -> None:
        deadline = self.loop.time() + max(1, self.cfg.graceful_timeout - SHUTDOWN_MARGIN)
        idle_since: dict[HTTPConnection, float] = {}
        while not self.quick_shutdown and (connections := self._open_connections()):
            now = self.loop.time()
            if now >= deadline:
                self.log.warning("stopping with %d connections still busy", len(connections))
                return
            # Each connection has its own grace period: the handshake of one that was accepted just
            # before the stop may end later than others are closed, and its request is on the way.
            idle_since = {
                connection: idle_since.get(connection, now)
                for connection in connections
                if connection.is_idle
            }
            for connection, since in idle_since.items():
                if now >= since + IDLE_GRACE:
                    connection.close()
            await asyncio.sleep(0.02)

    def _open_connections(self) -> list[HTTPConnection]:
        oldest = self.loop.time() - HANDSHAKE_TIMEOUT
        return [
            connection
            for connection in self.connections
            if connection.transport or connection.accepted_at > oldest
        ]

    def _read_certificate_version(self) -> tuple[int, ...]:
        files = [Path(self.cfg.certfile).stat(), Path(self.cfg.keyfile).stat()]
        return tuple(number for file in files for number in (file.st_mtime_ns, file.st_ino))

    def _reload_certificate(self) -> None:
        if self._tls is None:
            return
        # While being replaced, the files may be missing or not match: the next heartbeat retries.
        with suppress(OSError, ssl.SSLError):
            version = self._read_certificate_version()
            if version == self._certificate_version:
                return
            pair = (self.cfg.certfile, self.cfg.keyfile)
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*pair)
            self._tls.load_cert_chain(*pair)
            self._certificate_version = version
            self.log.info("loaded the renewed certificate %s", self.cfg.certfile)


class _OpenConnections(WeakSet[HTTPConnection]):
    """The connections of a worker, whose number the other workers can see."""

    def __init__(self, share: ConnectionShare) -> None:
        super().__init__()
        self._share = share

    def add(self, item: HTTPConnection) -> None:
        super().add(item)
        self._share.record(len(self))

    def discard(self, item: HTTPConnection) -> None:
        super().discard(item)
        self._share.record(len(self))


class _Lifespan(LifespanManager):  # type: ignore[misc]  # gunicorn has no types
    """Starts the application without a time limit.

    gunicorn's own gives up after 30 seconds, and a large store takes longer to read. The heartbeat
    runs meanwhile.
    """

    async def startup(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": self.state}
        await self._receive_queue.put({"type": "lifespan.startup"})
        self._task = asyncio.create_task(self._run_lifespan(scope), name="lifespan")
        await self._startup_complete.wait()
        if self._startup_failed:
            raise RuntimeError(self._startup_error)
