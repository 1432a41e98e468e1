"""ASGI entry point: `gunicorn apiserver.asgi:app`.

The application is built when its lifespan starts: importing this module neither reads the
environment nor opens the store.
"""

import os
from collections.abc import Callable
from typing import Final

from apimachinery.certificates import CertificateError
from apiserver.app import STARTUP_ERRORS, App, run_lifespan
from apiserver.auth.static_tokens import InvalidTokenFile
from apiserver.auth.token_keys import InvalidSigningKey
from apiserver.config import ServerConfig, ServerConfigError, load_config
from apiserver.controlplane.standard_server import create_app
from apiserver.http.exchange import Scope
from apiserver.http.gate import Send
from apiserver.http.request_bodies import Receive
from apiserver.process.data_dir import DataDirError
from apiserver.process.loading import GroupError

CONFIG_ERRORS: Final = (
    *(ServerConfigError, DataDirError, GroupError),
    *(InvalidSigningKey, InvalidTokenFile, CertificateError),
)


class Server:
    """An ASGI application that is built from *config* when its lifespan starts."""

    def __init__(self, config: Callable[[], ServerConfig]) -> None:
        self._config = config
        self._app: App | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            errors = (*STARTUP_ERRORS, *CONFIG_ERRORS)
            await run_lifespan(self._build, scope, receive, send, errors=errors)
        else:
            assert self._app is not None, "the lifespan has not started"
            await self._app(scope, receive, send)

    def _build(self) -> App:
        self._app = create_app(self._config())
        return self._app


app: Final = Server(lambda: load_config(os.environ))
