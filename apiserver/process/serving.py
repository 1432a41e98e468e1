"""gunicorn settings of the server, and a master that validates the settings before a reload.

Differences from gunicorn's defaults:

- keep-alive is longer than clients and load balancers keep an idle connection (Go: 90 s), so
  that the server never closes one while a request is being sent;
- HTTP/2 is off: a Go client would send all requests over one connection and so to one worker,
  and gunicorn's HTTP/2, which is new, refuses streams during a stop instead of sending GOAWAY.
  Every Kubernetes client supports HTTP/1.1 as well;
- client certificates are requested but not required, because clients may also use tokens.
"""

import os
import queue
import signal
import ssl
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from gunicorn import sock, util
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.errors import HaltServer
from gunicorn.glogging import Logger

from apiserver.config import ServerConfig, ServerConfigError
from apiserver.connections.connection_shares import connection_shares
from apiserver.http.logs import log_config
from apiserver.process.checked_process import Assignment, Become, CheckedProcess
from apiserver.process.data_dir import DataDir
from apiserver.process.supervised_worker import SHUTDOWN_MARGIN, SupervisedWorker, share_byte

KEEP_ALIVE: Final = 120
WORKER_TIMEOUT: Final = 60
"""Seconds without a heartbeat after which a worker is considered hung; requests may take longer."""
_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
_SHARED_MEMORY: Final = Path("/dev/shm")


def gunicorn_settings(config: ServerConfig, folder: DataDir) -> dict[str, Any]:
    """Return the settings by their gunicorn names.

    Raises ServerConfigError if the certificates cannot be used.
    """
    settings: dict[str, Any] = {
        "bind": [str(config.bind)],
        "workers": config.workers,
        "worker_class": "apiserver.process.supervised_worker.SupervisedWorker",
        "proc_name": "apiserver",
        "keepalive": KEEP_ALIVE,
        "timeout": WORKER_TIMEOUT,
        "graceful_timeout": config.shutdown_timeout + SHUTDOWN_MARGIN,
        "http_protocols": "h1",
        # A client must not be able to forge its address with a header.
        "forwarded_allow_ips": "",
        "control_socket_disable": True,
        "pre_fork": _assign_share,
        "child_exit": _release_share,
        "logger_class": "apiserver.process.serving.QuietLogger",
        "logconfig_dict": log_config(form=config.log_format, level=config.log_level),
    }
    if _SHARED_MEMORY.is_dir():
        # The heartbeat updates the time stamp of a file: in memory, a slow disk cannot delay it.
        settings["worker_tmp_dir"] = str(_SHARED_MEMORY)
    if not config.insecure_http:
        settings |= {
            "certfile": str(config.tls_cert_file or folder.serving_certificate),
            "keyfile": str(config.tls_private_key_file or folder.serving_key),
            "ca_certs": str(folder.client_authorities),
            "cert_reqs": ssl.CERT_OPTIONAL,
        }
        _check_certificates(settings)
    return settings


