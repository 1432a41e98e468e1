"""A whole application on an in-memory store, and a client for it."""

from collections.abc import AsyncIterator

import pytest

from apis.core.install import CORE
from apis.gadgets.install import GADGETS
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.authorization import Authorizer
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.user import MASTERS, User
from apiserver.group import Group
from apiserver.http.request_limits import Limits
from apiserver.storage.backends import open_backend
from apiserver.storage.cache.cache_limits import CacheLimits
from tests.apiserver.http.driver import Driver
from tests.roles import standard_authorizer

USERS = {"root": User("root", groups=(MASTERS,)), "alice": User("alice")}


def make_app(
    *groups: Group,
    limits: Limits | None = None,
    wait: float = 0.3,
    authorizer: Authorizer | None = None,
    storage: str = "sqlite://:memory:",
) -> App:
    return App(
        groups or (CORE, GADGETS),
        lambda: open_backend(storage),
        authentication=Authentication([TokenAuthenticator(USERS)]),
        authorizer=authorizer or standard_authorizer(),
        cache_limits=CacheLimits(wait=wait),
        limits=limits,
    )


@pytest.fixture
async def app() -> AsyncIterator[App]:
    made = make_app()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
def client(app: App) -> Driver:
    return Driver(app, authorization="Bearer root")
