"""The cells of `kubectl get pods`: one word for the state of many containers."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from apimachinery.meta.types import ObjectMeta
from apis.core import v1
from apis.core.printers import pods as printers
from apis.core.printers.pod_status import summarize_pod
from apiserver.views.table import encode_cells, write_ages

ENDED = "2030-01-01T12:00:00Z"

WAITING: dict[str, Any] = {"state": {"waiting": {"reason": "ImagePullBackOff"}}}
RUNNING: dict[str, Any] = {"ready": True, "state": {"running": {}}}
COMPLETED: dict[str, Any] = {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
SIDECAR: dict[str, Any] = {"name": "i", "restartPolicy": "Always"}


def terminated(**state: Any) -> dict[str, Any]:
    return {"state": {"terminated": {"exitCode": 0, **state}}}


def statuses(*given: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"c{position}", **status} for position, status in enumerate(given)]


def pod(*, deleted: bool = False, init: Any = (), spec: Any = None, **status: Any) -> v1.Pod:
    names = [f"c{position}" for position in range(len(status.get("containerStatuses", "c")))]
    containers = [{"name": name, "image": "i"} for name in names]
    document = {"containers": containers, "initContainers": list(init), **(spec or {})}
    deletion = datetime(2030, 1, 1, tzinfo=UTC) if deleted else None
    return v1.Pod(
        metadata=ObjectMeta(name="p", deletion_timestamp=deletion),
        spec=v1.PodSpec.model_validate_json(orjson.dumps(document)),
        status=v1.PodStatus.model_validate_json(orjson.dumps(status)),
    )


def init(*given: dict[str, Any]) -> dict[str, Any]:
    return {
        "init": [{"name": f"c{position}"} for position in range(len(given))],
        "initContainerStatuses": statuses(*given),
    }


READY = [{"type": "Ready", "status": "True"}]
INITIALIZED = [{"type": "Initialized", "status": "True"}]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"phase": "Pending"}, "Pending"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        (
            {
                "phase": "Pending",
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
                ],
            },
            "SchedulingGated",
        ),
        ({"phase": "Pending", "containerStatuses": statuses(WAITING)}, "ImagePullBackOff"),
        ({"phase": "Running", "containerStatuses": statuses(RUNNING)}, "Running"),
        # The first container counts.
        ({"phase": "Running", "containerStatuses": statuses(WAITING, RUNNING)}, "ImagePullBackOff"),
        ({"phase": "Succeeded", "containerStatuses": statuses(COMPLETED)}, "Completed"),
        ({"containerStatuses": statuses(terminated(exitCode=1, reason="Error"))}, "Error"),
        ({"containerStatuses": statuses(terminated(exitCode=3))}, "ExitCode:3"),
        ({"containerStatuses": statuses(terminated(exitCode=137, signal=9))}, "Signal:9"),
        (
            {"containerStatuses": statuses(COMPLETED, RUNNING), "conditions": READY},
            "Running",
        ),
        ({"containerStatuses": statuses(COMPLETED, RUNNING)}, "NotReady"),
        (
            {"containerStatuses": statuses(COMPLETED, terminated(exitCode=1, reason="Error"))},
            "Error",
        ),
        (init(terminated(exitCode=0), {"state": {}}), "Init:1/2"),
        (init({"state": {"waiting": {"reason": "PodInitializing"}}}), "Init:0/1"),
        (init(WAITING), "Init:ImagePullBackOff"),
        (init(terminated(exitCode=1, reason="Error")), "Init:Error"),
        (init(terminated(exitCode=2)), "Init:ExitCode:2"),
        (init(terminated(exitCode=2, signal=11)), "Init:Signal:11"),
        (
            {
                **init({"state": {}}),
                "conditions": INITIALIZED,
                "containerStatuses": statuses(WAITING),
            },
            "ImagePullBackOff",
        ),
        ({"phase": "Running", "deleted": True}, "Terminating"),
        ({"phase": "Failed", "deleted": True}, "Failed"),
        ({"phase": "Running", "reason": "NodeLost", "deleted": True}, "Unknown"),
    ],
)
def test_the_status_of_a_pod(given: dict[str, Any], reason: str) -> None:
    assert printers.pod_reason(pod(**given)) == reason


def test_ready_containers_and_sidecars_are_counted() -> None:
    found = pod(
        init=[SIDECAR, {"name": "once"}],
        initContainerStatuses=[{**RUNNING, "name": "i", "started": True}],
        containerStatuses=statuses(RUNNING, WAITING),
    )

    assert printers.pod_ready(found) == "2/3"


def test_restarts_have_the_age_of_the_last_one() -> None:
    last = {"terminated": {"exitCode": 1, "finishedAt": ENDED}}
    found = pod(
        containerStatuses=statuses(
            {**RUNNING, "restartCount": 2, "lastState": last}, {**RUNNING, "restartCount": 1}
        )
    )

    cells = write_ages(
        encode_cells([printers.pod_restarts(found)]), datetime(2030, 1, 1, 12, 5, tzinfo=UTC)
    )

    assert cells == b'["3 (5m ago)"]'
    assert printers.pod_restarts(pod(containerStatuses=statuses(RUNNING))) == "0"


def test_restarts_of_init_containers_count_while_they_run() -> None:
    crashed = {**WAITING, "restartCount": 4}

    assert summarize_pod(pod(**init(crashed))).restarts == 4
    assert summarize_pod(pod(**init({**terminated(), "restartCount": 4}))).restarts == 0


def test_wide_columns() -> None:
    found = pod(
        spec={
            "nodeName": "n1",
            "readinessGates": [{"conditionType": "a"}, {"conditionType": "b"}],
        },
        podIPs=[{"ip": "10.0.0.1"}],
        nominatedNodeName="n2",
        conditions=[{"type": "a", "status": "True"}, {"type": "b", "status": "False"}],
    )

    assert [c.cell(found) for c in printers.POD_COLUMNS[3:]] == ["10.0.0.1", "n1", "n2", "1/2"]
    assert [c.cell(pod()) for c in printers.POD_COLUMNS[3:]] == ["<none>"] * 4


def test_templates_and_controllers() -> None:
    template = v1.PodTemplateSpec(
        metadata=ObjectMeta(labels={"b": "2", "a": "1"}),
        spec=v1.PodSpec(
            containers=[v1.Container(name="x", image="i:1"), v1.Container(name="y", image="j")]
        ),
    )
    controller = v1.ReplicationController(
        spec=v1.ReplicationControllerSpec(replicas=3, selector={"a": "1"}, template=template),
        status=v1.ReplicationControllerStatus(replicas=2, ready_replicas=1),
    )

    templates = [
        c.cell(v1.PodTemplate(template=template)) for c in printers.POD_TEMPLATE_COLUMNS[1:]
    ]
    controllers = [c.cell(controller) for c in printers.REPLICATION_CONTROLLER_COLUMNS]

    assert templates == ["x,y", "i:1,j", "a=1,b=2"]
    assert controllers == [3, 2, 1, "x,y", "i:1,j", "a=1"]
    assert printers.REPLICATION_CONTROLLER_COLUMNS[3].cell(v1.ReplicationController()) == ""
