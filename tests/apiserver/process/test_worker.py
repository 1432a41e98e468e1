"""The worker under the real gunicorn: TLS, streams, stops and reloads.

These hold gunicorn to the private parts that the worker and its connections rest on.
"""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from apimachinery.certificates import CertificateAuthority, KeyPair
from apiserver.commands.serve import free_port
from apiserver.config import ServerConfig
from apiserver.process.address import Address
from apiserver.process.data_dir import DataDir
from apiserver.process.data_folder import issue_client, prepare, renew_serving
from apiserver.process.worker import IDLE_GRACE

ROOT = Path(__file__).parents[3]
GUNICORN = (sys.executable, "-m", "gunicorn", "-c", "python:apiserver.gunicorn_conf")

LIMITED = """
import os, resource, sys
files, *command = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_NOFILE, (int(files), int(files)))
os.execv(command[0], command)
"""


@dataclass
class Running:
    process: subprocess.Popen[bytes]
    config: ServerConfig
    opened: list[http.client.HTTPConnection] = field(default_factory=list)

    @property
    def folder(self) -> DataDir:
        return DataDir(self.config.data_dir)

    def connect(self, client: KeyPair | None = None) -> http.client.HTTPConnection:
        self.opened.append(self._connection(client))
        return self.opened[-1]

    def _connection(self, client: KeyPair | None) -> http.client.HTTPConnection:
        host, port = self.config.bind.host, self.config.bind.port
        if self.config.insecure_http:
            return http.client.HTTPConnection(host, port, timeout=20)
        context = ssl.create_default_context(cafile=self.folder.ca_certificate)
        if client is not None:
            both = self.folder.path / "both.pem"
            both.write_bytes(client.certificate + client.key)
            context.load_cert_chain(both)
        return http.client.HTTPSConnection(host, port, timeout=20, context=context)

    def ask(self, path: str = "/", client: KeyPair | None = None) -> Any:
        connection = self.connect(client)
        connection.request("GET", path)
        document = json.loads(connection.getresponse().read())
        connection.close()
        return document

    def until(self, what: Any) -> Any:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                if (found := what()) is not None:
                    return found
            except (OSError, http.client.HTTPException):
                pass
            assert self.process.poll() is None, "the server has ended"
            time.sleep(0.02)
        raise AssertionError("it did not happen in time")


@contextmanager
def running(folder: Path, *, files: int | None = None, **settings: Any) -> Iterator[Running]:
    """Run gunicorn, with *files* as the limit of open files."""
    config = ServerConfig(data_dir=folder / "data", **settings)
    config = replace(config, bind=Address("127.0.0.1", free_port(Address("127.0.0.1", 0))))
    prepare(config, now=datetime.now(UTC))
    environ = {
        **os.environ,
        "APISERVER_DATA_DIR": str(config.data_dir),
        "APISERVER_BIND": str(config.bind),
        "APISERVER_INSECURE_HTTP": str(config.insecure_http),
        "APISERVER_WORKERS": str(config.workers),
        "PYTHONPATH": str(ROOT),
    }
    command = [*GUNICORN, "tests.apiserver.process.worker_app:app"]
    if files is not None:
        command = [sys.executable, "-c", LIMITED, str(files), *command]
    process = subprocess.Popen(command, env=environ)
    server = Running(process, config)
    try:
        server.until(server.ask)
        yield server
    finally:
        for connection in server.opened:
            connection.close()
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def tls_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("tls")) as server:
        yield server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path, insecure_http=True) as server:
        yield server


def test_without_tls_there_is_no_tls_extension(server: Running) -> None:
    assert server.ask()["tls"] is None


def test_a_client_needs_no_certificate(tls_server: Running) -> None:
    tls = tls_server.ask()["tls"]

    assert (tls["client_cert_chain"], tls["client_cert_name"]) == ([], None)
    assert tls["tls_version"] == 0x0304


def test_the_certificate_of_a_client_is_in_the_scope(tls_server: Running) -> None:
    pair = issue_client(
        tls_server.config, "ann", ("a",), now=datetime.now(UTC), lifetime=timedelta(hours=1)
    )

    tls = tls_server.ask(client=pair)["tls"]

    authority = tls_server.folder.ca_certificate.read_text()
    assert tls["client_cert_chain"] == [pair.certificate.decode(), authority]
    assert tls["client_cert_name"] == "CN=ann,O=a"


