"""Servers that run no controllers, and clients of them, to test one controller at a time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from apis.apiextensions.install import APIEXTENSIONS
from apis.coordination.install import COORDINATION
from apis.core.install import CORE
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.user import MASTERS, User
from apiserver.controlplane.standard_server import namespace_admission
from apiserver.group import Group
from apiserver.storage.sqlite.backend import open_sqlite
from client.auth.auth_info import AuthInfo
from client.client import AsyncClient
from client.config import Config
from client.transport.in_process import ASGITransport
from tests.roles import standard_authorizer

TOKEN = "root"


def client_of(app: App, token: str = TOKEN) -> AsyncClient:
    """A client of an application that has started."""
    config = Config("https://apiserver", auth=AuthInfo(token=token), user_agent="tests")
    return AsyncClient(config, scheme=app.groups.scheme, transport=ASGITransport(app))


def bare_app(*groups: Group) -> App:
    """An application with these groups, and neither controllers nor bootstrap objects."""

    return App(
        groups or (CORE, COORDINATION, APIEXTENSIONS),
        lambda: open_sqlite("sqlite://:memory:"),
        authentication=Authentication(
            [TokenAuthenticator({TOKEN: User("root", groups=(MASTERS,))})]
        ),
        authorizer=standard_authorizer(),
        admission=namespace_admission,
    )


@asynccontextmanager
async def server_without_controllers(*groups: Group) -> AsyncIterator[AsyncClient]:
    app = bare_app(*groups)
    await app.start()
    async with client_of(app) as client:
        yield client
    await app.stop()
