"""Objects that cannot be decoded, over HTTP: unsafe deletion, warnings and metrics."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from apimachinery.meta.options import DeleteOptions
from apimachinery.meta.types import ObjectMeta
from apimachinery.protobuf import ProtobufCodec
from apimachinery.schema import GroupResource
from apis.core.install import CORE
from apis.gadgets.install import GADGETS as GADGET_GROUP
from apis.rbac.policy import Policy
from apis.rbac.v1 import PolicyRule, Role, RoleBinding, RoleRef, Subject
from apiserver.app import App
from apiserver.auth.authentication import Authentication
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.user import MASTERS, User
from apiserver.controlplane.role_authorizer import RoleAuthorizer
from apiserver.registry.store import ResourceStore
from apiserver.storage.interface import Backend, Record
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import GADGETS, gadget

OPTION = "ignoreStoreReadErrorWithClusterBreakingPotential"
UNSAFE = {OPTION: True}
UNSAFE_VERB = "unsafe-delete-ignore-read-errors"
PREFIX = "/registry/gadgets.example.io/gadgets/default/"
OLD = f"{PREFIX}old"
EVERYWHERE = "/apis/gadgets.example.io/v1/gadgets"
USERS = {name: User(name) for name in ("alice", "bob")} | {"root": User("root", groups=(MASTERS,))}


def authorizer() -> RoleAuthorizer:
    """In the namespace default, alice may delete gadgets; bob may do so unsafely, too."""
    policy = Policy()
    for user, verbs in {"alice": ["delete"], "bob": ["delete", UNSAFE_VERB]}.items():
        meta = ObjectMeta(name=user, namespace="default")
        rule = PolicyRule(verbs=verbs, api_groups=["gadgets.example.io"], resources=["gadgets"])
        policy.put_role(Role(metadata=meta, rules=[rule]))
        reference = RoleRef(kind="Role", name=user, api_group="rbac.authorization.k8s.io")
        subject = Subject(kind="User", name=user, api_group="rbac.authorization.k8s.io")
        policy.put_binding(RoleBinding(metadata=meta, role_ref=reference, subjects=[subject]))
    return RoleAuthorizer(policy)


@pytest.fixture
async def backend() -> Backend:
    return await open_sqlite("sqlite://:memory:")


@pytest.fixture
async def app(backend: Backend) -> AsyncIterator[App]:
    async def opened() -> Backend:
        return backend

    made = App(
        (CORE, GADGET_GROUP),
        opened,
        authentication=Authentication([TokenAuthenticator(USERS)]),
        authorizer=authorizer(),
    )
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
def store(app: App) -> ResourceStore[Any]:
    return app.groups.store(GroupResource("gadgets.example.io", "gadgets"))


async def test_an_object_that_cannot_be_decoded_is_deleted(
    client: Driver, backend: Backend
) -> None:
    await backend.create(OLD, b"{garbage")

    answer = await client.delete(f"{GADGETS}/old", UNSAFE)
    again = await client.delete(f"{GADGETS}/old", UNSAFE)

    assert answer.code == 200
    assert answer.json == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "old", "kind": "Gadget"},
        "code": 200,
    }
    assert await backend.get(OLD) is None
    assert (again.code, again.json["reason"]) == (404, "NotFound")


async def test_the_option_may_be_a_query_parameter(client: Driver, backend: Backend) -> None:
    await backend.create(OLD, b"{garbage")

    answer = await client.delete(f"{GADGETS}/old?{OPTION}=true")

    assert answer.code == 200
    assert await backend.get(OLD) is None


async def test_the_option_may_be_protobuf(client: Driver, backend: Backend) -> None:
    await backend.create(OLD, b"{garbage")
    options = DeleteOptions(ignore_store_read_error_with_cluster_breaking_potential=True)
    body = ProtobufCodec().encode(options, api_version="v1", kind="DeleteOptions")

    answer = await client.send(
        "DELETE",
        f"{GADGETS}/old",
        body=body,
        headers={"content-type": "application/vnd.kubernetes.protobuf"},
    )

    assert answer.code == 200
    assert await backend.get(OLD) is None


async def test_without_the_option_it_stays(client: Driver, backend: Backend) -> None:
    await backend.create(OLD, b"{garbage")

    for options in (None, {OPTION: False}):
        answer = await client.delete(f"{GADGETS}/old", options)
        assert (answer.code, answer.json["reason"]) == (500, "StorageReadError")

    assert await backend.get(OLD) is not None


async def test_an_object_that_can_be_decoded_is_not_deleted(client: Driver) -> None:
    await client.post(GADGETS, gadget("lamp"))

    answer = await client.delete(f"{GADGETS}/lamp", UNSAFE)

    assert (answer.code, answer.json["reason"]) == (422, "Invalid")
    assert answer.json["message"] == (
        f'gadgets.gadgets.example.io "lamp" is invalid: {OPTION}: Invalid value: true:'
        " is exclusively used to delete corrupt object(s), try again by removing this option"
    )
    assert answer.json["details"] == {
        "name": "lamp",
        "group": "gadgets.example.io",
        "kind": "gadgets",
        "causes": [
            {
                "reason": "FieldValueInvalid",
                "message": "Invalid value: true: is exclusively used to delete corrupt object(s),"
                " try again by removing this option",
                "field": OPTION,
            }
        ],
    }
    assert (await client.get(f"{GADGETS}/lamp")).code == 200


async def test_unsafe_deletion_needs_its_own_verb(app: App, backend: Backend) -> None:
    await backend.create(OLD, b"{garbage")

    alice = await Driver(app, authorization="Bearer alice").delete(f"{GADGETS}/old", UNSAFE)
    kept = await backend.get(OLD)
    bob = await Driver(app, authorization="Bearer bob").delete(f"{GADGETS}/old", UNSAFE)

    assert (alice.code, alice.json["reason"]) == (403, "Forbidden")
    assert alice.json["message"] == (
        'gadgets.gadgets.example.io "old" is forbidden: not permitted to do'
        f' "{UNSAFE_VERB}", reason: '
    )
    assert kept is not None
    assert bob.code == 200
    assert await backend.get(OLD) is None


@pytest.mark.parametrize(
    ("other", "value"),
    [("dryRun", ["All"]), ("gracePeriodSeconds", 0), ("propagationPolicy", "Orphan")],
)
async def test_the_option_stands_alone(
    client: Driver, backend: Backend, other: str, value: Any
) -> None:
    await backend.create(OLD, b"{garbage")

    answer = await client.delete(f"{GADGETS}/old", {**UNSAFE, other: value})

    assert answer.code == 422
    assert answer.json["message"] == (
        f'DeleteOptions.meta.k8s.io "" is invalid: {OPTION}: Invalid value: true:'
        f" cannot be set together with .{other}"
    )
    assert await backend.get(OLD) is not None


async def test_collections_are_not_deleted_unsafely(client: Driver, backend: Backend) -> None:
    await backend.create(OLD, b"{garbage")

    answer = await client.delete(GADGETS, UNSAFE)

    assert answer.code == 422
    assert answer.json["message"] == (
        f'DeleteOptions.meta.k8s.io "" is invalid: {OPTION}: Invalid value: true:'
        " is not allowed with DELETECOLLECTION, try again after removing the option"
    )
    assert await backend.get(OLD) is not None


def warning(name: str, reason: str = "spec.size: bad") -> str:
    return (
        f'299 - "object \\"{name}\\" cannot be decoded completely: {reason};'
        f' if a plain delete fails, delete it with {OPTION}=true"'
    )


@pytest.fixture
async def old(client: Driver, store: ResourceStore[Any]) -> None:
    """Objects of which the view says that `old` cannot be decoded."""
    for name in ("old", "older", "young"):
        labels = {"app": name}
        assert (await client.post(GADGETS, gadget(name, labels=labels))).code == 201
    await client.get(GADGETS)
    store.view.problems.add(Record(OLD, b"", 1, 1), "spec.size: bad")


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize(
    "url",
    [
        f"{GADGETS}/old",
        GADGETS,
        EVERYWHERE,
        f"{GADGETS}?limit=1",
        f"{GADGETS}?labelSelector=app%3Dold",
        f"{GADGETS.replace('v1', 'v1beta1')}/old",
    ],
)
async def test_a_response_names_what_cannot_be_decoded(client: Driver, url: str) -> None:
    answer = await client.get(url)

    # An older version warns of itself first.
    assert (answer.code, answer.all("warning")[-1:]) == (200, [warning("default/old")])


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize(
    "url",
    [
        f"{GADGETS}/older",
        GADGETS.replace("default", "other"),
        f"{GADGETS}?labelSelector=app%3Dyoung",
        f"{GADGETS}?fieldSelector=metadata.name%3Dolder",
    ],
)
async def test_a_response_without_it_warns_of_nothing(client: Driver, url: str) -> None:
    assert (await client.get(url)).all("warning") == []


@pytest.mark.usefixtures("old")
async def test_only_the_page_with_the_object_warns(client: Driver) -> None:
    first = await client.get(f"{GADGETS}?limit=1")
    token = first.json["metadata"]["continue"]
    second = await client.get(f"{GADGETS}?limit=1&continue={token}")

    assert (len(first.all("warning")), second.all("warning")) == (1, [])


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize(
    ("url", "warned"),
    [
        (f"{GADGETS}?watch=1", True),
        (f"{EVERYWHERE}?watch=1", True),
        (f"{GADGETS}?watch=1&resourceVersion=0", True),
        (f"{GADGETS}?watch=1&fieldSelector=metadata.name%3Dold", True),
        (f"{GADGETS}?watch=1&labelSelector=app%3Dold", True),
        (f"{GADGETS}?watch=1&fieldSelector=metadata.name%3Dolder", False),
        (f"{GADGETS}?watch=1&labelSelector=app%3Dolder", False),
        (f"{GADGETS.replace('default', 'other')}?watch=1", False),
    ],
)
async def test_a_watch_warns_at_its_start(client: Driver, url: str, warned: bool) -> None:
    async with client.stream(url) as stream:
        warnings = [value for name, value in stream.headers if name == "warning"]

    assert warnings == ([warning("default/old")] if warned else [])


@pytest.mark.usefixtures("old")
async def test_a_resumed_watch_does_not_warn(client: Driver) -> None:
    version = (await client.get(GADGETS)).json["metadata"]["resourceVersion"]

    async with client.stream(f"{GADGETS}?watch=1&resourceVersion={version}") as stream:
        assert "warning" not in dict(stream.headers)


async def test_only_a_few_objects_are_named(client: Driver, store: ResourceStore[Any]) -> None:
    for number in range(5):
        await client.post(GADGETS, gadget(f"g{number}"))
        store.view.problems.add(Record(f"{PREFIX}g{number}", b"", 10**9, 1), "x" * 5000)

    answer = await client.get(GADGETS)

    named = [warning(f"default/g{number}", f"{'x' * 400}...") for number in range(3)]
    more = '299 - "5 objects of this response cannot be decoded completely"'
    assert answer.all("warning") == [*named, more]


async def metric(client: Driver, name: str, resource: str = "gadgets") -> float | None:
    text = (await client.get("/metrics")).body.decode()
    found = re.search(rf'^{name}{{[^}}]*resource="{resource}"}} (.*)$', text, re.MULTILINE)
    return float(found[1]) if found else None


async def test_metrics_count_what_cannot_be_decoded(
    client: Driver, store: ResourceStore[Any]
) -> None:
    gauge, counter = (
        "apiserver_storage_undecodable_objects",
        "apiserver_storage_decode_errors_total",
    )
    assert await metric(client, gauge) == 0
    assert await metric(client, counter) is None

    store.view.problems.add(Record(OLD, b"", 1, 1), "bad")
    store.view.problems.add(Record(f"{PREFIX}older", b"", 1, 1), "bad")
    assert await metric(client, gauge) == 2
    assert await metric(client, counter) == 2

    store.view.problems.forget(OLD)
    assert await metric(client, gauge) == 1
    assert await metric(client, counter) == 2
    assert await metric(client, gauge, "configmaps") == 0


def test_workers_do_not_add_up_their_objects(tmp_path: Path) -> None:
    program = """
        from apimachinery.schema import GroupResource
        from apiserver.http.server_metrics import ServerMetrics, Undecodable

        found = [Undecodable(GroupResource("", "pods"), objects=2, errors=1)]
        print(ServerMetrics().render(found).decode())
    """
    environ = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    for _ in range(2):
        scraped = subprocess.run(
            [sys.executable, "-c", dedent(program)],
            capture_output=True, text=True, check=True, env=environ,
        ).stdout  # fmt: skip

    labels = '{group="",resource="pods"}'
    assert f"apiserver_storage_undecodable_objects{labels} 2.0" in scraped
    assert f"apiserver_storage_decode_errors_total{labels} 2.0" in scraped
