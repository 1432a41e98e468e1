"""Classification, shuffle sharding, estimates and delays: pure functions of a request."""

from math import comb

import pytest

from apiserver.auth.user import MASTERS, User
from apiserver.fairness.classification import by_precedence, distinguisher, matches
from apiserver.fairness.flow_configuration import (
    EVERYTHING,
    FlowRule,
    PathRule,
    ResourceMatch,
    SchemaConfiguration,
    Subjects,
    exempt_schema,
)
from apiserver.fairness.loop_pressure import LEAST, LoopPressure
from apiserver.fairness.retry_after import LONGEST, RetryDelay
from apiserver.fairness.shuffle_sharding import deal, flow_hash
from apiserver.fairness.work_estimation import (
    WatchCounts,
    WorkEstimate,
    WorkEstimator,
    most_seats,
)
from apiserver.http.request_info import Query, RequestInfo, parse_query, request_info

ANN = User("ann", groups=("devs", "system:authenticated"))
ROBOT = User("system:serviceaccount:ci:robot", groups=("system:serviceaccounts",))
ANY = frozenset(("*",))


def info(path: str, method: str = "GET", query: str = "") -> RequestInfo:
    return request_info(method, path, parse_query(query.encode()))


def schema(*rules: FlowRule, name: str = "s", precedence: int = 1000) -> SchemaConfiguration:
    return SchemaConfiguration(name, "level", precedence, rules=rules)


LAMPS = info("/apis/example.io/v1/namespaces/home/lamps")


@pytest.mark.parametrize(
    ("subjects", "user", "expected"),
    [
        (Subjects(users=frozenset(("ann",))), ANN, True),
        (Subjects(users=frozenset(("bob",))), ANN, False),
        (Subjects(users=ANY), ANN, True),
        (Subjects(groups=frozenset(("devs",))), ANN, True),
        (Subjects(groups=ANY), User("nobody"), True),
        (Subjects(account_prefixes=("system:serviceaccount:ci:",)), ROBOT, True),
        (Subjects(account_prefixes=("system:serviceaccount:c:",)), ROBOT, False),
        (Subjects(), ANN, False),
    ],
)
def test_subjects(subjects: Subjects, user: User, expected: bool) -> None:
    rule = FlowRule(subjects, EVERYTHING.resources, EVERYTHING.paths)

    assert matches(schema(rule), user, LAMPS) is expected


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    [
        (ResourceMatch(ANY, ANY, ANY, ANY), "/api/v1/namespaces/a/secrets", True),
        (ResourceMatch(ANY, ANY, ANY, ANY), "/api/v1/secrets", False),
        (ResourceMatch(ANY, ANY, ANY, cluster_scope=True), "/api/v1/secrets", True),
        (ResourceMatch(ANY, ANY, ANY, frozenset("b")), "/api/v1/namespaces/a/secrets", False),
        (ResourceMatch(frozenset(("get",)), ANY, ANY, ANY), "/api/v1/namespaces/a/secrets", False),
        (
            ResourceMatch(frozenset(("list",)), frozenset(("",)), frozenset(("secrets",)), ANY),
            "/api/v1/namespaces/a/secrets",
            True,
        ),
        (
            ResourceMatch(ANY, ANY, frozenset(("lamps",)), ANY),
            "/apis/example.io/v1/namespaces/home/lamps/a/status",
            False,
        ),
        (
            ResourceMatch(ANY, ANY, frozenset(("lamps/status",)), ANY),
            "/apis/example.io/v1/namespaces/home/lamps/a/status",
            True,
        ),
    ],
)
def test_resource_rules(rule: ResourceMatch, path: str, expected: bool) -> None:
    assert matches(schema(FlowRule(Subjects(users=ANY), (rule,))), ANN, info(path)) is expected


@pytest.mark.parametrize(
    ("rule", "path", "expected"),
    [
        ("/healthz", "/healthz", True),
        ("/healthz", "/healthz/ping", True),
        ("/healthz/*", "/healthz/ping", True),
        ("/healthz", "/healthzz", False),
        ("*", "/metrics", True),
        ("/readyz", "/livez", False),
    ],
)
def test_paths(rule: str, path: str, expected: bool) -> None:
    rules = FlowRule(Subjects(users=ANY), paths=(PathRule(frozenset(("get",)), (rule,)),))

    assert matches(schema(rules), ANN, info(path)) is expected


def test_schemas_are_tried_by_precedence_then_by_name() -> None:
    found = by_precedence(
        [schema(name="b"), schema(name="z", precedence=2), schema(name="a"), exempt_schema(MASTERS)]
    )

    assert [one.name for one in found] == ["exempt", "z", "a", "b"]


@pytest.mark.parametrize(
    ("method", "expected"), [("ByUser", "ann"), ("ByNamespace", "home"), ("", "")]
)
def test_flows_are_distinguished_by_user_or_namespace(method: str, expected: str) -> None:
    by = SchemaConfiguration("s", "level", 1, distinguisher=method)

    assert distinguisher(by, ANN, LAMPS) == expected