def _check_certificates(settings: dict[str, Any]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate, key, authorities = (settings[name] for name in ("certfile", "keyfile", "ca_certs"))
    try:
        context.load_cert_chain(certificate, key)
    except (ssl.SSLError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise ServerConfigError(
            f"{certificate}, {key}: cannot be used to serve: {reason}"
        ) from error
    try:
        context.load_verify_locations(authorities)
    except (ssl.SSLError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise ServerConfigError(f"--client-ca-file: contains no certificates: {reason}") from error


def _assign_share(_arbiter: Arbiter, worker: SupervisedWorker) -> None:
    """Give a worker its place among those that divide the connections."""
    worker.share = connection_shares().assign()


def _release_share(_arbiter: Arbiter, worker: SupervisedWorker) -> None:
    """Give the place of a worker that has ended to the next one."""
    worker.share.release()


class QuietLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Disables gunicorn's access log, because the application logs requests itself."""

    def _compute_access_log_enabled(self) -> bool:
        return False


class Application(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """The server as gunicorn runs it.

    *settings* is called at the start and before every reload, with what a process calls to become
    a worker and what says whether the server is being stopped, and raises one of *invalid* if the
    settings are not valid; then a reload is skipped.
    *when_ready* is called once, in the first worker that can serve. *checked* returns the process
    that has checked the settings, once, and what else it needs to become a worker.
    """

    def __init__(
        self,
        settings: Callable[[Become, Callable[[], bool]], dict[str, Any]],
        load: Callable[[], Any],
        *,
        when_ready: Callable[[], None],
        invalid: tuple[type[Exception], ...],
        checked: Callable[[], tuple[CheckedProcess, Any] | None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._load = load
        self._when_ready = when_ready
        # One byte in a pipe that all workers share: the first worker that is ready reads it.
        self._announcement, token = os.pipe()
        os.set_blocking(self._announcement, False)
        os.write(token, b"!")
        os.close(token)
        self.invalid = invalid
        self._checked = checked
        self._master: _Master | None = None
        # Before the first process is forked.
        share_byte()
        connection_shares()
        self._current = settings(self.serve_as, self.is_stopping)
        super().__init__(prog="apiserver")

    def load_config(self) -> None:
        for name, value in self._current.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Create the ASGI application; called in each worker, so that a reload loads new code."""
        return self._load()

    def ready(self) -> None:
        """Announce the server if this is the first worker that starts serving."""
        if os.read(self._announcement, 1):
            self._when_ready()

    def refresh(self) -> None:
        """Read the settings again. Raises one of *invalid*."""
        self._current = self._settings(self.serve_as, self.is_stopping)

    def run(self) -> None:
        self._master = _Master(self)
        self._master.run()

    def is_stopping(self) -> bool:
        """Return whether the master has been told to stop, while it does something else."""
        return self._master is not None and self._master.is_told_to_stop()

    def take_checked(self) -> tuple[CheckedProcess, Any] | None:
        """Return the process that has checked the settings, once, and what else it needs."""
        return self._checked()

    def assign(self, process: CheckedProcess, state: Any, worker: SupervisedWorker) -> bool:
        """Make the process that has checked the settings *worker*; return False if it has ended."""
        sockets = [listener.sock.fileno() for listener in worker.sockets]
        assignment = Assignment(worker.age, os.getpid(), worker.share.place, self._current, state)
        return process.assign(assignment, [worker.tmp.fileno(), *sockets])

    def serve_as(self, assignment: Assignment, files: Sequence[int]) -> NoReturn:
        """Serve in this process, which has checked the settings, as the worker of *assignment*."""
        if self._master is not None:
            self._master.forget_processes()
        self._current = assignment.settings
        super().__init__(prog="apiserver")
        heartbeat, *sockets = files
        log = self.cfg.logger_class(self.cfg)
        listeners = sock.create_sockets(self.cfg, log, sockets)
        timeout = self.cfg.timeout / 2
        worker = SupervisedWorker(
            assignment.age, assignment.master, listeners, self, timeout, self.cfg, log
        )
        worker.share = connection_shares().at(assignment.share)
        os.dup2(heartbeat, worker.tmp.fileno(), inheritable=False)
        os.close(heartbeat)
        worker.pid = os.getpid()
        util._setproctitle(f"worker [{self.cfg.proc_name}]")
        log.info("Booting worker with pid: %s", worker.pid)
        sys.exit(_run(worker))


def _run(worker: SupervisedWorker) -> int:
    """Run a worker in this process as gunicorn does, and return its exit code."""
    try:
        worker.init_process()
    except SystemExit:
        raise
    except Exception:
        worker.log.exception("Exception in worker process")
        return -1 if worker.booted else Arbiter.WORKER_BOOT_ERROR
    finally:
        worker.log.info("Worker exiting (pid: %s)", worker.pid)
        worker.tmp.close()
    return 0


class _Master(Arbiter):  # type: ignore[misc]  # gunicorn has no types
    app: Application
    worker_age: int
    _stops = False

    def spawn_worker(self) -> int:
        """Start a worker: at first the process that has checked the settings, then new ones."""
        found = self.app.take_checked()
        if found is None:
            return int(super().spawn_worker())
        process, state = found
        age, timeout = self.worker_age + 1, self.timeout / 2
        worker = SupervisedWorker(
            age, self.pid, self.LISTENERS, self.app, timeout, self.cfg, self.log
        )
        _assign_share(self, worker)
        if not self.app.assign(process, state, worker):
            worker.share.release()
            worker.tmp.close()
            return int(super().spawn_worker())
        self.worker_age = age
        worker.pid = process.pid
        self.WORKERS[process.pid] = worker
        return process.pid

    def forget_processes(self) -> None:
        """Close what a process has inherited that was forked for a reload."""
        for listener in self.LISTENERS:
            listener.close()
        for worker in self.WORKERS.values():
            worker.tmp.close()

    def is_told_to_stop(self) -> bool:
        """Return whether a signal to stop waits until the master has time for it."""
        waiting = []
        with suppress(queue.Empty):
            while True:
                waiting.append(self.SIG_QUEUE.get_nowait())
        for number in waiting:
            self.SIG_QUEUE.put_nowait(number)
        return any(number in _STOP_SIGNALS for number in waiting)

    def stop(self, graceful: bool = True) -> None:
        self._stops = True
        super().stop(graceful)

    def reap_workers(self) -> None:
        # Each worker that fails to start ends the server; further ones must not interrupt its stop.
        while True:
            try:
                super().reap_workers()
            except HaltServer:
                if not self._stops:
                    raise
            else:
                return

    def handle_hup(self) -> None:
        try:
            self.app.refresh()
        except self.app.invalid as error:
            self.log.error("reload skipped: %s", error)
        except Exception:  # an error here would end the master, and with it the workers
            self.log.exception("reload skipped")
        else:
            super().handle_hup()
