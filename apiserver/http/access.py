"""Access middleware: authenticates, classifies and authorizes requests before they are routed.

The order is that of Kubernetes: only an authorized client learns that a path does not exist. A read
takes its seat here, a write when its body has been read.
"""

import binascii
import logging
from base64 import urlsafe_b64decode
from dataclasses import replace
from typing import Any, Final

import falcon
from falcon.asgi import Request, Response, WebSocket

from apimachinery.errors import APIError, BadRequest, InternalError, Timeout
from apiserver.auth.authentication import Authentication, RequestCredentials
from apiserver.auth.authorization import Authorizer, require
from apiserver.auth.impersonation import impersonate
from apiserver.auth.user import ANONYMOUS
from apiserver.http.concurrency import Concurrency, Overloaded
from apiserver.http.exchange import (
    CLIENT_CLOSED_REQUEST,
    Exchange,
    choose_request_id,
    require_utf8,
)
from apiserver.http.logs import request_id
from apiserver.http.negotiation import PLAIN, Accepted, wants_pretty
from apiserver.http.request_bodies import Disconnected, RequestBodies
from apiserver.http.request_headers import RequestHeaders, headers_of
from apiserver.http.response import exchange_of, write_error, write_text, write_warnings
from apiserver.workload import HeavyThread, Workload

log = logging.getLogger(__name__)

BEARER_PROTOCOL: Final = "base64url.bearer.authorization.k8s.io."

TOO_MANY_REQUESTS: Final = 429
LEVEL_HEADER: Final = "x-kubernetes-pf-prioritylevel-uid"
SCHEMA_HEADER: Final = "x-kubernetes-pf-flowschema-uid"

_PRETTY: Final = Accepted(PLAIN.media_type, pretty=True)


class Access:
    """Authenticates and authorizes requests, and completes the headers of responses."""

    def __init__(
        self,
        authentication: Authentication,
        authorizer: Authorizer,
        heavy_thread: HeavyThread | None = None,
        *,
        concurrency: Concurrency | None = None,
        bodies: RequestBodies | None = None,
    ) -> None:
        """Without *concurrency* no request is limited."""
        self._authentication = authentication
        self._authorizer = authorizer
        self._concurrency = concurrency
        self._bodies = bodies
        self._heavy_thread = heavy_thread

    async def process_request(self, req: Request, resp: Response) -> None:
        exchange = exchange_of(req)
        headers = headers_of(req.scope, exchange.connection)
        self._start(exchange, headers)
        await self._admit(req, exchange, headers.credentials, headers)

    async def process_request_ws(self, req: Request, ws: WebSocket) -> None:
        exchange = exchange_of(req)
        headers = headers_of(req.scope, exchange.connection)
        self._start(exchange, headers)
        await self._admit(req, exchange, _websocket_credentials(headers, ws), headers)

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
        seat = exchange.seat
        if seat is not None and seat.schema_uid:
            resp.set_header(LEVEL_HEADER, seat.level_uid)
            resp.set_header(SCHEMA_HEADER, seat.schema_uid)

    def _start(self, exchange: Exchange, headers: RequestHeaders) -> None:
        exchange.request_id = choose_request_id(headers.audit_id)
        request_id.set(exchange.request_id)
        exchange.user_agent = headers.user_agent
        if wants_pretty(exchange.parameter("pretty"), exchange.user_agent):
            exchange.accepted = _PRETTY

    async def _admit(
        self,
        req: Request,
        exchange: Exchange,
        credentials: RequestCredentials,
        headers: RequestHeaders,
    ) -> None:
        require_utf8(exchange.info.path)
        user = await self._authentication.authenticate(credentials)
        exchange.connection.authenticated |= user is not ANONYMOUS
        exchange.authorizer = self._authorizer
        if headers.impersonates:
            user = await impersonate(user, req.scope["headers"], self._authorizer)
        exchange.user = user
        concurrency = self._concurrency
        if concurrency is not None:
            if not concurrency.is_current:
                await concurrency.catch_up()
            exchange.seat = concurrency.seat_for(exchange)
            exchange.bodies = self._bodies
        await require(self._authorizer, exchange.user, exchange.info)
        exchange.workload = Workload(self._heavy_thread, exchange.user.name)
        if not exchange.info.mutates or not exchange.info.is_resource:
            await exchange.take_seat()


def _websocket_credentials(headers: RequestHeaders, ws: WebSocket) -> RequestCredentials:
    """Read the credentials of a WebSocket request.

    A browser cannot set headers, so a token may be sent as the name of a subprotocol.
    """
    credentials = headers.credentials
    token = next((name for name in ws.subprotocols if name.startswith(BEARER_PROTOCOL)), "")
    if credentials.authorization or not token:
        return credentials
    encoded = token.removeprefix(BEARER_PROTOCOL)
    try:
        decoded = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise BadRequest("the bearer token of the subprotocol is not valid base64url") from None
    return replace(credentials, authorization=f"Bearer {decoded}")


async def on_error(
    req: Request,
    resp: Response | None,
    error: Exception,
    params: dict[str, Any],
    ws: WebSocket | None = None,
) -> None:
    """Turn an exception into the response; unexpected errors are logged and not disclosed."""
    if isinstance(error, Disconnected | falcon.WebSocketDisconnected):
        if resp is not None:
            resp.status = CLIENT_CLOSED_REQUEST
        return
    if isinstance(error, Overloaded):
        await _reject(req, resp, error, ws)
        return
    api_error = error if isinstance(error, APIError) else _to_api_error(req, error)
    if api_error.code >= 500 and error.__cause__ is not None and not isinstance(api_error, Timeout):
        # The cause, an error of the store, is not sent to the client; the operator needs it.
        log.warning("%s", error.__cause__)
    if resp is not None:
        write_error(req, resp, api_error)
    elif ws is not None and not ws.closed:
        exchange_of(req).code = api_error.code
        await ws.close(_close_code(api_error.code))


async def _reject(
    req: Request, resp: Response | None, error: Overloaded, ws: WebSocket | None
) -> None:
    """Ask the client to try again later, in plain text as Kubernetes does."""
    exchange_of(req).rejected = True
    if resp is not None:
        write_text(resp, f"{error}\n", code=TOO_MANY_REQUESTS)
        resp.set_header("retry-after", str(error.seconds))
    elif ws is not None and not ws.closed:
        exchange_of(req).code = TOO_MANY_REQUESTS
        await ws.close(_close_code(TOO_MANY_REQUESTS))


def _to_api_error(req: Request, error: Exception) -> APIError:
    if isinstance(error, falcon.HTTPError):
        return APIError(error.title or "", reason="", code=error.status_code)
    exchange = exchange_of(req)
    log.error("request %s failed", exchange.request_id, exc_info=error)
    return InternalError.of(
        f"an error on the server; its log has more, request {exchange.request_id}"
    )


def _close_code(code: int) -> int:
    """Return the WebSocket close code: the HTTP status plus 3000, which is Falcon's convention."""
    return 3000 + code