def test_hands_are_different_queues_and_every_hand_is_as_likely() -> None:
    hands = [deal(flow_hash("s", str(flow)), 8, 3) for flow in range(20_000)]

    assert all(len(set(hand)) == 3 and max(hand) < 8 for hand in hands)
    sets = [frozenset(hand) for hand in hands]
    assert len(set(sets)) == comb(8, 3)
    counts = [sets.count(one) for one in set(sets)]
    assert min(counts) / max(counts) > 0.7


def test_hands_are_those_of_kubernetes() -> None:
    """Each remainder of the hash counts the queues that are left."""
    assert deal(0, 128, 8) == (0, 1, 2, 3, 4, 5, 6, 7)
    assert deal(128 * 127 - 1, 128, 2) == (127, 126)


def test_a_hash_depends_on_the_schema_and_the_flow() -> None:
    assert flow_hash("a", "b") != flow_hash("b", "a")
    assert flow_hash("ab", "") != flow_hash("a", "b")
    assert flow_hash("a", "\udcff") >= 0


def estimate(
    request: RequestInfo, query: Query | None = None, *, objects: int = 0, most: int = 10
) -> WorkEstimate:
    watches = WatchCounts()
    for _ in range(35):
        watches.add(info("/apis/example.io/v1/lamps", query="watch=1"))
    for _ in range(5):
        watches.add(info("/apis/example.io/v1/namespaces/home/lamps", query="watch=1"))
    watches.add(info("/apis/example.io/v1/namespaces/away/lamps", query="watch=1"))
    return WorkEstimator(lambda _: objects, watches).estimate(request, query or {}, most)


@pytest.mark.parametrize(
    ("objects", "most", "seats"),
    [(0, 10, 1), (100, 10, 1), (101, 10, 2), (5000, 10, 10), (5000, 3, 3)],
)
def test_lists_take_a_seat_for_every_hundred_objects(objects: int, most: int, seats: int) -> None:
    assert estimate(LAMPS, objects=objects, most=most) == WorkEstimate(seats)


def test_a_list_of_one_name_takes_one_seat() -> None:
    one = info("/api/v1/namespaces/a/secrets", query="fieldSelector=metadata.name%3Db")

    assert estimate(one, objects=5000) == WorkEstimate(1)


@pytest.mark.parametrize(
    ("query", "seats"),
    [
        ({"limit": ["10"]}, 1),
        ({"limit": ["500"]}, 5),
        ({"limit": ["0"]}, 10),
        ({"limit": ["many"]}, 10),
        ({"limit": ["10"], "labelSelector": ["a=b"]}, 10),
    ],
)
def test_a_page_is_as_wide_as_its_limit(query: dict[str, list[str]], seats: int) -> None:
    assert estimate(LAMPS, query, objects=5000) == WorkEstimate(seats)


def test_watches_take_the_seats_of_a_list_only_if_they_send_one() -> None:
    watch = info("/apis/example.io/v1/lamps", query="watch=1")

    assert estimate(watch, objects=5000) == WorkEstimate(1)
    assert estimate(watch, {"sendInitialEvents": ["true"]}, objects=5000) == WorkEstimate(10)


def test_writes_take_seats_for_their_watches_after_the_response() -> None:
    write = info("/apis/example.io/v1/namespaces/home/lamps", "POST")
    elsewhere = info("/apis/example.io/v1/namespaces/home/fans", "POST")

    assert estimate(write) == WorkEstimate(1, 4, 0.005)
    assert estimate(write, most=2) == WorkEstimate(1, 2, 0.01)
    assert estimate(elsewhere) == WorkEstimate(1)


def test_forgotten_watches_do_not_count() -> None:
    watches = WatchCounts()
    watch = info("/api/v1/secrets", query="watch=1")
    watches.add(watch)
    watches.remove(watch)
    watches.remove(watch)

    assert watches.interested(info("/api/v1/namespaces/a/secrets", "POST")) == 0


@pytest.mark.parametrize(
    ("limit", "hand", "most"), [(49, 6, 8), (600, 6, 10), (5, 6, 1), (0, 1, 1)]
)
def test_one_request_takes_a_fraction_of_its_level(limit: int, hand: int, most: int) -> None:
    assert most_seats(limit, hand) == most


def test_the_delay_doubles_under_overload_and_shrinks_after_it() -> None:
    delay = RetryDelay()
    delays = []
    for second in range(60):
        for _ in range(100):
            delay.reject(1000 + second)
        delays.append(delay.seconds)

    assert delays[0] == 1
    assert sorted(delays) == delays
    assert delays[-1] == LONGEST
    assert delay.reject(2000) == LONGEST - 1


def test_few_rejections_delay_clients_by_a_second() -> None:
    delay = RetryDelay()

    assert [delay.reject(1000 + second) for second in range(20)] == [1] * 20


def test_seats_shrink_while_the_event_loop_is_late_and_return_when_it_keeps_up() -> None:
    pressure = LoopPressure()
    for _ in range(100):
        pressure.measure(0.05)
    least = pressure.fraction
    for _ in range(100):
        pressure.measure(0.0)

    assert (least, pressure.fraction) == (LEAST, 1.0)


def test_a_single_late_callback_changes_little() -> None:
    pressure = LoopPressure()
    pressure.measure(0.03)
    for _ in range(20):
        pressure.measure(0.0)

    assert pressure.fraction > 0.9
