"""Servers that run no controllers, and clients of them, to test one controller at a time."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

from apimachinery.meta.types import Object
from apimachinery.resources import guess_plural
from apimachinery.schema import GroupResource
from apis.apiextensions.install import APIEXTENSIONS
from apis.coordination.install import COORDINATION
from apis.core.install import CORE
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.user import MASTERS, User
from apiserver.controlplane.role_access import RoleAccess
from apiserver.controlplane.served_resources import ServedResources
from apiserver.controlplane.stored_contents import StoredContents
from apiserver.group import Group
from apiserver.storage.sqlite.backend import open_sqlite
from client.auth.auth_info import AuthInfo
from client.client import AsyncClient
from client.config import Config
from client.controller.manager import Manager
from client.runtime.clock import SystemClock
from client.testing.faults import Faults
from client.testing.faulty_transport import FaultyTransport
from client.transport.in_process import ASGITransport
from tests.admitting import namespace_admission
from tests.roles import standard_authorizer

TOKEN = "root"


class AddsToManager(Protocol):
    def add_to(self, manager: Manager) -> None: ...


def client_of(app: App, token: str = TOKEN) -> AsyncClient:
    """A client of an application that has started."""
    return AsyncClient(_config(token), scheme=app.groups.scheme, transport=ASGITransport(app))


def bare_app(*groups: Group) -> App:
    """An application with these groups, and neither controllers nor bootstrap objects."""
    app = App(
        groups or (CORE, COORDINATION, APIEXTENSIONS, RoleAccess().group),
        lambda: open_sqlite("sqlite://:memory:"),
        authentication=Authentication(
            [TokenAuthenticator({TOKEN: User("root", groups=(MASTERS,))})]
        ),
        authorizer=standard_authorizer(),
        admission=namespace_admission(lambda resource: app.groups.store(resource)),
    )
    return app


class ControlledServer:
    """A server without controllers, a client for the test and one for controllers.

    What *faults* say goes wrong does so for controllers only.
    """

    def __init__(self, app: App) -> None:
        self.app = app
        self.client = client_of(app)
        self.resources = ServedResources(app.groups)
        self.stored = StoredContents(app.groups)
        self.faults = Faults(self._resource_of)
        faulty = FaultyTransport(ASGITransport(app), self.faults, SystemClock())
        self.controllers_client = AsyncClient(
            _config(TOKEN), scheme=app.groups.scheme, transport=faulty
        )

    @asynccontextmanager
    async def running(self, *controllers: AddsToManager) -> AsyncIterator[None]:
        """Run each controller in a manager of its own, as if each were in another worker."""
        async with AsyncExitStack() as stack:
            for controller in controllers:
                manager = Manager(self.controllers_client, name="test", grace=1)
                controller.add_to(manager)
                await stack.enter_async_context(manager)
            yield

    def _resource_of(self, cls: type[Object]) -> GroupResource:
        kind = self.app.groups.scheme.kind_of(cls)
        return GroupResource(kind.group, guess_plural(kind.kind))


@asynccontextmanager
async def controlled_server(*groups: Group) -> AsyncIterator[ControlledServer]:
    app = bare_app(*groups)
    await app.start()
    server = ControlledServer(app)
    yield server
    await server.client.aclose()
    await server.controllers_client.aclose()
    await app.stop()


def _config(token: str) -> Config:
    return Config(
        "https://apiserver", auth=AuthInfo(token=token), user_agent="tests", max_retries=0
    )
