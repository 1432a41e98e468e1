"""Requests are counted in plain numbers and appear in every scrape, once."""

from threading import Thread

from prometheus_client import CollectorRegistry, Histogram, generate_latest

from apiserver.app import App
from apiserver.http.request_tally import RequestTally
from tests.apiserver.http.driver import Driver
from tests.apiserver.http.objects import GADGETS

BOUNDS = (0.1, 1.0)


def value(text: str, name: str, *labels: str) -> float:
    found = [
        float(line.rpartition(" ")[2])
        for line in text.splitlines()
        if line.startswith(name + "{") and all(label in line for label in labels)
    ]
    return sum(found)


async def test_each_scrape_has_all_requests_so_far(app: App, client: Driver) -> None:
    labels = ('resource="gadgets"', 'verb="LIST"')

    numbers = []
    for _ in range(3):
        await client.get(GADGETS)
        text = app.metrics.render().decode()
        numbers.append(value(text, "apiserver_request_total", *labels, 'code="200"'))
        assert value(text, "apiserver_request_duration_seconds_count", *labels) == numbers[-1]

    assert numbers == [1.0, 2.0, 3.0]
    assert generate_latest(app.metrics.registry).decode().count(" 3.0") >= 2


async def test_requests_in_flight_are_those_of_the_scrape(app: App, client: Driver) -> None:
    own = await client.get("/metrics")

    assert value(own.body.decode(), "apiserver_current_inflight_requests", "readOnly") == 1.0
    after = app.metrics.render().decode()
    assert value(after, "apiserver_current_inflight_requests", "readOnly") == 0.0


def test_durations_are_those_of_a_histogram() -> None:
    carried, observed = (
        Histogram("x", "X.", buckets=BOUNDS, registry=CollectorRegistry()) for _ in range(2)
    )
    tally = RequestTally(BOUNDS)

    for seconds in (0.05, 0.1, 0.5, 1.0, 7.0):
        tally.count(200, seconds)
        observed.observe(seconds)
        tally.carry_durations(carried)

    assert samples(carried) == samples(observed)


def samples(histogram: Histogram) -> list[tuple[object, ...]]:
    found = [sample for metric in histogram.collect() for sample in metric.samples]
    return [tuple(sample[:3]) for sample in found if not sample.name.endswith("_created")]


def test_nothing_is_lost_while_another_thread_carries_over() -> None:
    tally, taken = RequestTally(BOUNDS), [0]
    total = 20_000

    def carry() -> None:
        while taken[0] < total:
            taken[0] += sum(number for _, number in tally.take_codes())

    thread = Thread(target=carry)
    thread.start()
    for _ in range(total):
        tally.count(200, None)
    thread.join(timeout=20)

    assert taken == [total]
