"""Metrics of several workers: one that stops leaves its counts, and takes its gauges with it."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

WORKER = """
    import asyncio
    from apiserver.fairness.request_fairness import RequestFairness
    from tests.apiserver.http.conftest import make_app
    from tests.apiserver.http.driver import Driver
    from tests.apiserver.http.objects import GADGETS

    async def main():
        app = make_app()
        await app.start()
        fairness = RequestFairness(10, app.metrics.registry)
        dividing = asyncio.create_task(fairness.run())
        app.metrics.in_flight["mutating"].enter()
        app.metrics.carry_over()
        fairness.metrics.carry_over()
        print(app.metrics.render().decode())

        app.metrics.in_flight["mutating"].leave()
        await Driver(app, authorization="Bearer root").get(GADGETS)
        fairness.metrics.counts("level", "schema").immediate += 3
        dividing.cancel()
        await asyncio.wait([dividing])
        await app.stop()

    asyncio.run(main())
"""
SCRAPE = """
    from apiserver.http.server_metrics import ServerMetrics

    print(ServerMetrics().render().decode())
"""
IN_FLIGHT = 'apiserver_current_inflight_requests{request_kind="mutating"}'


def output(program: str, folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)},
    ).stdout


def lines(scraped: str, name: str) -> list[str]:
    return [line for line in scraped.splitlines() if line.startswith(name)]


def test_a_worker_that_stops_leaves_its_counts_but_not_its_gauges(tmp_path: Path) -> None:
    before = output(WORKER, tmp_path)
    after = output(SCRAPE, tmp_path)

    assert f"{IN_FLIGHT} 1.0" in before
    assert f"{IN_FLIGHT} 0.0" in after
    assert lines(before, "apiserver_flowcontrol_nominal_limit_seats{")
    assert not lines(after, "apiserver_flowcontrol_nominal_limit_seats{")

    assert not lines(before, "apiserver_request_total{")
    (requests,) = lines(after, "apiserver_request_total{")
    assert 'resource="gadgets"' in requests
    assert requests.endswith(" 1.0")
    (dispatched,) = lines(after, "apiserver_flowcontrol_dispatched_requests_total{")
    assert dispatched.endswith(" 3.0")
