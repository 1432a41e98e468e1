"""Request scope: the ASGI scope of a request, most of which is that of its connection."""

import asyncio
from base64 import b64decode
from binascii import Error as NotBase64
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from apiserver.connections.request_head import RequestHead
from apiserver.connections.response_writer import error_response
from apiserver.connections.tls_extension import tls_extension
from apiserver.http.client_connection import CONNECTION, ClientConnection

Scope = dict[str, Any]

_WEBSOCKET_VERSION: Final = "13"


def common_scope(transport: asyncio.Transport, connection: ClientConnection) -> Scope:
    """Return what the scopes of all requests of a connection have in common."""
    tls = tls_extension(transport.get_extra_info("ssl_object"))
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "scheme": "http" if tls is None else "https",
        "root_path": "",
        "server": _address(transport.get_extra_info("sockname")),
        "client": _address(transport.get_extra_info("peername")),
        CONNECTION: connection,
    }
    if tls is not None:
        scope["extensions"] = {"tls": tls}
    return scope


def http_scope(common: Scope, head: RequestHead, *, state: Scope) -> Scope:
    """Return the scope of a request; *state* is what the application has kept at its start."""
    scope = common.copy()
    path, _, query = head.target.partition(b"?")
    decoded = unquote_to_bytes(path) if b"%" in path else path
    scope["http_version"] = head.version
    scope["method"] = head.method
    scope["raw_path"] = path
    scope["path"] = decoded.decode("utf-8", "replace")
    scope["query_string"] = query
    scope["headers"] = head.fields.headers
    scope["state"] = state.copy()
    return scope


def websocket_scope(scope: Scope) -> Scope:
    """Return the scope of a WebSocket from that of the request that asks for it."""
    protocols = dict(scope["headers"]).get(b"sec-websocket-protocol", b"").decode("latin-1")
    scope = scope | {
        "type": "websocket",
        "scheme": scope["scheme"].replace("http", "ws"),
        "subprotocols": [name.strip() for name in protocols.split(",")] if protocols else [],
    }
    del scope["method"]
    return scope


def handshake_refusal(head: RequestHead) -> bytes | None:
    """Return the response to a handshake that is no WebSocket's (RFC 6455, section 4.2)."""
    headers = dict(head.fields.headers)
    if headers.get(b"sec-websocket-version") != _WEBSOCKET_VERSION.encode():
        return error_response(426, "Upgrade Required", version=_WEBSOCKET_VERSION)
    try:
        if len(b64decode(headers.get(b"sec-websocket-key", b""), validate=True)) == 16:
            return None
    except (NotBase64, ValueError):
        pass
    return error_response(400, "Bad Request")


def _address(address: Any) -> tuple[str, int] | None:
    return (address[0], address[1]) if isinstance(address, tuple) else None
