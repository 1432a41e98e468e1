"""How gunicorn runs the server: its settings, and a master that reloads with care.

What differs from gunicorn's defaults, and why:

- keep-alive is longer than what clients and balancers keep an idle connection for (Go: 90 s), so
  that it is never the server that closes one under a request;
- URLs and headers may be long: selectors, continue tokens and signed tokens are;
- HTTP/2 is off: a Go client would send everything through one connection and so to one worker,
  and gunicorn's, which is new, refuses streams during a stop instead of announcing it. Every
  Kubernetes client speaks HTTP/1.1 as well;
- client certificates are asked for and not required: tokens are the other way in.
"""

import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.glogging import Logger

from apiserver.config import ServerConfig, ServerConfigError
from apiserver.http.logs import log_config
from apiserver.process.data_folder import DataDir
from apiserver.process.worker import LAST_STEPS

KEEP_ALIVE: Final = 120
WORKER_TIMEOUT: Final = 60
"""Seconds without a heartbeat after which a worker counts as hung; requests may take longer."""
LONGEST_LINE: Final = 65536
"""Bytes of a request line, and of one header."""
_MEMORY: Final = Path("/dev/shm")


def gunicorn_settings(config: ServerConfig, folder: DataDir) -> dict[str, Any]:
    """Settings by their gunicorn names; raises ConfigError for certificates that do not work."""
    settings: dict[str, Any] = {
        "bind": [str(config.bind)],
        "workers": config.workers,
        "worker_class": "apiserver.process.worker.Worker",
        "proc_name": "apiserver",
        "keepalive": KEEP_ALIVE,
        "timeout": WORKER_TIMEOUT,
        "graceful_timeout": config.shutdown_timeout + LAST_STEPS,
        "limit_request_line": LONGEST_LINE,
        "limit_request_field_size": LONGEST_LINE,
        "limit_request_fields": 200,
        "http_protocols": "h1",
        # Who a client is must not depend on what it claims.
        "forwarded_allow_ips": "",
        "control_socket_disable": True,
        "logger_class": "apiserver.process.serving.QuietLogger",
        "logconfig_dict": log_config(form=config.log_format, level=config.log_level),
    }
    if _MEMORY.is_dir():
        # A heartbeat is a file's time stamp: a slow disk must not look like a hung worker.
        settings["worker_tmp_dir"] = str(_MEMORY)
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
    certificate, key, authorities = (settings[n] for n in ("certfile", "keyfile", "ca_certs"))
    try:
        context.load_cert_chain(certificate, key)
    except (ssl.SSLError, OSError) as error:
        why = getattr(error, "reason", None) or error
        raise ServerConfigError(f"{certificate}, {key}: cannot be used to serve: {why}") from error
    try:
        context.load_verify_locations(authorities)
    except (ssl.SSLError, OSError) as error:
        why = getattr(error, "reason", None) or error
        raise ServerConfigError(f"--client-ca-file: it holds no certificates: {why}") from error


class QuietLogger(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Leaves requests to the application's own log, and saves what gunicorn's would cost."""

    def _compute_access_log_enabled(self) -> bool:
        return False


class Application(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """The server as gunicorn runs it.

    *settings* is called at the start and before every reload and raises *refusal* if something
    is not right; a reload that is refused leaves everything as it is. *when_ready* is called once,
    in the first worker that can answer.
    """

    def __init__(
        self,
        settings: Callable[[], dict[str, Any]],
        load: Callable[[], Any],
        *,
        when_ready: Callable[[], None],
        refusal: tuple[type[Exception], ...],
    ) -> None:
        self._settings = settings
        self._load = load
        self._when_ready = when_ready
        # A byte for all workers to come: the first that is ready takes it.
        self._unannounced, token = os.pipe()
        os.set_blocking(self._unannounced, False)
        os.write(token, b"!")
        os.close(token)
        self.refusal = refusal
        self._current = settings()
        super().__init__(prog="apiserver")

    def load_config(self) -> None:
        for name, value in self._current.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Called in each worker, so that a reload brings new code."""
        return self._load()

    def ready(self) -> None:
        """Called in each worker that answers from now on; the first of all says so."""
        if os.read(self._unannounced, 1):
            self._when_ready()

    def refresh(self) -> None:
        """Read the settings again, or raise one of *refusal*."""
        self._current = self._settings()

    def run(self) -> None:
        _Master(self).run()


class _Master(Arbiter):  # type: ignore[misc]  # gunicorn has no types
    def handle_hup(self) -> None:
        try:
            self.app.refresh()
        except self.app.refusal as error:
            self.log.error("not reloaded: %s", error)
        else:
            super().handle_hup()
