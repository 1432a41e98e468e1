"""The composition root: from a configuration to an application that serves.

`app` is what `gunicorn apiserver.asgi:app` runs. It reads the environment and opens the store when
its lifespan starts and not before, so importing this module does nothing.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Final

from apimachinery.errors import APIError
from apis.core.controllers.namespace_defaults import NamespaceDefault, default_account, root_ca
from apiserver.app import App
from apiserver.auth.authentication import Authenticator
from apiserver.auth.static_tokens import (
    InvalidTokenFile,
    TokenAuthenticator,
    TokenFileAuthenticator,
)
from apiserver.auth.token_keys import InvalidSigningKey
from apiserver.auth.user import MASTERS, User
from apiserver.auth.user_tokens import SignedTokenAuthenticator, signing_key
from apiserver.config import ServerConfig, ServerConfigError, load_config
from apiserver.controlplane.leader import election_for
from apiserver.controlplane.role_access import Access
from apiserver.controlplane.standard_server import assemble
from apiserver.http.exchange import DRAIN, Receive, Scope
from apiserver.http.gate import Send
from apiserver.install import InstallError
from apiserver.pages.openid import add_openid_paths
from apiserver.process.certificates import CertificateError
from apiserver.process.data_folder import (
    ADMIN,
    DataDir,
    DataDirError,
    read_admin_token,
    renew_serving,
    token_keys,
    trusted_by_clients,
)
from apiserver.process.loading import GroupError, load_group
from apiserver.storage.backends import open_backend
from apiserver.storage.interface import StorageError

log = logging.getLogger(__name__)

RENEWAL_INTERVAL: Final = 3600.0
"""Seconds between two looks at the serving certificate."""
MISTAKES: Final = (
    *(
        ServerConfigError,
        DataDirError,
        GroupError,
        InstallError,
        InvalidSigningKey,
        InvalidTokenFile,
    ),
    *(CertificateError, StorageError, APIError),
)
"""What keeps a server from starting and can be told in a line."""


class Server:
    """An ASGI application that is made when its lifespan starts."""

    def __init__(self, config: Callable[[], ServerConfig]) -> None:
        self._config = config
        self._app: App | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
        else:
            assert self._app is not None, "the lifespan has not started"
            await self._app(scope, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        try:
            self._app = application(self._config())
            await self._app.start()
        except MISTAKES as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        if "state" in scope:
            scope["state"][DRAIN] = self._app.drain
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._app.stop()
        await send({"type": "lifespan.shutdown.complete"})


app: Final = Server(lambda: load_config(os.environ))


def application(config: ServerConfig) -> App:
    """The application of a configuration, not yet started."""
    tokens, keys = token_authenticators(config), token_keys(config)
    made = assemble(
        [load_group(reference) for reference in config.groups],
        partial(open_backend, config.storage_url),
        access=Access(config.authorization_mode),
        tokens=tokens,
        keys=keys,
        issuers=config.service_account_issuer,
        audiences=config.audiences,
        anonymous=config.allows_anonymous,
        port=config.bind.port,
        standing=_standing(config),
        elect=lambda client: election_for(config.storage_url, client, config.data_dir),
        hooks=[partial(_renewing, config)],
    )
    issuer = config.service_account_issuer[0]
    if not add_openid_paths(
        made.router, keys.keys.values(), issuer=issuer, server_url=config.server_url
    ):
        log.warning("issuer %r is no https URL: the OpenID documents are not served", issuer)
    return made


def token_authenticators(config: ServerConfig) -> list[Authenticator]:
    """Those that know bearer tokens: the admin's, users', and the file's if there is one."""
    admin = read_admin_token(DataDir(config.data_dir))
    found: list[Authenticator] = [
        TokenAuthenticator({admin: User(ADMIN, groups=(MASTERS,))}),
        SignedTokenAuthenticator(signing_key(admin)),
    ]
    if config.token_auth_file is not None:
        found.append(TokenFileAuthenticator(config.token_auth_file))
    return found


def _standing(config: ServerConfig) -> list[NamespaceDefault]:
    """What every namespace has."""
    certificates = trusted_by_clients(config)
    known = [root_ca(certificates.decode("ascii", "replace"))] if certificates else []
    return [default_account(), *known]


@asynccontextmanager
async def _renewing(config: ServerConfig, app: App) -> AsyncIterator[None]:
    """Keep the certificate fresh that was made for this server; a given one is its owner's."""
    if config.insecure_http or config.tls_cert_file is not None:
        yield
        return
    async with asyncio.TaskGroup() as tasks:
        renewal = tasks.create_task(_renew(config), name="certificate renewal")
        yield
        renewal.cancel()


async def _renew(config: ServerConfig) -> None:
    while True:
        await asyncio.sleep(RENEWAL_INTERVAL)
        try:
            await asyncio.to_thread(renew_serving, config, now=datetime.now(UTC))
        except DataDirError as error:
            log.error("the serving certificate could not be renewed: %s", error)