def test_a_session_is_not_resumed(tls_server: Running) -> None:
    """In a resumed one it is not known who vouched for the client."""
    address = tls_server.config.bind
    context = ssl.create_default_context(cafile=tls_server.folder.ca_certificate)
    session = None

    for _ in range(2):
        with (
            socket.create_connection((address.host, address.port), timeout=20) as raw,
            context.wrap_socket(raw, server_hostname=address.host, session=session) as wrapped,
        ):
            wrapped.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert wrapped.recv(4096)
            session, reused = wrapped.session, wrapped.session_reused

    assert not reused


def test_the_certificate_of_a_stranger_is_refused(tls_server: Running) -> None:
    now = datetime.now(UTC)
    stranger = CertificateAuthority.create(now=now).issue_client(
        "ann", [], now=now, lifetime=timedelta(1)
    )

    with pytest.raises((ssl.SSLError, ConnectionError)):
        tls_server.ask(client=stranger)


def test_a_renewed_certificate_is_served_without_a_restart(tls_server: Running) -> None:
    pid = tls_server.ask()["pid"]
    renew_serving(replace(tls_server.config, tls_san=("new.example",)), now=datetime.now(UTC))

    def is_new() -> bool | None:
        connection = tls_server.connect()
        connection.connect()
        assert isinstance(connection.sock, ssl.SSLSocket)
        names = (connection.sock.getpeercert() or {})["subjectAltName"]
        connection.close()
        return True if ("DNS", "new.example") in names else None

    tls_server.until(is_new)
    assert tls_server.ask()["pid"] == pid


def test_a_connection_that_has_ended_is_freed_without_the_garbage_collector(
    tls_server: Running,
) -> None:
    for _ in range(20):
        tls_server.ask()
    connection = tls_server.connect()

    def are_few() -> bool | None:
        connection.request("GET", "/connections")
        return True if json.loads(connection.getresponse().read()) <= 5 else None

    tls_server.until(are_few)


def test_pauses_of_the_event_loop_are_recorded(tls_server: Running) -> None:
    tls_server.ask("/spin")

    tls_server.until(
        lambda: True if "tests.apiserver.process.worker_app" in tls_server.ask("/pauses") else None
    )


def test_long_urls_and_headers_are_read(server: Running) -> None:
    connection = server.connect()

    connection.request("GET", "/?" + "a" * 30_000, headers={"Authorization": "b" * 30_000})

    assert connection.getresponse().status == 200


def test_a_stop_answers_what_is_in_flight_and_ends_streams_whole(server: Running) -> None:
    watch, slow, idle = server.connect(), server.connect(), server.connect()
    slow.request("GET", "/until-stop")
    idle.request("GET", "/")
    idle.getresponse().read()
    watch.request("GET", "/watch")
    # The head arrives although the stream has nothing to say yet.
    stream = watch.getresponse()
    began = time.monotonic()

    server.process.send_signal(signal.SIGTERM)

    assert stream.read() == b"the last\n"
    answered = slow.getresponse()
    assert json.loads(answered.read()) == {"answered": True}
    assert answered.headers["Connection"] == "close"
    assert server.process.wait(20) == 0
    # Idle connections are not waited for, however long they may be kept.
    assert time.monotonic() - began < IDLE_GRACE + 5


def test_a_stop_closes_no_connection_that_was_promised_another_request(server: Running) -> None:
    """The head of the response went out before the stop and announced no end."""
    connection = server.connect()
    connection.request("GET", "/started")
    started = connection.getresponse()
    assert (started.read(1), started.headers["Connection"]) == (b"a", None)

    server.process.send_signal(signal.SIGTERM)
    assert started.read() == b"b"
    same_socket = connection.sock
    connection.request("GET", "/")
    answered = connection.getresponse()

    assert (answered.status, answered.headers["Connection"]) == (200, "close")
    assert connection.sock is None or connection.sock is same_socket
    assert server.process.wait(20) == 0


def test_a_reload_brings_new_workers_and_loses_nothing(server: Running) -> None:
    slow = server.connect()
    slow.request("GET", "/until-stop")
    old = server.ask()["pid"]

    server.process.send_signal(signal.SIGHUP)

    assert json.loads(slow.getresponse().read()) == {"answered": True}
    server.until(lambda: True if server.ask()["pid"] != old else None)


def test_a_worker_that_lost_its_master_ends(server: Running) -> None:
    worker = server.ask()["pid"]
    server.process.kill()
    server.process.wait()

    deadline = time.monotonic() + 20
    while Path(f"/proc/{worker}").exists() and not _is_zombie(worker):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_zombie(pid: int) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return True
