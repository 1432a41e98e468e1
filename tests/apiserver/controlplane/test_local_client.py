"""The client of the server's own controllers: always served, never counted, known to nobody."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from apimachinery.errors import TooManyRequests, Unauthorized
from apimachinery.meta.types import ObjectMeta
from apis.core.v1 import Namespace
from apiserver.app import App
from apiserver.auth.authorization import AlwaysAllow
from apiserver.controlplane.local_client import local_client
from apiserver.http.request_limits import Limits
from client.client import AsyncClient
from client.interface import ResourceClient
from tests.apis.controlled import client_of
from tests.apiserver.http.conftest import make_app


@pytest.fixture
async def app() -> AsyncIterator[App]:
    app = make_app(limits=Limits(reads=0, writes=0), authorizer=AlwaysAllow())
    await app.start()
    yield app
    await app.stop()


@pytest.fixture
async def client(app: App) -> AsyncIterator[AsyncClient]:
    async with local_client(app) as client:
        yield client


def namespaces(client: AsyncClient) -> ResourceClient[Namespace]:
    return client.of(Namespace, resource="namespaces", namespaced=False, api_version="v1")


async def test_limits_do_not_hold_for_it(app: App, client: AsyncClient) -> None:
    created = await create(client, "shop")

    assert [entry.manager for entry in created.metadata.managed_fields] == ["apiserver"]
    async with client_of(app, "alice") as other:
        with pytest.raises(TooManyRequests):
            await other.of(Namespace).get("shop")


async def test_its_token_is_good_at_its_own_entrance_only(app: App, client: AsyncClient) -> None:
    async with client_of(app, app.local.token) as other:
        with pytest.raises((Unauthorized, TooManyRequests)):
            await other.of(Namespace).get("shop")


async def test_every_process_has_a_token_of_its_own() -> None:
    assert make_app().local.token != make_app().local.token


def of_requests(metrics: bytes) -> list[bytes]:
    """The metrics but for those of the cache, which serves the local client like all others."""
    return [line for line in metrics.splitlines() if b"apiserver_watch_cache_" not in line]


async def test_it_appears_neither_in_the_log_nor_in_the_metrics(
    app: App, client: AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="apiserver.request")
    before = of_requests(app.metrics.render())

    await create(client, "shop")
    async with namespaces(client).watch() as watch:
        assert (await anext(watch)).object.metadata.name == "shop"

    assert of_requests(app.metrics.render()) == before
    assert not [record for record in caplog.records if record.name == "apiserver.request"]


async def test_streams_of_others_end_before_its_own(app: App, client: AsyncClient) -> None:
    """Controllers are stopped first: a drain does not look like a failure to them."""
    stopped: list[str] = []
    app.before_drain(lambda: stopped.append("controllers"))
    async with namespaces(client).watch() as watch:
        event = asyncio.ensure_future(anext(watch))
        await asyncio.sleep(0.01)

        app.drain()
        await create(client, "shop")

        assert (await event).object.metadata.name == "shop"
    assert stopped == ["controllers"]


async def create(client: AsyncClient, name: str) -> Namespace:
    return await namespaces(client).create(Namespace(metadata=ObjectMeta(name=name)))
