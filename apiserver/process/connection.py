"""Connection: gunicorn's ASGI protocol, extended for an API server.

It adds six things. The client's certificate is put into the scope, as the TLS extension of ASGI
describes. The head of a streamed response is sent at once: gunicorn keeps it until the first part
of the body, and a watch may send no event for minutes. A client that sends the head of a request
too slowly, or does not read its response, is disconnected. A connection reports whether it is
idle, so that a stopping worker can close idle connections. And it is closed after a response if,
and only if, the head of that response announced it: a client that was promised another request
has often sent it already. The head of a request is bounded as a whole, since it is held in memory
before the client is known.

This uses private parts of gunicorn 27, which has no hooks for any of it; the tests of the worker
run against the real gunicorn and fail if these parts change.
"""

import socket
import ssl
from asyncio import BaseTransport, TimerHandle
from http import HTTPStatus
from typing import Any, Final

from cryptography import x509
from gunicorn.asgi.parser import LimitRequestHeaders
from gunicorn.asgi.protocol import ASGIProtocol

from apiserver.http.client_connection import CONNECTION, ClientConnection
from apiserver.process.request_parser import RequestParser

HEAD_SECONDS: Final = 10.0
"""The time limit for receiving the head of a request, from its first byte to its last."""
MAX_HEAD_BYTES: Final = 128 * 1024
"""The maximum size of the request line and all headers together."""
STALL_SECONDS: Final = 15.0
"""The time in which a client must read some of its pending response."""

_HEAD_TOO_LARGE: Final = "the request head is too large\n"
_NOSNIFF: Final = (("X-Content-Type-Options", "nosniff"),)
_CHUNKED: Final = (b"transfer-encoding", b"chunked")
_TLS_VERSIONS: Final = {"TLSv1.2": 0x0303, "TLSv1.3": 0x0304}


