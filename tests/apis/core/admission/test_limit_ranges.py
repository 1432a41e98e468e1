"""The defaults and bounds of LimitRanges, and how each violation is worded."""

from typing import Any

import pytest

from apis.core.admission.limit_checks import pod_errors
from apis.core.v1.limit_range import LimitRange
from apis.core.v1.pod import Pod
from tests.apis.admitted import STRATEGIC, Admitted, container, reason
from tests.apis.validating import decoded

pytestmark = pytest.mark.asyncio(loop_scope="session")

LIMITS = [
    {
        "type": "Container",
        "default": {"cpu": "500m", "memory": "64Mi"},
        "defaultRequest": {"cpu": "250m"},
        "min": {"cpu": "100m"},
        "max": {"cpu": "1", "memory": "1Gi"},
        "maxLimitRequestRatio": {"cpu": "4"},
    },
    {"type": "Pod", "max": {"cpu": "2"}},
    {"type": "PersistentVolumeClaim", "min": {"storage": "1Gi"}, "max": {"storage": "5Gi"}},
]


async def limited(admitted: Admitted, limits: Any = LIMITS) -> str:
    """Create a namespace with limits."""
    namespace = await admitted.namespace()
    document = {"metadata": {"name": "limits"}, "spec": {"limits": limits}}
    await admitted.create("limitranges", document, namespace=namespace)
    return namespace


def using(requests: dict[str, str], limits: dict[str, str], name: str = "c") -> dict[str, Any]:
    return container(name, resources={"requests": requests, "limits": limits})


async def test_containers_get_defaults_and_the_pod_says_so(admitted: Admitted) -> None:
    namespace = await limited(admitted)
    spec = {"containers": [container("a")], "initContainers": [using({"cpu": "200m"}, {}, "b")]}

    pod = await admitted.create(
        "pods", {"metadata": {"name": "p"}, "spec": spec}, namespace=namespace
    )

    resources = [pod["spec"][name][0]["resources"] for name in ("containers", "initContainers")]
    assert resources == [
        {
            "limits": {"cpu": "500m", "memory": "64Mi"},
            "requests": {"cpu": "250m", "memory": "64Mi"},
        },
        {
            "limits": {"cpu": "500m", "memory": "64Mi"},
            "requests": {"cpu": "200m", "memory": "64Mi"},
        },
    ]
    assert pod["metadata"]["annotations"] == {
        "kubernetes.io/limit-ranger": (
            "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for"
            " container a; memory request for init container b; cpu, memory limit for init"
            " container b"
        )
    }


async def test_a_pod_with_everything_is_left_alone(admitted: Admitted) -> None:
    namespace = await limited(admitted)
    amounts = {"cpu": "250m", "memory": "64Mi"}
    spec = {"containers": [using(amounts, amounts)]}

    pod = await admitted.create(
        "pods", {"metadata": {"name": "p"}, "spec": spec}, namespace=namespace
    )

    assert "annotations" not in pod["metadata"]


@pytest.mark.parametrize(
    ("containers", "violations"),
    [
        (
            [using({}, {"cpu": "3"})],
            [
                "maximum cpu usage per Container is 1, but limit is 3",
                "maximum cpu usage per Pod is 2, but limit is 3",
            ],
        ),
        (
            [using({"cpu": "50m"}, {})],
            [
                "minimum cpu usage per Container is 100m, but request is 50m",
                "cpu max limit to request ratio per Container is 4,"
                " but provided ratio is 10.000000",
            ],
        ),
        (
            [using({"cpu": "0"}, {"cpu": "0"})],
            [
                "minimum cpu usage per Container is 100m, but request is 0",
                "cpu max limit to request ratio per Container is 4,"
                " but no request is specified or request is 0",
            ],
        ),
        (
            [using({}, {"cpu": "1"}, name) for name in "abc"],
            ["maximum cpu usage per Pod is 2, but limit is 3"],
        ),
    ],
)
async def test_pods_keep_the_bounds(
    admitted: Admitted, containers: Any, violations: list[str]
) -> None:
    namespace = await limited(admitted)

    refusal = await admitted.refusal(namespace=namespace, containers=containers)

    text = ", ".join(violations)
    assert refusal == (f"[{text}]" if len(violations) > 1 else text)


