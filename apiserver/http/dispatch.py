"""Dispatch: the way of a request through access control to its handler, and the response back.

It is falcon's application with the steps that an API server has, one after the other: falcon's own
looks for middleware, sinks, media handlers and callbacks that there are none of, which took as long
as the rest of a read. Requests, responses and WebSockets are falcon's.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

import falcon.asgi
from falcon.asgi import Request, Response

from apiserver.http.access import Access, on_error
from apiserver.http.exchange import Scope
from apiserver.http.request_bodies import Receive
from apiserver.http.request_headers import headers_of
from apiserver.http.request_info import RequestInfo
from apiserver.http.response import UTF8HeaderResponse, exchange_of

Send = Callable[[dict[str, Any]], Awaitable[None]]
Responder = Callable[..., Awaitable[None]]

_END: Final = {"type": "http.response.body"}
_BODILESS: Final = frozenset((100, 101, 204, 304))
_TYPELESS: Final = frozenset((204, 304))
_NO_METHOD: Final = "WEBSOCKET"
"""The method by which responders of WebSockets are found; a request cannot have it."""


class Routes(Protocol):
    """Finds the responders of a path, by method."""

    def methods(self, info: RequestInfo) -> dict[str, Responder]:
        """Return the responders; every other method has one as well. Raises NotFound."""


class Dispatcher(falcon.asgi.App[Any, Any]):
    """An ASGI application between the gate and the handlers."""

    def __init__(self, router: Any, access: Access) -> None:
        super().__init__(router=router, middleware=[access], response_type=UTF8HeaderResponse)
        self.add_error_handler(Exception, on_error)
        self._routes: Routes = router
        self._access = access

    async def __call__(  # type: ignore[override]  # a scope is any mapping
        self, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope["type"] != "http" or scope["method"] == _NO_METHOD:
            await super().__call__(scope, receive, send)  # type: ignore[arg-type]
            return
        req = DispatchedRequest(scope)
        resp = UTF8HeaderResponse(options=self.resp_options)
        try:
            await self._access.process_request(req, resp)
            responder = self._routes.methods(exchange_of(req).info)[req.method]
            await responder(req, resp)
        except Exception as error:
            resp.data = None
            await on_error(req, resp, error, {})
        await self._access.process_response(req, resp, None, True)
        if req.method == "HEAD" or resp.status_code in _BODILESS:
            await self._send_head(req, resp, send)
        elif resp.data is not None:
            resp.set_header("content-length", str(len(resp.data)))
            await send(self._start(resp))
            await send({"type": "http.response.body", "body": resp.data})
        else:
            await self._send_stream(resp, send)

    def _start(self, resp: Response, *, typeless: bool = False) -> dict[str, Any]:
        media_type = None if typeless else self.resp_options.default_media_type
        headers = resp._asgi_headers(media_type)
        return {"type": "http.response.start", "status": resp.status_code, "headers": headers}

    async def _send_head(self, req: Request, resp: Response, send: Send) -> None:
        """Send a response without a body, with the length that the body would have."""
        bodiless, has_length = resp.status_code in _BODILESS, resp.get_header("content-length")
        if not bodiless and not has_length and (resp.data is not None or not resp.stream):
            resp.set_header("content-length", str(len(resp.data or b"")))
        await send(self._start(resp, typeless=resp.status_code in _TYPELESS))
        await send(_END)

    async def _send_stream(self, resp: Response, send: Send) -> None:
        stream = resp.stream
        if stream is None:
            resp.set_header("content-length", "0")
            await send(self._start(resp))
        else:
            await send(self._start(resp))
            async for part in stream:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send(_END)


class DispatchedRequest(Request):
    """Falcon's request with what handlers use of it: the scope, the method, the path, headers."""

    def __init__(self, scope: Any) -> None:
        # Falcon's own parses the query, which the gate has done, and copies the headers.
        self.scope = scope
        self.is_websocket = False
        self.method = scope["method"]
        self.path = scope["path"]
        self._asgi_headers = headers_of(scope, exchange_of(self).connection).by_name
