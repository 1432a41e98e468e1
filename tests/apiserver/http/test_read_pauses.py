"""Reads of many and of large objects: no list, watch or review holds up the other requests."""

import asyncio
import gc
import itertools
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from apis.rbac.policy import Policy
from apis.rbac.v1 import ClusterRole, ClusterRoleBinding, PolicyRule, Subject
from apiserver.app import App
from apiserver.auth.user import User
from apiserver.controlplane.role_authorizer import RoleAuthorizer
from tests.apiserver.http.conftest import make_app
from tests.apiserver.http.driver import Driver
from tests.pauses import loop_pauses, machine_factor, measures_time

pytestmark = measures_time

GROUP = "/apis/gadgets.example.io"
STABLE, BETA = f"{GROUP}/v1/gadgets", f"{GROUP}/v1beta1/gadgets"
KEYS = "/registry/gadgets.example.io/gadgets"
META = "v=v1;g=meta.k8s.io"
JSON, YAML = "application/json", "application/yaml"
INITIAL = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
LIMIT = 0.05
"""Seconds for which a request may keep the event loop."""
LONG_SELECTOR = "labelSelector=app%3Dnone," + ",".join(f"app!%3Dx{n}" for n in range(1000))
READS = [
    (f"{STABLE}?resourceVersion=1&resourceVersionMatch=Exact", JSON),
    (f"{STABLE}?labelSelector=app%3Dnone", JSON),
    (f"{STABLE}?labelSelector=app%3Dnone&limit=1", JSON),
    (f"{STABLE}?{LONG_SELECTOR}", JSON),
    (f"{STABLE}?fieldSelector=metadata.name%3Dnone", JSON),
    (f"{STABLE}?watch=true&timeoutSeconds=1&{INITIAL}&labelSelector=app%3Dnone", JSON),
    (f"{STABLE}?watch=true&timeoutSeconds=1&resourceVersion=10&{LONG_SELECTOR}", JSON),
    (STABLE, JSON),
    (STABLE, JSON),
    (BETA, JSON),
    (f"{BETA}?watch=true&timeoutSeconds=1&{INITIAL}", JSON),
    (STABLE, f"{JSON};as=Table;{META}"),
    (BETA, f"{JSON};as=Table;{META}"),
    (STABLE, f"{JSON};as=PartialObjectMetadataList;{META}"),
    (f"{STABLE}?pretty=true", JSON),
    (STABLE, YAML),
]


@pytest.fixture(autouse=True)
def uncollected() -> Iterator[None]:
    """Without Python's garbage collection, which would scan all that other tests have left."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
async def app() -> AsyncIterator[App]:
    made = make_app(wait=30)
    await made.start()
    yield made
    await made.stop()


async def fill(app: App, count: int, *, size: int = 10) -> None:
    """Store gadgets beside each other, without the cost of requests."""
    client = Driver(app, authorization="Bearer root")
    await client.post("/api/v1/namespaces", {"metadata": {"name": "default"}})
    gadget = {"metadata": {"name": "seed", "labels": {"app": "web"}}, "spec": {"model": "model"}}
    assert (await client.post(f"{GROUP}/v1/namespaces/default/gadgets", gadget)).code == 201
    seed = await app.backend.get(f"{KEYS}/default/seed")
    assert seed is not None
    value = seed.value.replace(b'"model"', b'"model"').replace(
        b':"model"', b':"%b"' % (b"m" * size)
    )
    for start in range(0, count, 500):
        names = [f"g{number:06}" for number in range(start, min(start + 500, count))]
        await asyncio.gather(
            *(
                app.backend.create(
                    f"{KEYS}/default/{name}", value.replace(b'"seed"', f'"{name}"'.encode())
                )
                for name in names
            )
        )
    assert (await client.get(f"{STABLE}?limit=1")).code == 200


async def check_reads(app: App, reads: list[tuple[str, str]]) -> None:
    client = Driver(app, authorization="Bearer root")
    client.seconds = 300.0
    longest = {}
    for url, accept in reads:
        async with loop_pauses(time.thread_time) as pauses:
            answer = await client.get(url, accept=accept)
        assert answer.code == 200, answer.body
        longest[f"{url[:120]} {accept}"] = round(pauses.longest, 3)

    limit = LIMIT * machine_factor()
    assert {read: pause for read, pause in longest.items() if pause > limit} == {}


@pytest.mark.parametrize("count", [4_000, pytest.param(100_000, marks=pytest.mark.torture)])
async def test_reads_of_many_objects_let_others_run(app: App, count: int) -> None:
    async with loop_pauses(time.thread_time) as filling:
        await fill(app, count)

    await check_reads(app, READS)

    assert filling.longest < LIMIT * machine_factor()


async def test_reads_of_large_objects_let_others_run(app: App) -> None:
    await fill(app, 30, size=1_000_000)

    await check_reads(app, [(STABLE, JSON), (STABLE, JSON), (BETA, JSON), (STABLE, YAML)])


@pytest.mark.parametrize("accept", [JSON, YAML])
async def test_a_large_list_is_complete(app: App, accept: str) -> None:
    await fill(app, 3_000)

    answer = await Driver(app, authorization="Bearer root").get(STABLE, accept=accept)

    assert answer.body.count(b"g00") == 3_000
    assert answer.header("content-length") is None


async def test_a_list_is_one_snapshot_although_others_write_meanwhile(app: App) -> None:
    """Of objects that are created in turn at its beginning and at its end, it has all or none."""
    await fill(app, 3_000)
    client = Driver(app, authorization="Bearer root")
    record = await app.backend.get(f"{KEYS}/default/g000001")
    assert record is not None
    value, numbers = record.value, itertools.count(1)

    async def write() -> None:
        # Not more than this, or the lists of a slow machine would never reach the end.
        for number in itertools.islice(numbers, 200):
            await app.backend.create(f"{KEYS}/default/{'ah'[number % 2]}{number}", value)

    for _ in range(5):
        writing = asyncio.create_task(write())
        answer = await client.get(f"{STABLE}?{LONG_SELECTOR.replace('app%3Dnone,', '')}")
        await writing
        names = [item["metadata"]["name"] for item in answer.json["items"]]
        version = int(answer.json["metadata"]["resourceVersion"])
        versions = [int(item["metadata"]["resourceVersion"]) for item in answer.json["items"]]
        assert len(names) >= 3_000
        assert max(versions) <= version
        created = sorted(each for each in versions if each > max(versions) - 10)
        assert created == list(range(created[0], created[0] + len(created)))


async def test_the_rules_of_a_user_with_many_roles_let_others_run() -> None:
    policy = Policy()
    rule = PolicyRule(verbs=["get", "list"], api_groups=[""], resources=["pods", "services"])
    role, binding = ClusterRole(rules=[rule] * 10), ClusterRoleBinding()
    binding.subjects = [Subject(kind="User", name="eve")]
    for number in range(5_000):
        role.metadata.name = binding.metadata.name = binding.role_ref.name = f"role-{number}"
        policy.put_role(role)
        policy.put_binding(binding)

    async with loop_pauses(time.thread_time) as pauses:
        rules = await RoleAuthorizer(policy).rules(User("eve"), "default")

    assert len(rules.granted) == 50_000
    assert pauses.longest < LIMIT * machine_factor()