@pytest.mark.parametrize(
    ("bound", "requests", "limits", "expected"),
    [
        ({"min": {"x": "1"}}, {}, {}, "minimum x usage per Container is 1.  No request is"),
        ({"min": {"x": "1"}}, {"x": "1"}, {"x": "0"}, "but limit is 0"),
        ({"max": {"x": "1"}}, {}, {}, "maximum x usage per Container is 1.  No limit is"),
        ({"max": {"x": "1"}}, {"x": "2"}, {"x": "1"}, "but request is 2"),
        ({"max": {"x": "1500m"}}, {}, {"x": "1501m"}, "but limit is 1501m"),
        ({"max": {"x": "9E"}}, {}, {"x": "9100P"}, "but limit is 9100P"),
        ({"maxLimitRequestRatio": {"x": "2"}}, {"x": "1"}, {}, "but no limit is specified"),
        ({"maxLimitRequestRatio": {"x": "1500m"}}, {"x": "2"}, {"x": "4"}, "ratio is 2.000000"),
    ],
)
async def test_bounds_of_containers(bound: Any, requests: Any, limits: Any, expected: str) -> None:
    item = {"type": "Container", **bound}
    limit_range = decoded(LimitRange, {"spec": {"limits": [item]}})
    limit_range.spec.limits[0].default = {}
    pod = decoded(Pod, {"spec": {"containers": [using({}, {})]}})
    made = decoded(Pod, {"spec": {"containers": [using(requests, limits)]}})
    pod.spec.containers[0].resources.limits = made.spec.containers[0].resources.limits
    if requests:
        pod.spec.containers[0].resources.requests = made.spec.containers[0].resources.requests

    [error] = pod_errors(limit_range, pod)

    assert expected in error


async def test_requirements_of_the_pod_as_a_whole_count(admitted: Admitted) -> None:
    namespace = await limited(admitted)

    refusal = await admitted.refusal(
        namespace=namespace, resources={"limits": {"cpu": "3"}, "requests": {"cpu": "3"}}
    )

    assert refusal == "maximum cpu usage per Pod is 2, but limit is 3"


async def test_a_resize_keeps_the_bounds(admitted: Admitted) -> None:
    namespace = await limited(admitted)
    await admitted.pod(namespace=namespace, metadata={"name": "p"})
    change = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "50m"}}}]}

    answer = await admitted.server.patch(
        f"/api/v1/namespaces/{namespace}/pods/p/resize",
        {"spec": change},
        kind=STRATEGIC,
    )

    assert reason(answer).startswith("[minimum cpu usage per Container is 100m, but request is 50m")


async def test_another_update_of_a_pod_is_not_checked(admitted: Admitted) -> None:
    namespace = await admitted.namespace()
    await admitted.pod(namespace=namespace, metadata={"name": "p"})
    document = {"metadata": {"name": "limits"}, "spec": {"limits": LIMITS}}
    await admitted.create("limitranges", document, namespace=namespace)
    path = f"/api/v1/namespaces/{namespace}/pods/p"

    answer = await admitted.server.patch(path, {"metadata": {"labels": {"a": "b"}}})

    assert answer.code == 200


@pytest.mark.parametrize(
    ("size", "violation"),
    [
        ("500Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi"),
        ("6Gi", "maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi"),
        ("2Gi", ""),
    ],
)
async def test_claims_keep_the_bounds(admitted: Admitted, size: str, violation: str) -> None:
    namespace = await limited(admitted)
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}

    answer = await admitted.server.post(
        f"/api/v1/namespaces/{namespace}/persistentvolumeclaims",
        {"metadata": {"name": "c"}, "spec": spec},
    )

    assert (reason(answer) if violation else answer.code) == (violation or 201)
