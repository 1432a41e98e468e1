"""Middleware: what happens to every request before it is routed, and to every answer.

Who is asking, and may they? The order is that of Kubernetes: an unknown path is told only to those
who may ask for it.
"""

import binascii
import logging
from base64 import urlsafe_b64decode
from dataclasses import replace
from typing import Any, Final

import falcon
from falcon.asgi import Request, Response, WebSocket

from apimachinery.errors import APIError, BadRequest, InternalError, Timeout
from apiserver.auth.authentication import Authentication, RequestCredentials, read_credentials
from apiserver.auth.authorization import Authorizer, require
from apiserver.auth.impersonation import impersonate
from apiserver.http.exchange import Disconnected, Exchange, request_id_of, require_utf8
from apiserver.http.logs import request_id
from apiserver.http.negotiation import PLAIN, Accepted, wants_pretty
from apiserver.http.response import exchange_of, write_error, write_warnings

log = logging.getLogger(__name__)

BEARER_PROTOCOL: Final = "base64url.bearer.authorization.k8s.io."

_PRETTY: Final = Accepted(PLAIN.media_type, pretty=True)


class Access:
    """Knows who asks for what, and lets them through or not."""

    def __init__(self, authentication: Authentication, authorizer: Authorizer) -> None:
        self._authentication = authentication
        self._authorizer = authorizer

    async def process_request(self, req: Request, resp: Response) -> None:
        exchange = self._begin(req)
        await self._admit(req, exchange, read_credentials(req.scope))

    async def process_request_ws(self, req: Request, ws: WebSocket) -> None:
        exchange = self._begin(req)
        await self._admit(req, exchange, _websocket_credentials(req, ws))

    async def process_response(
        self, req: Request, resp: Response, resource: object, succeeded: bool
    ) -> None:
        exchange = exchange_of(req)
        exchange.code = resp.status_code
        resp.set_header("audit-id", exchange.request_id)
        if resp.get_header("cache-control") is None:
            resp.set_header("cache-control", "no-cache, private")
        if exchange.warnings:
            write_warnings(resp, exchange.warnings)

    def _begin(self, req: Request) -> Exchange:
        exchange = exchange_of(req)
        exchange.request_id = request_id_of(req.get_header("audit-id"))
        request_id.set(exchange.request_id)
        exchange.user_agent = req.get_header("user-agent") or ""
        if wants_pretty(exchange.parameter("pretty"), exchange.user_agent):
            exchange.accepted = _PRETTY
        return exchange

    async def _admit(
        self, req: Request, exchange: Exchange, credentials: RequestCredentials
    ) -> None:
        require_utf8(exchange.info.path)
        user = await self._authentication.authenticate(credentials)
        exchange.authorizer = self._authorizer
        exchange.user = await impersonate(user, req.scope["headers"], self._authorizer)
        await require(self._authorizer, exchange.user, exchange.info)


def _websocket_credentials(req: Request, ws: WebSocket) -> RequestCredentials:
    """A browser cannot set headers, so a token may come as the name of a subprotocol."""
    given = read_credentials(req.scope)
    token = next((p for p in ws.subprotocols if p.startswith(BEARER_PROTOCOL)), "")
    if given.authorization or not token:
        return given
    encoded = token.removeprefix(BEARER_PROTOCOL)
    try:
        decoded = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise BadRequest("the bearer token of the subprotocol is not base64url") from None
    return replace(given, authorization=f"Bearer {decoded}")


async def on_error(
    req: Request,
    resp: Response | None,
    error: Exception,
    params: dict[str, Any],
    ws: WebSocket | None = None,
) -> None:
    """Turn whatever was raised into the answer; what nobody expected is logged and not told."""
    if isinstance(error, Disconnected | falcon.WebSocketDisconnected):
        return
    told = error if isinstance(error, APIError) else _as_told(req, error)
    if told.code >= 500 and error.__cause__ is not None and not isinstance(told, Timeout):
        # What a client need not know of the store, its operator must.
        log.warning("%s", error.__cause__)
    if resp is not None:
        write_error(req, resp, told)
    elif ws is not None and not ws.closed:
        exchange_of(req).code = told.code
        await ws.close(_close_code(told.code))


def _as_told(req: Request, error: Exception) -> APIError:
    if isinstance(error, falcon.HTTPError):
        return APIError(error.title or "", reason="", code=error.status_code)
    exchange = exchange_of(req)
    log.error("request %s failed", exchange.request_id, exc_info=error)
    return InternalError.of(
        f"an error on the server; its log has more, request {exchange.request_id}"
    )


def _close_code(code: int) -> int:
    """Falcon's convention: the code of the answer that there would have been, plus 3000."""
    return 3000 + code
