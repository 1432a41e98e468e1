"""What every namespace has is there, comes back, and does not keep a namespace from going."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from apimachinery.errors import AlreadyExists, APIError, Conflict, Forbidden, Invalid, NotFound
from apimachinery.meta.types import ObjectMeta
from apimachinery.schema import GroupKind, GroupResource
from apis.core.controllers.namespace_defaults import (
    ACCOUNT,
    ROOT_CA,
    NamespaceDefaultsController,
    default_account,
    root_ca,
)
from apis.core.v1 import ConfigMap, Namespace, ServiceAccount
from apiserver import create_app
from apiserver.config import ServerConfig
from apiserver.process.data_dir import DataDir
from apiserver.process.data_folder import prepare, read_admin_token
from client.client import AsyncClient
from client.interface import ResourceClient
from tests.apis.controlled import client_of, controlled_server

CHANGED = {"data": {"ca.crt": "x", "y": "z"}, "metadata": {"labels": {"a": "b"}}}


@asynccontextmanager
async def running(config: ServerConfig) -> AsyncIterator[AsyncClient]:
    folder = prepare(config, now=datetime.now(UTC))
    app = create_app(config)
    await app.start()
    async with client_of(app, read_admin_token(folder)) as client:
        yield client
    await app.stop()


@pytest.fixture
def config(tmp_path: Path) -> ServerConfig:
    return ServerConfig(data_dir=tmp_path / "data", storage="sqlite://:memory:")


@pytest.fixture
async def admin(config: ServerConfig) -> AsyncIterator[AsyncClient]:
    async with running(config) as client:
        await client.of(Namespace).create(Namespace(metadata=ObjectMeta(name="shop")))
        yield client


def account(client: AsyncClient, namespace: str) -> ResourceClient[ServiceAccount]:
    return client.of(ServiceAccount, namespace=namespace)


def certificates(client: AsyncClient, namespace: str) -> ResourceClient[ConfigMap]:
    return client.of(ConfigMap, namespace=namespace)


def there(_: object) -> bool:
    return True


DEFAULTS = pytest.mark.parametrize(
    ("find", "name"), [(account, ACCOUNT), (certificates, ROOT_CA)], ids=["account", "certificates"]
)
Find = Callable[[AsyncClient, str], ResourceClient[Any]]


@pytest.mark.parametrize("namespace", ["default", "kube-system", "shop"])
async def test_every_namespace_has_an_account_and_the_certificates(
    admin: AsyncClient, config: ServerConfig, namespace: str
) -> None:
    await account(admin, namespace).wait(ACCOUNT, there)
    found = await certificates(admin, namespace).wait(ROOT_CA, there)

    assert found.data == {"ca.crt": DataDir(config.data_dir).ca_certificate.read_text()}
    assert [entry.manager for entry in found.metadata.managed_fields] == ["apiserver"]


@DEFAULTS
async def test_what_is_deleted_comes_back(admin: AsyncClient, find: Find, name: str) -> None:
    first = await find(admin, "shop").wait(name, there)

    await find(admin, "shop").delete(name)

    async with asyncio.timeout(10):
        while (again := await found(find(admin, "shop"), name)) is None:
            await asyncio.sleep(0.01)
    assert again.metadata.uid != first.metadata.uid
    assert again.metadata.deletion_timestamp is None


async def found(objects: ResourceClient[Any], name: str) -> Any:
    try:
        return await objects.get(name)
    except NotFound:
        return None


async def test_changed_certificates_are_set_right(admin: AsyncClient) -> None:
    first = await certificates(admin, "shop").wait(ROOT_CA, there)
    await certificates(admin, "shop").patch(ROOT_CA, CHANGED)

    again = await certificates(admin, "shop").wait(ROOT_CA, lambda found: found.data == first.data)

    assert again.metadata.labels == {"a": "b"}
    assert again.metadata.uid == first.metadata.uid


async def test_a_namespace_that_is_deleted_goes(admin: AsyncClient) -> None:
    await account(admin, "shop").wait(ACCOUNT, there)
    await certificates(admin, "shop").wait(ROOT_CA, there)

    await admin.of(Namespace).delete("shop")
    await admin.of(Namespace).wait_deleted("shop", timeout=10)

    for find in (account, certificates):
        assert (await find(admin, "shop").list().all()).items == []


async def test_several_workers_make_one_of_each(config: ServerConfig, tmp_path: Path) -> None:
    shared = replace(config, storage=f"sqlite:///{tmp_path}/store")
    async with running(shared) as one, running(shared) as other:
        await one.of(Namespace).create(Namespace(metadata=ObjectMeta(name="shop")))

        accounts = [await account(each, "shop").wait(ACCOUNT, there) for each in (one, other)]

    assert accounts[0].metadata.uid == accounts[1].metadata.uid


async def test_without_tls_there_are_no_certificates(config: ServerConfig) -> None:
    async with running(replace(config, insecure_http=True)) as plain:
        await account(plain, "default").wait(ACCOUNT, there)

        assert (await certificates(plain, "default").list().all()).items == []


# One step of the controller, with a client that answers as told


class Answering:
    """A client of one namespace: every write ends in *error*, reads find *found*."""

    def __init__(
        self,
        error: APIError | None = None,
        found: Any = None,
        *,
        namespaces: tuple[Namespace | None, ...] = (Namespace(),),
    ) -> None:
        self.error = error
        self.found = found
        self.namespaces = [*namespaces]
        self.updates = 0

    def of(self, cls: type, **_: Any) -> Any:
        return _Namespaces(self) if cls is Namespace else self

    async def get(self, name: str) -> Any:
        if self.found is None:
            raise NotFound.of(GroupResource("", "things"), name)
        return self.found.deep_copy()

    async def create(self, obj: Any) -> Any:
        self._fail()
        obj.metadata.uid = "u1"
        self.found = obj
        return obj

    async def update(self, obj: Any) -> Any:
        self._fail()
        self.updates += 1
        return obj

    async def delete(self, name: str, *, uid: str) -> None:
        self._fail()
        assert (name, uid) == (ACCOUNT, "u1")
        self.found = None

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error


class _Namespaces:
    def __init__(self, client: Answering) -> None:
        self.client = client
        self.metadata = self

    async def get(self, name: str) -> Namespace:
        found = self.client.namespaces[0]
        if found is None:
            raise NotFound.of(GroupResource("", "namespaces"), name)
        return found


def controller(client: Any, *defaults: Any) -> NamespaceDefaultsController:
    return NamespaceDefaultsController(client, defaults or [default_account()])


ACCOUNTS = GroupResource("", "serviceaccounts")


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
    error: APIError, done: bool
) -> None:
    assert await controller(Answering(error)).sync("shop") is done


async def test_certificates_that_cannot_be_changed_are_left_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    immutable = ConfigMap(metadata=ObjectMeta(name=ROOT_CA), data={}, immutable=True)
    error = Invalid.of(GroupKind("", "ConfigMap"), ROOT_CA, [])

    assert await controller(Answering(error, immutable), root_ca("x")).sync("shop")
    assert "namespace shop: kube-root-ca.crt is left as it is" in caplog.text


async def test_servers_that_disagree_do_not_fight_at_full_speed() -> None:
    theirs = ConfigMap(metadata=ObjectMeta(name=ROOT_CA), data={"ca.crt": "theirs"})
    client = Answering(found=theirs)
    repairing = controller(client, root_ca("ours"))

    done = [await repairing.sync("shop", now=now) for now in (0.0, 1.0, 59.0, 61.0)]

    assert done == [True, False, False, True]
    assert client.updates == 2


GOING = Namespace(metadata=ObjectMeta(name="shop", deletion_timestamp=datetime.now(UTC)))


@pytest.mark.parametrize("newest", [None, GOING])
async def test_what_came_too_late_for_a_namespace_is_taken_back(newest: Namespace | None) -> None:
    """The worker that admits a create may not know yet that the namespace terminates."""
    client = Answering(namespaces=(newest,))

    assert await controller(client).sync("shop")
    assert client.found is None


async def test_what_an_ended_leader_could_not_take_back_is_removed() -> None:
    late = ServiceAccount(metadata=ObjectMeta(name=ACCOUNT, namespace="shop", uid="u1"))
    client = Answering(found=late, namespaces=(None,))

    assert await controller(client).sync("shop")
    assert client.found is None


async def test_a_step_works_against_a_real_server() -> None:
    async with controlled_server() as server:
        client = server.client
        await client.of(Namespace).create(Namespace(metadata=ObjectMeta(name="shop")))
        ensuring = controller(client, default_account(), root_ca("ours"))

        assert await ensuring.sync("shop")
        assert await ensuring.sync("nowhere")

        assert (await certificates(client, "shop").get(ROOT_CA)).data == {"ca.crt": "ours"}
        assert await found(account(client, "nowhere"), ACCOUNT) is None
