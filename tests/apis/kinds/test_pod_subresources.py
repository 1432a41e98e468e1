"""The owners of fields after writes to subresources of pods, as kube-apiserver records them."""

from typing import Any

import orjson
import pytest

from tests.apis.kinds.kind_server import APPLY, KindServer
from tests.apiserver.http.driver import Answer

pytestmark = pytest.mark.asyncio(loop_scope="session")

PODS = "/api/v1/namespaces/default/pods"
REQUEST = {"resources": {"requests": {"cpu": "200m"}}}
CPU: dict[str, Any] = {"f:resources": {"f:requests": {"f:cpu": {}}}}
EPHEMERAL = {"name": "e", "image": "x"}


def pod(name: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container]}}


async def created(kinds: KindServer, name: str) -> str:
    answer = await kinds.driver.post(f"{PODS}?fieldManager=creator", pod(name))
    assert answer.code == 201, answer.json
    return f"{PODS}/{name}"


async def apply(kinds: KindServer, path: str, spec: Any, query: str = "fieldManager=m") -> Answer:
    name = path.split("/")[-2]
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    return await kinds.driver.send(
        "PATCH", f"{path}?{query}", body=orjson.dumps(document), headers=APPLY
    )


def owned(answer: Answer, subresource: str) -> Any:
    """Return what the writer of a subresource owns."""
    assert answer.code == 200, answer.json["message"]
    entries = answer.json["metadata"]["managedFields"]
    return next(e["fieldsV1"] for e in entries if e.get("subresource") == subresource)


async def test_a_resize_owns_also_what_it_may_not_change(kinds: KindServer) -> None:
    path = await created(kinds, "resized")
    change = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {
            "activeDeadlineSeconds": 5,
            "containers": [{"name": "c", "image": "i", **REQUEST}],
        },
    }

    answer = await kinds.driver.patch(f"{path}/resize", change)

    assert "labels" not in answer.json["metadata"]
    assert "activeDeadlineSeconds" not in answer.json["spec"]
    assert owned(answer, "resize") == {
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
        "f:spec": {
            "f:activeDeadlineSeconds": {},
            "f:containers": {'k:{"name":"c"}': CPU},
        },
    }


async def test_an_update_of_ephemeral_containers_owns_what_it_sends(kinds: KindServer) -> None:
    path = await created(kinds, "debugged")
    document = (await kinds.driver.get(path)).json
    document["metadata"]["labels"] = {"a": "b"}
    document["spec"]["ephemeralContainers"] = [EPHEMERAL]

    answer = await kinds.driver.put(f"{path}/ephemeralcontainers", document)

    fields = owned(answer, "ephemeralcontainers")
    assert "labels" not in answer.json["metadata"]
    assert fields["f:metadata"] == {"f:labels": {".": {}, "f:a": {}}}
    assert fields["f:spec"].keys() == {"f:ephemeralContainers"}


async def test_ephemeral_containers_can_be_applied(kinds: KindServer) -> None:
    path = await created(kinds, "applied-ephemeral") + "/ephemeralcontainers"

    answer = await apply(kinds, path, {"ephemeralContainers": [EPHEMERAL]})

    assert owned(answer, "ephemeralcontainers") == {
        "f:spec": {
            "f:ephemeralContainers": {'k:{"name":"e"}': {".": {}, "f:image": {}, "f:name": {}}}
        }
    }
    removed = await apply(kinds, path, {})
    assert (removed.code, removed.json["message"]) == (
        422,
        'Pod "applied-ephemeral" is invalid: spec.ephemeralContainers: Forbidden:'
        ' existing ephemeral containers "e" may not be removed\n',
    )


async def test_a_resize_can_be_applied_and_conflicts(kinds: KindServer) -> None:
    path = await created(kinds, "applied-resize") + "/resize"
    spec = {"containers": [{"name": "c", **REQUEST}]}

    refused = await apply(kinds, path, spec)
    forced = await apply(kinds, path, spec, "fieldManager=m&force=true")

    assert (refused.code, refused.json["message"]) == (
        409,
        'Apply failed with 1 conflict: conflict with "creator" using v1:'
        ' .spec.containers[name="c"].resources.requests.cpu',
    )
    assert forced.json["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "200m"}
    assert owned(forced, "resize") == {
        "f:spec": {"f:containers": {'k:{"name":"c"}': {".": {}, "f:name": {}, **CPU}}}
    }


async def test_an_apply_to_a_subresource_creates_nothing(kinds: KindServer) -> None:
    answer = await apply(kinds, f"{PODS}/nothing/resize", {})

    assert (answer.code, answer.json["message"]) == (404, 'pods "nothing" not found')


async def test_nobody_owns_the_completed_resources_of_a_pod(kinds: KindServer) -> None:
    whole = {"limits": {"memory": "1Gi"}}
    document = pod("completed")
    document["spec"]["resources"] = whole
    created = await kinds.driver.post(f"{PODS}?fieldManager=creator", document)

    change = {"spec": {"resources": {"limits": {"cpu": "1"}}}}
    resized = await kinds.driver.patch(f"{PODS}/completed/resize", change)

    (entry,) = created.json["metadata"]["managedFields"]
    assert entry["fieldsV1"]["f:spec"]["f:resources"] == {
        ".": {},
        "f:limits": {".": {}, "f:memory": {}},
    }
    assert created.json["spec"]["resources"]["requests"] == {"cpu": "100m", "memory": "1Gi"}
    assert resized.json["spec"]["resources"] == {
        "limits": {"cpu": "1", "memory": "1Gi"},
        "requests": {"cpu": "100m", "memory": "1Gi"},
    }
    assert owned(resized, "resize") == {"f:spec": {"f:resources": {"f:limits": {"f:cpu": {}}}}}


async def test_an_apply_that_changes_nothing_has_no_time(kinds: KindServer) -> None:
    path = await created(kinds, "co-owned")

    applied = await apply(kinds, path + "/resize", {"containers": [{"name": "c"}]})

    (entry,) = (e for e in applied.json["metadata"]["managedFields"] if e["manager"] == "m")
    assert "time" not in entry


@pytest.mark.parametrize(
    ("validation", "code"), [("Warn", 201), ("Strict", 400)], ids=["warn", "strict"]
)
async def test_an_eviction_may_be_of_v1beta1(kinds: KindServer, validation: str, code: int) -> None:
    path = await created(kinds, f"evicted-{code}")
    document = {"apiVersion": "policy/v1beta1", "kind": "Eviction", "foo": 1}
    document["metadata"] = {"name": f"evicted-{code}"}

    answer = await kinds.driver.post(f"{path}/eviction?fieldValidation={validation}", document)

    assert answer.code == code
    assert (await kinds.driver.get(path)).code == (404 if code == 201 else 200)


async def test_a_budget_is_no_eviction(kinds: KindServer) -> None:
    path = await created(kinds, "unevicted")

    answer = await kinds.driver.post(
        f"{path}/eviction", {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    )

    assert (answer.code, answer.json["message"]) == (
        400,
        'PodDisruptionBudget in version "v1" cannot be handled as a Eviction: converting'
        " (v1.PodDisruptionBudget) to (policy.Eviction): unknown conversion",
    )
