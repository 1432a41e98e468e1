"""What every namespace has is there, comes back, and does not keep a namespace from going."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from apimachinery.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound
from apimachinery.meta.types import Object, ObjectMeta
from apimachinery.schema import GroupKind, GroupResource
from apis.core.controllers.standing import (
    ACCOUNT,
    ROOT_CA,
    StandingController,
    default_account,
    root_ca,
)
from apis.core.v1 import ConfigMap, Namespace
from apiserver.app import App
from apiserver.asgi import application
from apiserver.config import ServerConfig
from apiserver.controlplane.local_objects import Objects
from apiserver.process.data_folder import DataDir, prepare, read_admin_token
from tests.apiserver.http.driver import Driver

NAMESPACES = "/api/v1/namespaces"
SHOP = f"{NAMESPACES}/shop"
CONFIG = f"{SHOP}/configmaps/{ROOT_CA}"
ACCOUNTS = GroupResource("", "serviceaccounts")
CONFIG_MAPS = GroupResource("", "configmaps")


@asynccontextmanager
async def running(config: ServerConfig) -> AsyncIterator[Driver]:
    folder = prepare(config, now=datetime.now(UTC))
    app = application(config)
    await app.start()
    yield Driver(app, authorization=f"Bearer {read_admin_token(folder)}")
    await app.stop()


@pytest.fixture
def config(tmp_path: Path) -> ServerConfig:
    return ServerConfig(data_dir=tmp_path / "data", storage="sqlite://:memory:")


@pytest.fixture
async def admin(config: ServerConfig) -> AsyncIterator[Driver]:
    async with running(config) as driver:
        await driver.send("POST", NAMESPACES, json={"metadata": {"name": "shop"}})
        yield driver


async def until(
    app: App, resource: GroupResource, namespace: str, right: Callable[[Any], bool]
) -> Any:
    """The object of a standing name in a namespace, once it is as it should be."""
    name = ACCOUNT if resource == ACCOUNTS else ROOT_CA
    objects = Objects(app.groups)
    async with asyncio.timeout(10), objects.watch(resource, name=name) as seen:
        async for metadata in seen:
            if metadata.namespace != namespace:
                continue
            found = await objects.find(resource, name, namespace=namespace)
            if found is not None and right(found):
                return found
    raise AssertionError("the watch ended")


def there(_: object) -> bool:
    return True


@pytest.mark.parametrize("namespace", ["default", "kube-system", "shop"])
async def test_every_namespace_has_an_account_and_the_certificates(
    admin: Driver, config: ServerConfig, namespace: str
) -> None:
    account = await until(admin.app, ACCOUNTS, namespace, there)
    certificates = await until(admin.app, CONFIG_MAPS, namespace, there)

    assert account.metadata.name == "default"
    assert certificates.data == {"ca.crt": DataDir(config.data_dir).ca_certificate.read_text()}


@pytest.mark.parametrize("resource", [ACCOUNTS, CONFIG_MAPS])
async def test_what_is_deleted_comes_back(admin: Driver, resource: GroupResource) -> None:
    first = await until(admin.app, resource, "shop", there)
    await admin.send("DELETE", f"{SHOP}/{resource}/{first.metadata.name}")

    again = await until(
        admin.app, resource, "shop", lambda found: found.metadata.uid != first.metadata.uid
    )

    assert again.metadata.deletion_timestamp is None


async def test_changed_certificates_are_set_right(admin: Driver) -> None:
    first = await until(admin.app, CONFIG_MAPS, "shop", there)
    merge = {"content-type": "application/merge-patch+json"}
    changed = {"data": {"ca.crt": "x", "y": "z"}, "metadata": {"labels": {"a": "b"}}}
    await admin.send("PATCH", CONFIG, json=changed, headers=merge)

    again = await until(admin.app, CONFIG_MAPS, "shop", lambda found: found.data == first.data)

    assert again.metadata.labels == {"a": "b"}
    assert again.metadata.uid == first.metadata.uid


async def test_a_namespace_that_is_deleted_goes(admin: Driver) -> None:
    for resource in (ACCOUNTS, CONFIG_MAPS):
        await until(admin.app, resource, "shop", there)
    namespaces = Objects(admin.app.groups)

    async with asyncio.timeout(10), namespaces.watch(GroupResource("", "namespaces")) as seen:
        await admin.send("DELETE", SHOP)
        async for metadata in seen:
            gone = (await admin.send("GET", SHOP)).code == 404
            if metadata.name == "shop" and gone:
                break

    for resource in (ACCOUNTS, CONFIG_MAPS):
        assert (await admin.send("GET", f"{SHOP}/{resource}")).json["items"] == []


async def test_several_workers_make_one_of_each(config: ServerConfig, tmp_path: Path) -> None:
    shared = replace(config, storage=f"sqlite:///{tmp_path}/store")
    async with running(shared) as one, running(shared) as other:
        await one.send("POST", NAMESPACES, json={"metadata": {"name": "shop"}})

        found = [await until(each.app, ACCOUNTS, "shop", there) for each in (one, other)]

    assert found[0].metadata.uid == found[1].metadata.uid


async def test_without_tls_there_are_no_certificates(config: ServerConfig) -> None:
    async with running(replace(config, insecure_http=True)) as plain:
        await until(plain.app, ACCOUNTS, "default", there)

        found = await plain.send("GET", f"{NAMESPACES}/default/configmaps")

    assert found.json["items"] == []


class Refusing:
    """Objects whose every write ends in one way."""

    def __init__(self, error: Exception, found: Object | None = None) -> None:
        self.error = error
        self.found = found

    async def find(
        self, resource: GroupResource, name: str, *, namespace: str = "", newest: bool = False
    ) -> Any:
        return Namespace() if resource.resource == "namespaces" else self.found

    async def create(self, resource: GroupResource, obj: Object) -> Any:
        raise self.error

    async def delete(self, resource: GroupResource, name: str, *, namespace: str, uid: str) -> None:
        raise self.error

    async def change(
        self, resource: GroupResource, name: str, edit: Callable[[Any], Any], *, namespace: str
    ) -> None:
        raise self.error

    def watch(self, resource: GroupResource, *, name: str = "") -> Any:
        raise AssertionError("nothing is followed here")


@pytest.mark.parametrize(
    ("error", "done"),
    [
        (AlreadyExists.of(ACCOUNTS, ACCOUNT), False),
        (Conflict.of(ACCOUNTS, ACCOUNT, "why"), False),
        (NotFound.of(GroupResource("", "namespaces"), "shop"), True),
        (Forbidden.of(ACCOUNTS, ACCOUNT, "being terminated"), True),
    ],
)
async def test_a_refused_write_is_tried_again_only_if_that_can_help(
    error: Exception, done: bool
) -> None:
    controller = StandingController(Refusing(error), [default_account()])

    assert await controller.sync("shop") is done


async def test_certificates_that_cannot_be_changed_are_left_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    immutable = ConfigMap(metadata=ObjectMeta(name=ROOT_CA), data={}, immutable=True)
    error = Invalid.of(GroupKind("", "ConfigMap"), ROOT_CA, [])
    controller = StandingController(Refusing(error, immutable), [root_ca("x")])

    assert await controller.sync("shop")
    assert "namespace shop: left as it is" in caplog.text


class Insisting(Refusing):
    """Objects that somebody else changes back after every change."""

    changes = 0

    async def change(
        self, resource: GroupResource, name: str, edit: Callable[[Any], Any], *, namespace: str
    ) -> None:
        self.changes += 1


async def test_servers_that_disagree_do_not_fight_at_full_speed() -> None:
    theirs = ConfigMap(metadata=ObjectMeta(name=ROOT_CA), data={"ca.crt": "theirs"})
    objects = Insisting(AssertionError(), theirs)
    times = iter((0.0, 1.0, 59.0, 61.0))
    controller = StandingController(objects, [root_ca("ours")], clock=lambda: next(times))

    done = [await controller.sync("shop") for _ in range(4)]

    assert done == [True, False, False, True]
    assert objects.changes == 2


class Late(Refusing):
    """A namespace of which this worker has not heard all."""

    def __init__(self, *, cached: Namespace | None, newest: Namespace | None) -> None:
        super().__init__(AssertionError())
        self.namespaces = cached, newest
        self.made: Object | None = None

    async def find(
        self, resource: GroupResource, name: str, *, namespace: str = "", newest: bool = False
    ) -> Any:
        return self.namespaces[newest] if resource.resource == "namespaces" else self.made

    async def create(self, resource: GroupResource, obj: Object) -> Any:
        obj.metadata.uid = "u1"
        self.made = obj
        return obj

    async def delete(self, resource: GroupResource, name: str, *, namespace: str, uid: str) -> None:
        assert (name, namespace, uid) == (ACCOUNT, "shop", "u1")
        self.made = None


GOING = Namespace(metadata=ObjectMeta(name="shop", deletion_timestamp=datetime.now(UTC)))


@pytest.mark.parametrize("newest", [None, GOING])
async def test_what_came_too_late_for_a_namespace_is_taken_back(newest: Namespace | None) -> None:
    """Another worker may have emptied it before this one hears that it is going."""
    objects = Late(cached=Namespace(), newest=newest)

    assert await StandingController(objects, [default_account()]).sync("shop")
    assert objects.made is None


async def test_what_an_ended_worker_could_not_take_back_is_removed() -> None:
    objects = Late(cached=None, newest=None)
    objects.made = default_account().make()
    objects.made.metadata.namespace, objects.made.metadata.uid = "shop", "u1"

    assert await StandingController(objects, [default_account()]).sync("shop")
    assert objects.made is None


async def test_a_namespace_too_new_for_the_cache_keeps_what_it_has() -> None:
    objects = Late(cached=None, newest=Namespace())
    objects.made = default_account().make()

    assert await StandingController(objects, [default_account()]).sync("shop")
    assert objects.made is not None
