"""Real servers for tests: `apiserver serve` in processes of its own, on a free port of loopback.

A server keeps its folder and its port over restarts, so a test can end it in any way, start it
again and have its clients find it where it was.
"""

import http.client
import json
import os
import select
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

GADGETS: Final = "apis.gadgets.install:GADGETS"

_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 40.0
_REQUEST_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.02


class ServerFailed(Exception):
    """A server ended or did not get ready; the message has the end of its log."""


@contextmanager
def serving(
    folder: Path,
    *,
    groups: Sequence[str] = (GADGETS,),
    storage: str = "",
    workers: int = 1,
    flags: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Iterator["Server"]:
    """Run a server with its data in *folder* and yield it once it is ready.

    Without *storage* it keeps an SQLite file in the folder. *flags* are further ones of
    `apiserver serve`; *environ* is added to the environment of the process.
    """
    arguments = [*groups, "--workers", str(workers), *flags]
    if storage:
        arguments += ["--storage", storage]
    server = Server(folder, arguments, dict(environ or {}))
    try:
        server.start()
        yield server
    finally:
        server.stop()


@contextmanager
def _ends_of(processes: Sequence[int]) -> Iterator[list[int]]:
    """Yield descriptors that become readable when the processes have ended (Linux)."""
    with ExitStack() as opened:
        ends = []
        for process in processes:
            with suppress(ProcessLookupError):
                ends.append(os.pidfd_open(process))
                opened.callback(os.close, ends[-1])
        yield ends


@dataclass(frozen=True)
class Answer:
    """What a server answered to one request."""

    code: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class _Socket(ssl.SSLSocket):
    """Closes itself: `ssl` leaves it open if the server is gone before the handshake."""

    def __del__(self) -> None:
        self.close()


@dataclass
class Server:
    """One server; its data outlives its processes."""

    folder: Path
    arguments: list[str]
    environ: dict[str, str] = field(default_factory=dict)
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def data_dir(self) -> Path:
        return self.folder / "data"

    @property
    def kubeconfig(self) -> Path:
        """The admin's, who may do everything."""
        return self.data_dir / "admin.kubeconfig"

    @property
    def ca_certificate(self) -> Path:
        return self.data_dir / "ca.crt"

    @property
    def token(self) -> str:
        """The admin's bearer token."""
        return (self.data_dir / "admin.token").read_text().strip()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """Everything it has said so far, over all its starts."""
        return (self.folder / "log").read_text(errors="replace")

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        """Start on the data it had, and wait until it is ready."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [
            *(sys.executable, "-m", "apiserver", "serve", *self.arguments),
            *("--data-dir", str(self.data_dir), "--bind", f"127.0.0.1:{self.port}"),
        ]
        own = {k: v for k, v in os.environ.items() if not k.startswith("APISERVER_")}
        with (self.folder / "log").open("ab") as log:
            # A session of its own, so that kill() reaches the workers too.
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=own | self.environ, start_new_session=True
            )
        self._await_ready(time.monotonic() + _START_SECONDS)

    def stop(self) -> None:
        """End it as an operator does; raises ServerFailed if it does not end in time."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(f"did not stop:\n{self._log_tail()}") from None
        self.process = None

    def kill(self) -> None:
        """End all its processes as a power cut does."""
        if self.process is None:
            return
        with _ends_of(self.workers() if self.running else []) as ends:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            for end in ends:
                select.select([end], [], [])
        self.process = None

    def workers(self) -> list[int]:
        """The process ids of its workers (Linux)."""
        assert self.process is not None, "the server does not run"
        master = self.process.pid
        children = Path(f"/proc/{master}/task/{master}/children").read_text()
        return [int(pid) for pid in children.split()]

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Make one request as the admin; bytes are sent as they are, anything else as JSON."""
        given = {"Authorization": f"Bearer {self.token}"}
        if body is not None:
            given["Content-Type"] = "application/json"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        with closing(self.connect()) as connection:
            connection.request(method, path, body, given | dict(headers or {}))
            reply = connection.getresponse()
            return Answer(reply.status, reply.headers, reply.read())

    def make_namespace(self, name: str) -> None:
        """Make a namespace, with what a server puts into each."""
        made = self.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        assert made.code == 201, made.body
        deadline = time.monotonic() + _REQUEST_SECONDS
        for path in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
            while self.request("GET", f"/api/v1/namespaces/{name}/{path}").code != 200:
                assert time.monotonic() < deadline, f"{path} does not come into {name}"
                time.sleep(_POLL_SECONDS)

    def connect(self) -> http.client.HTTPSConnection:
        """A connection that trusts the server's own authority."""
        context = ssl.create_default_context(cafile=str(self.ca_certificate))
        context.sslsocket_class = _Socket
        return http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=context, timeout=_REQUEST_SECONDS
        )

    def _await_ready(self, deadline: float) -> None:
        while not self._is_ready():
            if not self.running:
                raise ServerFailed(f"ended:\n{self._log_tail()}")
            if time.monotonic() > deadline:
                raise ServerFailed(f"is not ready:\n{self._log_tail()}")
            time.sleep(_POLL_SECONDS)

    def _is_ready(self) -> bool:
        if not self.port:
            self.port = self._announced_port()
        try:
            return bool(self.port) and self.request("GET", "/readyz").code == 200
        except (OSError, http.client.HTTPException):
            return False

    def _announced_port(self) -> int:
        """The port it chose, zero as long as it has not said so."""
        urls = [word for word in self.log.split() if word.startswith("https://127.0.0.1:")]
        return urlsplit(urls[0]).port or 0 if urls else 0

    def _log_tail(self) -> str:
        return "\n".join(self.log.splitlines()[-30:])