class HTTPConnection(ASGIProtocol):  # type: ignore[misc]  # gunicorn has no types
    """One connection of one client."""

    _response_buffer: bytes | None
    _callback_parser: Any

    def __init__(self, worker: Any) -> None:
        super().__init__(worker)
        self.shared = ClientConnection()
        self._tls: dict[str, Any] | None = None
        self._head_started = False
        self._head_bytes = 0
        self._head_timer: TimerHandle | None = None
        self._stall_timer: TimerHandle | None = None
        self._decided_for: object = None
        self._closes = False
        # Registered here and not in connection_made, which is called after the TLS handshake: a
        # stopping worker must also wait for clients in the middle of a handshake.
        self.accepted_at: float = worker.loop.time()
        worker.connections.add(self)

    @property
    def is_open(self) -> bool:
        """Whether the connection is usable: after its handshake, before its end."""
        return self.transport is not None and not self._closed

    @property
    def is_idle(self) -> bool:
        """Whether the connection is open and no request is being received or served."""
        # Only HTTP/2 connections have a reader, and gunicorn closes those itself.
        if not self.is_open or self.reader is not None:
            return False
        return self._current_request is None and not self._http1_buffered()

    @property
    def is_serving(self) -> bool:
        """Whether a request is being served."""
        return self._current_request is not None

    def abort(self) -> None:
        """Close the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    def close(self) -> None:
        """Close the connection after the pending output is sent."""
        self._close_transport()
        if self._request_ready is not None:
            self._request_ready.set()

    def connection_made(self, transport: BaseTransport) -> None:
        # Without keep-alive probes, the watch of a vanished client would stay open forever.
        raw = transport.get_extra_info("socket")
        if raw is not None and raw.family != socket.AF_UNIX:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._tls = tls_extension(transport.get_extra_info("ssl_object"))
        super().connection_made(transport)
        # gunicorn limits the idle time only between two requests, not before the first.
        self._head_timer = self.worker.loop.call_later(self.cfg.keepalive, self.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self.worker.connections.discard(self)
        self.shared.is_open = False
        _cancel(self._head_timer)
        _cancel(self._stall_timer)
        super().connection_lost(exc)
        # Release the tasks that wait to write: nothing more will be sent.
        if self._flow_control is not None:
            self._flow_control.resume_writing()
        if self._task is None or self._task.done():
            self._release()
        else:
            self._task.add_done_callback(self._release)

    def _release(self, task: object = None) -> None:
        """Drop the parts that refer back to the connection, so that its memory is freed now.

        The garbage collector would find such cycles, but it runs rarely in a process with many
        long-lived objects.
        """
        self._callback_parser = self._body_receiver = self._websocket = None
        self._current_request = self._decided_for = None
        self._request_ready = self._flow_control = self._task = None
        self._head_timer = self._stall_timer = self._keepalive_handle = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._current_request is not None:
            self._head_started = False
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None
        elif not self._head_started and self.is_open and self.reader is None:
            self._head_started = True
            _cancel(self._head_timer)
            self._head_timer = self.worker.loop.call_later(HEAD_SECONDS, self._reject_slow_head)

    def _setup_callback_parser(self) -> None:
        self._callback_parser = RequestParser(
            on_headers_complete=self._on_headers_complete,
            on_body=self._on_body,
            on_message_complete=self._on_message_complete,
            limit_request_line=self.cfg.limit_request_line,
            limit_request_fields=self.cfg.limit_request_fields,
            limit_request_field_size=self.cfg.limit_request_field_size,
        )

    def _http1_buffered(self) -> int:
        """Return the number of bytes received beyond what the application has taken."""
        held: int = self._body_receiver.buffered if self._body_receiver is not None else 0
        parser = self._callback_parser
        return held + len(parser._buffer) if parser is not None and parser.is_complete else held

    def _feed_callback_parser(self, data: bytes) -> bool:
        if self._current_request is not None:
            return bool(super()._feed_callback_parser(data))
        self._head_bytes += len(data)
        if not super()._feed_callback_parser(data):
            return False
        if self._current_request is None and self._head_bytes > MAX_HEAD_BYTES:
            self._send_error_response(431, _HEAD_TOO_LARGE)
            self._close_transport()
            return False
        return True

    def _on_headers_complete(self) -> bool:
        # The bytes received may include the body; only if they are too many is the head measured.
        if self._head_bytes > MAX_HEAD_BYTES and _head_size(self._callback_parser) > MAX_HEAD_BYTES:
            raise LimitRequestHeaders(_HEAD_TOO_LARGE)
        self._head_bytes = 0
        return bool(super()._on_headers_complete())

    def _send_error_response(
        self, status: int, message: str, extra_headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """Send an error about a request that cannot be parsed; one to HEAD has no body."""
        if self._current_request is not None and self._decided_for is self._current_request:
            return  # the response has started: another one would garble it
        parser = self._callback_parser
        if parser is None or parser.method != b"HEAD":
            super()._send_error_response(status, message, (*extra_headers, *_NOSNIFF))
            return
        extra = "".join(f"{name}: {value}\r\n" for name, value in (*extra_headers, *_NOSNIFF))
        reason = HTTPStatus(status).phrase
        self._safe_write(
            f"HTTP/1.1 {status} {reason}\r\n{extra}Connection: close\r\n\r\n".encode("latin-1")
        )

    def _reject_slow_head(self) -> None:
        self._send_error_response(408, "the request head was not completed in time\n")
        self.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start_stall_timer()

    def resume_writing(self) -> None:
        _cancel(self._stall_timer)
        super().resume_writing()

    def _start_stall_timer(self) -> None:
        pending = self.transport.get_write_buffer_size()
        self._stall_timer = self.worker.loop.call_later(
            STALL_SECONDS, self._require_progress, pending
        )

    def _require_progress(self, pending: int) -> None:
        if self.transport.get_write_buffer_size() < pending:
            self._start_stall_timer()
        else:
            self.shared.stalled = True
            self.transport.abort()

    def _will_close(self, request: Any, response_requires_close: bool) -> bool:
        # Called when a response starts and again when it is complete; a stop may begin in between.
        if self._decided_for is not request:
            self._decided_for = request
            self._closes = self.worker.is_stopping or bool(
                super()._will_close(request, response_requires_close)
            )
        return self._closes

    def _build_http_scope(self, *args: Any) -> dict[str, Any]:
        return self._extend(super()._build_http_scope(*args))

    def _build_http2_scope(self, *args: Any) -> dict[str, Any]:
        return self._extend(super()._build_http2_scope(*args))

    def _build_websocket_scope(self, *args: Any) -> dict[str, Any]:
        return self._extend(super()._build_websocket_scope(*args))

    def _extend(self, scope: dict[str, Any]) -> dict[str, Any]:
        scope[CONNECTION] = self.shared
        if self._tls is not None:
            scope.setdefault("extensions", {})["tls"] = self._tls
        return scope

    def _send_response_start(
        self, status: int, headers: list[tuple[bytes, bytes]], request: Any, close: bool = False
    ) -> None:
        super()._send_response_start(status, headers, request, close)
        # Deferred, so that a body that is already available is sent together with the head.
        if headers and headers[-1] == _CHUNKED:
            self.worker.loop.call_soon(self._flush_head)

    def _flush_head(self) -> None:
        head = self._response_buffer
        if head is not None and not self._closed:
            self._response_buffer = None
            self._safe_write(head)


def _head_size(parser: RequestParser) -> int:
    fields = sum(len(name) + len(value) + 4 for name, value in parser.headers)
    return fields + len(parser.method) + len(parser.path) + len(" HTTP/1.1  \r\n")


def _cancel(timer: TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


def tls_extension(ssl_object: ssl.SSLObject | None) -> dict[str, Any] | None:
    """Return the ASGI TLS extension of a connection, None without TLS."""
    if ssl_object is None:
        return None
    certificate = ssl_object.getpeercert(binary_form=True)
    return {
        "server_cert": None,
        "client_cert_chain": _verified_chain(ssl_object, certificate) if certificate else [],
        "client_cert_name": _subject(certificate),
        "client_cert_error": None,
        "tls_version": _TLS_VERSIONS.get(ssl_object.version() or ""),
        "cipher_suite": None,
    }


def _verified_chain(ssl_object: ssl.SSLObject, certificate: bytes) -> list[str]:
    """Return the client's certificate and its chain up to the authority, as PEM."""
    # The public method of the same name exists only since Python 3.13.
    chain = ssl_object._sslobj.get_verified_chain()  # type: ignore[attr-defined]
    if not chain:  # a resumed session
        return [ssl.DER_cert_to_PEM_cert(certificate)]
    return [element.public_bytes() for element in chain]


def _subject(certificate: bytes | None) -> str | None:
    if not certificate:
        return None
    try:
        return x509.load_der_x509_certificate(certificate).subject.rfc4514_string()
    except ValueError:
        return None
