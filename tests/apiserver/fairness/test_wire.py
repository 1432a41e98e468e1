"""Priority and fairness as clients see it: headers, rejections, debug pages, metrics."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from apiserver.app import App
from apiserver.auth.static_tokens import TokenAuthenticator
from apiserver.auth.token_keys import TokenKeys, load_signing_key, new_signing_key
from apiserver.auth.user import AUTHENTICATED, MASTERS, User
from apiserver.config import ServerConfig
from apiserver.controlplane.standard_server import ServerCredentials, create_app
from apiserver.fairness.request_fairness import RequestFairness
from tests.apiserver.http.driver import Answer, Driver

GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
DUMP = "/debug/api_priority_and_fairness/dump_"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
RBAC = "rbac.authorization.k8s.io"
USERS = {
    "root": User("root", groups=(MASTERS, AUTHENTICATED)),
    "ann": User("ann", groups=("team", AUTHENTICATED)),
    "bob": User("bob", groups=(AUTHENTICATED,)),
    "team": User("carl", groups=("own-level", "team", AUTHENTICATED)),
}
SCHEMA_UID, LEVEL_UID = "x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid"


class Served:
    """A standard server, and a client for each user."""

    def __init__(self, app: App, fairness: RequestFairness | None) -> None:
        self.app = app
        self.fairness = fairness
        self.root, self.ann, self.bob, self.carl = (
            Driver(app, authorization=f"Bearer {token}") for token in USERS
        )
        self.entered = asyncio.Semaphore(0)
        self.leave = asyncio.Event()
        app.router.add_path("/slow", get=self._slow)

    async def _slow(self, req: Any, resp: Any) -> None:
        self.entered.release()
        await self.leave.wait()

    @asynccontextmanager
    async def busy(self, client: Driver, requests: int) -> AsyncIterator[list[Answer]]:
        """Have requests executed that end with the block."""
        answers: list[Answer] = []
        async with asyncio.TaskGroup() as tasks:
            made = [tasks.create_task(client.get("/slow")) for _ in range(requests)]
            for _ in made:
                await self.entered.acquire()
            try:
                yield answers
            finally:
                self.leave.set()
        answers += [task.result() for task in made]


@asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[Served]:
    credentials = ServerCredentials(
        tokens=[TokenAuthenticator(USERS)], keys=TokenKeys(load_signing_key(new_signing_key()))
    )
    config = ServerConfig(storage="sqlite://:memory:", insecure_http=True, **settings)
    app = create_app(config, credentials=credentials, namespace_defaults=False)
    await app.start()
    access = app._gate._application._unprepared_middleware[0]  # type: ignore[attr-defined]
    fairness = access._concurrency
    served = Served(app, fairness if isinstance(fairness, RequestFairness) else None)
    if served.fairness is not None:
        # The seats must not depend on how busy the machine is.
        served.fairness.pressure.measure = lambda delay: False  # type: ignore[method-assign]
    binding = {
        "metadata": {"name": "team"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "Group", "apiGroup": RBAC, "name": "team"}],
    }
    made = await served.root.post(f"/apis/{RBAC}/v1/clusterrolebindings", binding)
    assert made.code == 201
    try:
        yield served
    finally:
        await app.stop()


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with serving() as made:
        yield made


async def uid(served: Served, path: str) -> str:
    found: str = (await served.root.get(f"{GROUP}/{path}")).json["metadata"]["uid"]
    return found


@pytest.mark.parametrize(
    ("user", "path", "code", "schema", "level"),
    [
        ("ann", MAPS, 200, "global-default", "global-default"),
        ("bob", MAPS, 403, "global-default", "global-default"),
        ("root", MAPS, 200, "exempt", "exempt"),
        ("bob", "/readyz", 200, "probes", "exempt"),
        ("ann", f"{MAPS}/missing", 404, "global-default", "global-default"),
        ("ann", "/nowhere", 404, "global-default", "global-default"),
    ],
)
async def test_every_classified_response_names_its_schema_and_level(
    served: Served, user: str, path: str, code: int, schema: str, level: str
) -> None:
    answer = await getattr(served, user).get(path)

    assert answer.code == code
    assert answer.header(SCHEMA_UID) == await uid(served, f"flowschemas/{schema}")
    assert answer.header(LEVEL_UID) == await uid(served, f"prioritylevelconfigurations/{level}")


async def test_writes_and_watches_are_classified_too(served: Served) -> None:
    written = await served.ann.post(MAPS, {"metadata": {"name": "a"}})
    async with served.ann.stream(f"{MAPS}?watch=1") as watch:
        headers = dict(watch.headers)

    assert written.code == 201
    assert written.header(SCHEMA_UID) == headers[SCHEMA_UID]
    assert served.fairness is not None
    async with asyncio.timeout(5):
        while served.fairness.executing:
            await asyncio.sleep(0)


async def test_a_team_gets_a_level_of_its_own(served: Served) -> None:
    await _own_level(served, {"type": "Reject"})

    answer = await served.carl.get(MAPS)

    assert answer.header(LEVEL_UID) == await uid(served, "prioritylevelconfigurations/own")
    other = await served.ann.get(MAPS)
    assert other.header(LEVEL_UID) != answer.header(LEVEL_UID)


async def test_a_level_without_queues_rejects(served: Served) -> None:
    await _own_level(served, {"type": "Reject"}, shares=1)
    limit = _level(served, "own").queue_set.limit
    assert limit is not None

    async with served.busy(served.carl, limit):
        rejected = await served.carl.get(MAPS)
        write = await served.carl.post(MAPS, {"metadata": {"name": "a"}})
        others = [await served.ann.get(MAPS), await served.root.get(MAPS)]

    assert (rejected.code, rejected.body) == (429, b"Too many requests, please try again later.\n")
    assert rejected.header("retry-after") == "1"
    assert rejected.header("content-type") == "text/plain; charset=utf-8"
    assert rejected.header(LEVEL_UID) == await uid(served, "prioritylevelconfigurations/own")
    assert write.code == 429
    assert [answer.code for answer in others] == [200, 200]
    after = await served.carl.get(MAPS)
    assert after.code == 200


async def test_requests_wait_in_queues_and_full_queues_reject(served: Served) -> None:
    queuing = {"queues": 1, "handSize": 1, "queueLengthLimit": 2}
    await _own_level(served, {"type": "Queue", "queuing": queuing}, shares=1)
    queue_set = _level(served, "own").queue_set
    assert queue_set.limit is not None
    async with AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        await stack.enter_async_context(served.busy(served.carl, queue_set.limit))
        waiting = [tasks.create_task(served.carl.get(MAPS)) for _ in range(2)]
        while queue_set.waiting < 2:
            await asyncio.sleep(0)

        rejected = await served.carl.get(MAPS)
        dumped = (await served.root.get(DUMP + "requests?includeRequestDetails=1")).body.decode()
        page = (await served.root.get("/metrics")).body.decode()

    assert [task.result().code for task in waiting] == [200, 200]
    assert rejected.code == 429
    flow = '{flow_schema="own",priority_level="own"'
    assert f"apiserver_flowcontrol_current_inqueue_requests{flow}}} 2.0" in page
    assert f'apiserver_flowcontrol_rejected_requests_total{flow},reason="queue-full"}} 1.0' in page
    lines = [line.split() for line in dumped.splitlines() if line.startswith("own,")]
    assert len(lines) == queue_set.limit + 2
    assert {tuple(line[1:5]) for line in lines if line[3] != "-1,"} == {
        ("own,", "0,", "0,", "carl,"),
        ("own,", "0,", "1,", "carl,"),
    } or len({line[3] for line in lines}) == 3


async def test_requests_do_not_wait_for_ever(served: Served) -> None:
    queuing = {"queues": 1, "handSize": 1, "queueLengthLimit": 2}
    await _own_level(served, {"type": "Queue", "queuing": queuing}, shares=1)
    queue_set = _level(served, "own").queue_set
    assert queue_set.limit is not None

    async with served.busy(served.carl, queue_set.limit):
        late = await served.carl.get(f"{MAPS}?timeout=40ms")

    assert late.code == 429
    assert (queue_set.timed_out, queue_set.waiting) == (1, 0)


async def test_probes_and_administrators_are_never_rejected() -> None:
    async with (
        serving(max_requests_inflight=1, max_mutating_requests_inflight=1) as served,
        served.busy(served.root, 20),
    ):
        answers = [await served.bob.get("/readyz"), await served.root.get(MAPS)]

    assert [answer.code for answer in answers] == [200, 200]


async def test_plain_limits_spare_probes_and_administrators() -> None:
    async with (
        serving(enable_priority_and_fairness=False, max_requests_inflight=1) as served,
        served.busy(served.ann, 1),
    ):
        answers = [
            await client.get(path)
            for client, path in (
                (served.ann, MAPS),
                (served.root, MAPS),
                (served.bob, "/readyz"),
                (served.bob, "/livez"),
            )
        ]
        written = await served.ann.post(MAPS, {"metadata": {"name": "a"}})

    assert [answer.code for answer in answers] == [429, 200, 200, 200]
    assert written.code == 201
    assert answers[0].header(LEVEL_UID) is None


async def test_the_servers_own_client_is_not_limited() -> None:
    """It is what restores levels, writes leases and empties namespaces."""
    async with serving(max_requests_inflight=1, max_mutating_requests_inflight=1) as served:
        assert served.fairness is not None
        before = served.fairness.levels.by_name["exempt"].queue_set.dispatched
        async with asyncio.timeout(10):
            await served.root.delete(f"{GROUP}/prioritylevelconfigurations/catch-all")
            while (
                await served.root.get(f"{GROUP}/prioritylevelconfigurations/catch-all")
            ).code != 200:
                await asyncio.sleep(0.01)
        dispatched = served.fairness.levels.by_name["exempt"].queue_set.dispatched - before
        requests = served.app.metrics.render().decode()

    assert dispatched > 0
    assert 'apiserver_flowcontrol_dispatched_requests_total{flow_schema="exempt"' in requests


async def test_debug_pages_are_for_those_who_may(served: Served) -> None:
    for page in ("priority_levels", "queues", "requests"):
        assert (await served.bob.get(DUMP + page)).code == 403
        answer = await served.root.get(DUMP + page)
        assert answer.code == 200
        assert answer.header("content-type") == "text/plain; charset=utf-8"
    root = (await served.root.get("/")).json["paths"]
    assert not [path for path in root if path.startswith("/debug")]


async def test_debug_pages_have_the_columns_of_kubernetes(served: Served) -> None:
    levels = (await served.root.get(DUMP + "priority_levels")).body.decode().splitlines()
    queues = (await served.root.get(DUMP + "queues")).body.decode().splitlines()
    requests = (await served.root.get(DUMP + "requests?includeRequestDetails=1")).body.decode()

    assert levels[0].split() == [
        *("PriorityLevelName,", "ActiveQueues,", "IsIdle,", "IsQuiescing,", "WaitingRequests,"),
        *("ExecutingRequests,", "DispatchedRequests,", "RejectedRequests,", "TimedoutRequests,"),
        "CancelledRequests",
    ]
    assert [line.split(",")[0] for line in levels[1:]] == [
        *("catch-all", "exempt", "global-default", "leader-election", "node-high", "system"),
        *("workload-high", "workload-low"),
    ]
    assert queues[0].split() == [
        *("PriorityLevelName,", "Index,", "PendingRequests,", "ExecutingRequests,", "SeatsInUse,"),
        *("NextDispatchR,", "InitialSeatsSum,", "MaxSeatsSum,", "TotalWorkSum"),
    ]
    assert len(queues) == 1 + 64 + 64 + 16 + 3 * 128
    header, own = requests.splitlines()[0].split(), requests.splitlines()[1].split()
    assert header == [
        *("PriorityLevelName,", "FlowSchemaName,", "QueueIndex,", "RequestIndexInQueue,"),
        *("FlowDistingsher,", "ArriveTime,", "InitialSeats,", "FinalSeats,"),
        *("AdditionalLatency,", "StartTime,", "UserName,", "Verb,", "APIPath,", "Namespace,"),
        *("Name,", "APIVersion,", "Resource,", "SubResource"),
    ]
    assert own[:4] == ["exempt,", "exempt,", "-1,", "-1,"]
    assert "root," in own


async def test_metrics_have_the_names_of_kubernetes(served: Served) -> None:
    await served.ann.get(MAPS)

    page = (await served.root.get("/metrics")).body.decode()

    flow = '{flow_schema="global-default",priority_level="global-default"'
    prefix = "apiserver_flowcontrol_"
    assert f"{prefix}dispatched_requests_total{flow}}} 1.0" in page
    assert f'{prefix}request_wait_duration_seconds_count{{execute="true",{flow[1:]}}} 1.0' in page
    assert f'{prefix}request_execution_seconds_count{flow},type="regular"}} 1.0' in page
    assert f"{prefix}request_queue_length_after_enqueue_count{flow}}} 1.0" in page
    assert f"{prefix}current_executing_requests{flow}}} 0.0" in page
    assert f'{prefix}nominal_limit_seats{{priority_level="global-default"}} 49.0' in page
    for name in ("lower_limit_seats", "upper_limit_seats", "current_limit_seats", "current_r"):
        assert f'{prefix}{name}{{priority_level="workload-low"}}' in page
    for name in ("current_inqueue_requests", "current_executing_seats", "work_estimated_seats"):
        assert prefix + name in page
    assert "apiserver_event_loop_seat_fraction 1.0" in page


async def test_kubectl_get_shows_the_columns_of_kubernetes(served: Served) -> None:
    async with asyncio.timeout(10):
        while True:
            schemas = (await served.root.get(f"{GROUP}/flowschemas", accept=TABLE)).json
            rows = {row["cells"][0]: row["cells"] for row in schemas["rows"]}
            if all(row[-1] == "False" for row in rows.values()):
                break
            await asyncio.sleep(0.01)
    levels = (await served.root.get(f"{GROUP}/prioritylevelconfigurations", accept=TABLE)).json

    assert [column["name"] for column in schemas["columnDefinitions"]] == [
        *("Name", "PriorityLevel", "MatchingPrecedence", "DistinguisherMethod", "Age", "MissingPL"),
    ]
    assert rows["probes"][:4] == ["probes", "exempt", 2, "<none>"]
    assert [column["name"] for column in levels["columnDefinitions"]] == [
        *("Name", "Type", "NominalConcurrencyShares", "Queues", "HandSize", "QueueLengthLimit"),
        "Age",
    ]


async def test_a_write_is_refused_before_its_body_is_read(served: Served) -> None:
    """A user without roles gets its 403 however slowly it sends."""

    async def never() -> Any:
        raise AssertionError("the body is read")

    answer = await _post_slowly(served.bob, MAPS, never)

    assert answer == 403


async def test_a_body_that_does_not_progress_is_given_up() -> None:
    async with serving() as served:
        access = served.app._gate._application._unprepared_middleware[0]  # type: ignore[attr-defined]
        limits = access._bodies.limits
        object.__setattr__(limits, "body_seconds", 0.05)
        reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        arrived = asyncio.Event()

        async def first_part() -> Any:
            if arrived.is_set():
                await asyncio.get_running_loop().create_future()
            arrived.set()
            return {"type": "http.request", "body": b"{", "more_body": True}

        code = await _post_slowly(served.bob, reviews, first_part)

        assert code == 408
        assert access._bodies.size == 0
        assert served.fairness is not None
        assert not served.fairness.executing


async def _own_level(served: Served, response: dict[str, Any], *, shares: int = 30) -> None:
    """Give members of the group own-level a level of their own."""
    level = {
        "metadata": {"name": "own"},
        "spec": {
            "type": "Limited",
            "limited": {
                "nominalConcurrencyShares": shares,
                "limitResponse": response,
                "borrowingLimitPercent": 0,
            },
        },
    }
    rules = {
        "subjects": [{"kind": "Group", "group": {"name": "own-level"}}],
        "resourceRules": [
            {
                "verbs": ["*"],
                "apiGroups": ["*"],
                "resources": ["*"],
                "namespaces": ["*"],
                "clusterScope": True,
            }
        ],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }
    schema = {
        "metadata": {"name": "own"},
        "spec": {
            "priorityLevelConfiguration": {"name": "own"},
            "matchingPrecedence": 50,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [rules],
        },
    }
    made = await served.root.post(f"{GROUP}/prioritylevelconfigurations", level)
    assert made.code == 201, made.body
    made = await served.root.post(f"{GROUP}/flowschemas", schema)
    assert made.code == 201, made.body
    # A list waits for the newest state; the next request that is classified sees it.
    for _ in range(2):
        await served.root.get(f"{GROUP}/flowschemas")


def _level(served: Served, name: str) -> Any:
    assert served.fairness is not None
    return served.fairness.levels.by_name[name]


async def _post_slowly(client: Driver, path: str, receive: Any) -> int:
    """Send the head of a write, and let *receive* deliver its body; return the code."""
    codes: list[int] = []

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            codes.append(message["status"])

    scope = client._scope("POST", path, {"content-type": "application/json"})
    async with asyncio.timeout(5):
        await client.app(scope, receive, send)
    return codes[0]
