"""Sums of the resources of containers, and the quality of service that follows from them."""

import pytest

from apis.core.pod_resources import aggregate_limits, aggregate_requests, quality_of_service
from tests.apis.core.pod.building import Fields, pod

GUARANTEED: Fields = {"limits": {"cpu": "1", "memory": "1Gi"}}


def container(name: str, resources: Fields, **fields: str) -> Fields:
    return {"name": name, "image": "i", "resources": resources, **fields}


def cpu(amount: str) -> Fields:
    return {"requests": {"cpu": amount}, "limits": {"cpu": amount}}


def test_containers_and_sidecars_run_together() -> None:
    spec = pod(
        {
            "initContainers": [container("s", cpu("1"), restartPolicy="Always")],
            "containers": [container("a", cpu("2")), container("b", cpu("3"))],
        }
    ).spec

    assert {name: str(sum_) for name, sum_ in aggregate_requests(spec).items()} == {"cpu": "6"}
    assert aggregate_limits(spec) == aggregate_requests(spec)


def test_an_init_container_runs_beside_the_sidecars_before_it() -> None:
    spec = pod(
        {
            "initContainers": [
                container("a", cpu("4")),
                container("s", cpu("1"), restartPolicy="Always"),
                container("b", cpu("5")),
                container("t", cpu("1"), restartPolicy="Always"),
            ],
            "containers": [container("c", cpu("1"))],
        }
    ).spec

    assert str(aggregate_requests(spec)["cpu"]) == "6"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, "BestEffort"),
        ({"containers": [container("c", GUARANTEED)]}, "Guaranteed"),
        ({"containers": [container("c", {"requests": {"cpu": "1"}})]}, "Burstable"),
        ({"containers": [container("c", {"limits": {"cpu": "1"}})]}, "Burstable"),
        ({"containers": [container("c", {"limits": {"example.com/a": "1"}})]}, "BestEffort"),
        (
            {"containers": [container("c", GUARANTEED), container("d", {})]},
            "Burstable",
        ),
        (
            {
                "initContainers": [container("i", {})],
                "containers": [container("c", GUARANTEED)],
            },
            "Burstable",
        ),
        ({"resources": {"requests": GUARANTEED["limits"], **GUARANTEED}}, "Guaranteed"),
        (
            {"resources": {}, "containers": [container("c", GUARANTEED)]},
            "Guaranteed",
        ),
    ],
)
def test_quality_of_service(spec: Fields, expected: str) -> None:
    assert quality_of_service(pod(spec)) == expected
