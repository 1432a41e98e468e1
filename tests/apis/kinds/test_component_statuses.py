"""ComponentStatuses are computed when they are read: lists, selectors, forms, refused verbs."""

from typing import Any

import pytest

from apis.core.component_health import ComponentHealth
from apis.core.printers.component_statuses import COMPONENT_STATUS_COLUMNS
from apis.core.v1.component_status import ComponentStatus
from tests.apis.kinds.kind_server import KindServer

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATH = "/api/v1/componentstatuses"
WARNING = '299 - "v1 ComponentStatus is deprecated in v1.19+"'
STORE = {
    "metadata": {"name": "etcd-0"},
    "conditions": [{"type": "Healthy", "status": "True", "message": "ok"}],
}
AS = "application/json;as={};g=meta.k8s.io;v=v1"


async def test_the_store_is_listed_without_a_resource_version(kinds: KindServer) -> None:
    answer = await kinds.driver.get(PATH)

    assert answer.json == {
        "kind": "ComponentStatusList",
        "apiVersion": "v1",
        "metadata": {},
        "items": [STORE],
    }
    assert answer.all("warning") == [WARNING]


async def test_one_component_is_read_by_its_name(kinds: KindServer) -> None:
    answer = await kinds.driver.get(f"{PATH}/etcd-0")

    assert answer.json == {"kind": "ComponentStatus", "apiVersion": "v1", **STORE}
    assert answer.all("warning") == [WARNING]


async def test_an_unknown_component_is_not_found_by_its_singular(kinds: KindServer) -> None:
    answer = await kinds.driver.get(f"{PATH}/scheduler")

    assert answer.code == 404
    assert answer.json["message"] == 'componentstatus "scheduler" not found'
    assert answer.json["details"] == {"name": "scheduler", "kind": "componentstatus"}


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("fieldSelector=metadata.name=etcd-0", 1),
        ("fieldSelector=metadata.name!=etcd-0", 0),
        ("fieldSelector=metadata.name=other", 0),
        ("fieldSelector=metadata.namespace=", 1),
        ("labelSelector=a=b", 0),
        ("labelSelector=!a", 1),
        ("limit=1&continue=abc&resourceVersion=99999999", 1),
        ("resourceVersion=abc", 1),
    ],
)
async def test_selectors_filter_and_versions_mean_nothing(
    kinds: KindServer, query: str, count: int
) -> None:
    answer = await kinds.driver.get(f"{PATH}?{query}")

    assert answer.code == 200, answer.json
    assert len(answer.json["items"]) == count


async def test_an_unknown_field_label_is_refused(kinds: KindServer) -> None:
    answer = await kinds.driver.get(f"{PATH}?fieldSelector=a=b")

    assert answer.code == 400
    assert answer.json["message"] == (
        '"a" is not a known field selector: only "metadata.name", "metadata.namespace"'
    )


@pytest.mark.parametrize("path", [PATH, f"{PATH}/etcd-0"])
async def test_a_table_shows_status_message_and_error(kinds: KindServer, path: str) -> None:
    table = (await kinds.driver.get(path, accept=AS.format("Table"))).json

    names = [column["name"] for column in table["columnDefinitions"]]
    assert names == ["Name", "Status", "Message", "Error"]
    assert table["metadata"] == {}
    assert [row["cells"] for row in table["rows"]] == [["etcd-0", "Healthy", "ok", ""]]
    assert table["rows"][0]["object"]["metadata"] == {"name": "etcd-0"}


async def test_metadata_alone_is_read_and_listed(kinds: KindServer) -> None:
    kind = "PartialObjectMetadata"
    one = await kinds.driver.get(f"{PATH}/etcd-0", accept=AS.format(kind))
    several = await kinds.driver.get(PATH, accept=AS.format(f"{kind}List"))

    assert one.json["metadata"] == {"name": "etcd-0"}
    assert [item["metadata"] for item in several.json["items"]] == [{"name": "etcd-0"}]


async def test_a_list_has_a_protobuf_form(kinds: KindServer) -> None:
    answer = await kinds.driver.get(PATH, accept="application/vnd.kubernetes.protobuf")

    assert answer.body.startswith(b"k8s\x00")
    assert b"ComponentStatusList" in answer.body
    assert b"\x0a\x07Healthy\x12\x04True\x1a\x02ok" in answer.body


@pytest.mark.parametrize(
    ("method", "path", "code", "message"),
    [
        (
            "GET",
            f"{PATH}?watch=1",
            405,
            'watch is not supported on resources of kind "componentstatuses"',
        ),
        (
            "GET",
            "/api/v1/watch/componentstatuses",
            404,
            "the server could not find the requested resource",
        ),
        ("POST", PATH, 405, "the server does not allow this method on the requested resource"),
        (
            "DELETE",
            f"{PATH}/etcd-0",
            405,
            "the server does not allow this method on the requested resource",
        ),
    ],
)
async def test_other_verbs_are_refused(
    kinds: KindServer, method: str, path: str, code: int, message: str
) -> None:
    answer = await kinds.driver.send(method, path)

    assert (answer.code, answer.json["message"]) == (code, message)


async def test_openapi_does_not_mark_the_operations_as_deprecated(kinds: KindServer) -> None:
    """Kubernetes deprecates them by a warning only."""
    document = (await kinds.driver.get("/openapi/v3/api/v1")).json
    operation: dict[str, Any] = document["paths"][PATH]["get"]

    assert operation["operationId"] == "listCoreV1ComponentStatus"
    assert "deprecated" not in operation


async def test_each_member_of_the_store_is_a_component_with_its_problem() -> None:
    async def check_store() -> list[str]:
        return ["", "no answer"]

    statuses = await ComponentHealth(check_store)()

    rows = [[column.cell(status) for column in COMPONENT_STATUS_COLUMNS] for status in statuses]
    assert rows == [["etcd-0", "Healthy", "ok", ""], ["etcd-1", "Unhealthy", "", "no answer"]]


async def test_without_a_condition_the_health_is_unknown() -> None:
    cells = [column.cell(ComponentStatus()) for column in COMPONENT_STATUS_COLUMNS]

    assert cells == ["", "Unknown", "", ""]
