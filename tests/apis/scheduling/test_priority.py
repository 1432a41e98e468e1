"""The priority of pods: from their class, from the default class, or none."""

from typing import Any

import pytest
import pytest_asyncio

from tests.apis.admitted import Admitted

pytestmark = pytest.mark.asyncio(loop_scope="session")

COMPUTED = "must not be provided in pod spec; priority admission controller computed"


@pytest_asyncio.fixture(scope="module", loop_scope="session", autouse=True)
async def classes(admitted: Admitted) -> None:
    high = {"metadata": {"name": "high"}, "value": 100, "preemptionPolicy": "Never"}
    await admitted.create("priorityclasses", high)


def priority(spec: Any) -> tuple[Any, ...]:
    return tuple(spec.get(name) for name in ("priorityClassName", "priority", "preemptionPolicy"))


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({}, (None, 0, "PreemptLowerPriority")),
        ({"priority": 0}, (None, 0, "PreemptLowerPriority")),
        ({"priorityClassName": "high"}, ("high", 100, "Never")),
        ({"priorityClassName": "high", "priority": 100}, ("high", 100, "Never")),
        (
            {"priorityClassName": "system-node-critical"},
            ("system-node-critical", 2_000_001_000, "PreemptLowerPriority"),
        ),
    ],
)
async def test_a_pod_has_the_priority_of_its_class(
    admitted: Admitted, own: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert priority(await admitted.pod(**own)) == expected


@pytest.mark.parametrize(
    ("own", "refusal"),
    [
        ({"priorityClassName": "none"}, "no PriorityClass with name none was found"),
        (
            {"priority": 5},
            f"the integer value of priority (5) {COMPUTED} 0 from the given PriorityClass name",
        ),
        (
            {"priorityClassName": "high", "preemptionPolicy": "PreemptLowerPriority"},
            "the string value of PreemptionPolicy (PreemptLowerPriority)"
            f" {COMPUTED} Never from the given PriorityClass name",
        ),
    ],
)
async def test_a_pod_cannot_set_its_priority(
    admitted: Admitted, own: dict[str, Any], refusal: str
) -> None:
    assert await admitted.refusal(**own) == refusal


async def test_a_client_may_leave_the_priority_out_of_an_update(admitted: Admitted) -> None:
    name = admitted.new_name()
    await admitted.pod(metadata={"name": name}, priorityClassName="high")
    path = f"/api/v1/namespaces/default/pods/{name}"
    document = (await admitted.server.get(path)).json
    del document["spec"]["priority"], document["spec"]["preemptionPolicy"]

    answer = await admitted.server.put(path, document)

    assert answer.code == 200, answer.body
    assert priority(answer.json["spec"]) == ("high", 100, "Never")


async def test_pods_without_a_class_get_the_default_class(admitted: Admitted) -> None:
    document = {"metadata": {"name": "usual"}, "value": 50, "globalDefault": True}
    await admitted.create("priorityclasses", document)
    await admitted.settle("priorityclasses")
    try:
        assert priority(await admitted.pod()) == ("usual", 50, "PreemptLowerPriority")
    finally:
        await admitted.server.delete("/apis/scheduling.k8s.io/v1/priorityclasses/usual")
