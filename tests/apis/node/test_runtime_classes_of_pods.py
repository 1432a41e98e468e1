"""What a RuntimeClass adds to the pods that name it, and which pods it refuses."""

from typing import Any

import pytest
import pytest_asyncio

from tests.apis.admitted import Admitted

pytestmark = pytest.mark.asyncio(loop_scope="session")

OVERHEAD = {"cpu": "100m", "memory": "10Mi"}
OTHER = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
NOT_READY = "node.kubernetes.io/not-ready"
TOLERATIONS = [
    {"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"},
    {"key": NOT_READY, "operator": "Exists", "effect": "NoExecute"},
]


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def classes(admitted: Admitted) -> None:
    heavy = {
        "metadata": {"name": "heavy"},
        "handler": "h",
        "overhead": {"podFixed": OVERHEAD},
        "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": TOLERATIONS},
    }
    await admitted.create("runtimeclasses", heavy)
    await admitted.create("runtimeclasses", {"metadata": {"name": "bare"}, "handler": "h"})


async def test_a_pod_gets_the_overhead_and_the_nodes_of_its_class(admitted: Admitted) -> None:
    spec = await admitted.pod(runtimeClassName="heavy", nodeSelector={"x": "y"})

    assert spec["overhead"] == OVERHEAD
    assert spec["nodeSelector"] == {"a": "b", "x": "y"}
    # The toleration of the class is wider than the one that every pod gets.
    assert [(each["key"], each.get("tolerationSeconds")) for each in spec["tolerations"]] == [
        ("node.kubernetes.io/unreachable", 300),
        ("k", None),
        (NOT_READY, None),
    ]


async def test_a_toleration_of_the_pod_may_include_those_of_the_class(admitted: Admitted) -> None:
    own = {"operator": "Exists"}

    spec = await admitted.pod(runtimeClassName="heavy", tolerations=[own])

    assert spec["tolerations"] == [own]


async def test_an_equal_overhead_is_accepted(admitted: Admitted) -> None:
    spec = await admitted.pod(runtimeClassName="heavy", overhead={"cpu": "0.1", "memory": "10Mi"})

    assert spec["overhead"] == OVERHEAD


@pytest.mark.parametrize(
    ("own", "refusal"),
    [
        ({"runtimeClassName": "no"}, 'pod rejected: RuntimeClass "no" not found'),
        ({"runtimeClassName": "heavy", "overhead": {"cpu": "1"}}, OTHER),
        (
            {"runtimeClassName": "bare", "overhead": {"cpu": "1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        (
            {"overhead": {"cpu": "1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        (
            {"runtimeClassName": "heavy", "nodeSelector": {"a": "c"}},
            "conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c",
        ),
    ],
)
async def test_pods_that_contradict_their_class_are_refused(
    admitted: Admitted, own: dict[str, Any], refusal: str
) -> None:
    assert await admitted.refusal(**own) == refusal
