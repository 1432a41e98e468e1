"""Changes of the storage version, and migrations to it, as kube-controller-manager reports them."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
import pytest

from apimachinery.schema import GroupResource
from apis.storagemigration.install import STORAGEMIGRATION
from apiserver.storage.cache.entry import EntrySelection
from client.testing.app_server import InMemoryServer
from tests.apiserver.extensions.conversion_hook import (
    V1,
    V2,
    Document,
    conversion,
    convert,
    versions,
    widget,
)
from tests.apiserver.extensions.definitions import DEFINITIONS, Defined
from tests.apiserver.http.driver import Driver
from tests.webhook_server import WebhookServer, webhook_server

MIGRATIONS = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"
URL = f"{DEFINITIONS}/widgets.example.io"
NAMES = ("door", "lamp", "wall")


@pytest.fixture
async def running() -> AsyncIterator[InMemoryServer]:
    server = InMemoryServer((STORAGEMIGRATION,))
    await server.app.start()
    yield server
    await server.app.stop()


@pytest.fixture
async def hook() -> AsyncIterator[WebhookServer]:
    async with webhook_server(convert) as server:
        yield server


def migration(name: str = "to-v2", resource: str = "widgets") -> Document:
    return {
        "apiVersion": "storagemigration.k8s.io/v1",
        "kind": "StorageVersionMigration",
        "metadata": {"name": name},
        "spec": {"resource": {"group": "example.io", "resource": resource}},
    }


def conditions(obj: Document) -> dict[str, tuple[str, str, str]]:
    return {
        each["type"]: (each["status"], each["reason"], each["message"])
        for each in obj.get("status", {}).get("conditions") or ()
    }


async def until(client: Driver, name: str, done: Callable[[Document], bool]) -> Document:
    """The migration as soon as *done* is true for its conditions."""
    url = f"{MIGRATIONS}?watch=1&fieldSelector=metadata.name={name}"
    async with client.stream(url) as stream:
        while True:
            obj: Document = (await stream.event())["object"]
            if done(conditions(obj)):
                return obj


def has_ended(found: Document) -> bool:
    return bool(found.get("Running", ("",))[0] == "False")


async def stored_versions(server: InMemoryServer) -> list[str]:
    store = server.app.groups.store(GroupResource("example.io", "widgets"))
    page = await store.cached.list(EntrySelection())
    return [orjson.loads(e.record.value)["apiVersion"].rpartition("/")[2] for e in page.entries]


async def change_storage(client: Driver, defined: Defined, **fields: Any) -> Document:
    """Have objects stored in v1, and then the definition store them in v2."""
    await defined(*versions(), **fields)
    for name in NAMES:
        assert (await client.post(V1, widget(name))).code == 201
    return await defined.change("widgets.example.io", *versions("v2"))


async def test_a_version_that_was_stored_stays_until_it_is_not_listed(
    client: Driver, defined: Defined
) -> None:
    changed = await change_storage(client, defined)
    assert changed["status"]["storedVersions"] == ["v1", "v2"]
    only_v2 = {"spec": {"versions": versions("v2")[1:]}}

    refused = await client.patch(URL, only_v2)

    assert refused.code == 422
    (cause,) = refused.json["details"]["causes"]
    assert cause["field"] == "status.storedVersions[0]"
    assert cause["message"] == (
        'Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and'
        " must remain in spec.versions until a storage migration ensures no data remains persisted"
        " in v1 and removes v1 from status.storedVersions"
    )
    shortened = await client.patch(f"{URL}/status", {"status": {"storedVersions": ["v2"]}})
    assert shortened.json["status"]["storedVersions"] == ["v2"]
    assert (await client.patch(URL, only_v2)).code == 200


@pytest.mark.parametrize("strategy", ["None", "Webhook"])
async def test_objects_stay_readable_in_every_version(
    hook: WebhookServer,
    client: Driver,
    defined: Defined,
    running: InMemoryServer,
    strategy: str,
) -> None:
    fields = {"conversion": conversion(hook)} if strategy == "Webhook" else {}
    await change_storage(client, defined, **fields)

    one, two = await client.get(f"{V1}/lamp"), await client.get(f"{V2}/lamp")

    assert one.json["spec"] == {"color": "red"}
    assert two.json["spec"] == ({"colour": "red"} if fields else {})
    assert await stored_versions(running) == ["v1", "v1", "v1"]


async def test_a_migration_stores_every_object_again(
    hook: WebhookServer, client: Driver, defined: Defined, running: InMemoryServer
) -> None:
    await change_storage(client, defined, conversion=conversion(hook))
    before = (await client.get(f"{V1}/lamp")).json

    assert (await client.post(MIGRATIONS, migration())).code == 201
    ended = await until(client, "to-v2", has_ended)

    assert conditions(ended) == {
        "Running": ("False", "MigrationCompleted", "Migration completed"),
        "Succeeded": ("True", "StorageVersionMigrationSucceeded", "Migration completed"),
    }
    assert int(ended["status"]["resourceVersion"]) > 0
    assert await stored_versions(running) == ["v2", "v2", "v2"]
    after = (await client.get(f"{V1}/lamp")).json
    assert after["spec"] == before["spec"]
    assert after["metadata"]["generation"] == before["metadata"]["generation"]
    definition = (await client.get(URL)).json
    assert definition["status"]["storedVersions"] == ["v2"]
    assert conditions(definition)["StorageMigrating"] == (
        "False",
        "MigrationSucceeded",
        "The migration has succeeded and the stored versions have been updated",
    )


async def test_migrations_of_a_resource_run_one_after_the_other(
    client: Driver, defined: Defined, running: InMemoryServer
) -> None:
    await change_storage(client, defined)

    for name in ("first", "second"):
        await client.post(MIGRATIONS, migration(name))
    ended = [await until(client, name, has_ended) for name in ("first", "second")]

    assert [conditions(each)["Succeeded"][0] for each in ended] == ["True", "True"]
    starts = [int(each["status"]["resourceVersion"]) for each in ended]
    assert starts[0] < starts[1]


async def test_a_migration_waits_for_a_webhook_that_fails(
    hook: WebhookServer, client: Driver, defined: Defined
) -> None:
    await change_storage(client, defined, conversion=conversion(hook))

    def refuse(answer: Document) -> None:
        answer["response"]["result"] = {"status": "Failure", "message": "not today"}

    hook.answer = lambda received: convert(received, refuse)
    await client.post(MIGRATIONS, migration())

    def is_waiting(found: Document) -> bool:
        return "transient error" in found.get("Running", ("", "", ""))[2]

    waiting = await until(client, "to-v2", is_waiting)
    hook.answer = convert
    ended = await until(client, "to-v2", has_ended)

    status, reason, message = conditions(waiting)["Running"]
    assert (status, reason) == ("True", "MigrationRunning")
    assert message.startswith("The migration is running; transient error: failed to read one or")
    assert message.endswith("Kind=WidgetList failed: not today (and 2 more)")
    assert conditions(ended)["Succeeded"][0] == "True"


async def test_a_migration_fails_with_an_object_that_cannot_be_stored(
    hook: WebhookServer, client: Driver, defined: Defined, running: InMemoryServer
) -> None:
    """Objects are read in their version, and the webhook refuses to convert them to the new one."""
    await defined(*versions(), conversion=conversion(hook))
    assert (await client.post(V1, widget())).code == 201
    # Only v1 is served, so nothing is converted before it is stored.
    one, two = versions("v2")
    await defined.change("widgets.example.io", one, {**two, "served": False})

    def refuse(answer: Document) -> None:
        answer["response"]["result"] = {"status": "Failure", "message": "not today"}

    hook.answer = lambda received: convert(received, refuse)
    await client.post(MIGRATIONS, migration())
    ended = await until(client, "to-v2", has_ended)

    assert conditions(ended)["Failed"] == (
        "True",
        "StorageVersionMigrationFailed",
        "1/1 not yet migrated. migration encountered unhandled error: conversion webhook for"
        " example.io/v1, Kind=Widget failed: not today",
    )
    definition = (await client.get(URL)).json
    assert definition["status"]["storedVersions"] == ["v1", "v2"]
    assert conditions(definition)["StorageMigrating"] == (
        "False",
        "MigrationFailed",
        "The migration has failed",
    )
    assert await stored_versions(running) == ["v1"]
