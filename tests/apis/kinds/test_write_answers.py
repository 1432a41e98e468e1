"""Answers to writes that differed from those of kube-apiserver before."""

from typing import Any

import pytest

from tests.apis.kinds.kind_files import Manifest, manifests
from tests.apis.kinds.kind_server import KindServer
from tests.apis.kinds.test_answers import DEFINITIONS, OPEN, definition

pytestmark = pytest.mark.asyncio(loop_scope="session")

MINIMAL = manifests("minimal")
every_kind = pytest.mark.parametrize("manifest", MINIMAL, ids=lambda manifest: manifest.name)


@every_kind
async def test_a_put_under_another_name_is_refused_first(
    kinds: KindServer, manifest: Manifest
) -> None:
    """Also if there is no object of that name."""
    name = manifest.document["metadata"]["name"]

    answer = await kinds.driver.put(
        f"{kinds.collection(manifest.document)}/absent", dict(manifest.document)
    )

    assert (answer.code, answer.json["message"]) == (
        400,
        f"the name of the object ({name}) does not match the name on the URL (absent)",
    )


async def test_a_scale_has_the_name_of_its_object(kinds: KindServer) -> None:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    path = "/apis/apps/v1/namespaces/default/deployments"
    await kinds.driver.post(path, {"metadata": {"name": "scaled"}, "spec": spec})
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "other"}}

    answer = await kinds.driver.put(f"{path}/scaled/scale", scale)

    assert (answer.code, answer.json["message"]) == (
        400,
        "the name of the object (other) does not match the name on the URL (scaled)",
    )


async def test_messages_about_new_events_name_their_group(kinds: KindServer) -> None:
    path = "/apis/events.k8s.io/v1/namespaces/default/events/absent"

    answer = await kinds.driver.get(path)

    assert answer.json["message"] == 'events.events.k8s.io "absent" not found'
    assert answer.json["details"]["group"] == "events.k8s.io"


async def test_namespaces_and_definitions_are_deleted_without_a_grace_period(
    kinds: KindServer,
) -> None:
    await kinds.driver.post("/api/v1/namespaces", {"metadata": {"name": "graceless"}})
    await kinds.create(definition("graceless.io", OPEN))

    namespace = await kinds.driver.delete("/api/v1/namespaces/graceless?dryRun=All")
    defined = await kinds.driver.delete(f"{DEFINITIONS}/foos.graceless.io?dryRun=All")

    for answer in (namespace, defined):
        assert "deletionTimestamp" in answer.json["metadata"]
        assert "deletionGracePeriodSeconds" not in answer.json["metadata"]
    assert defined.json["metadata"]["generation"] == 1


def job(labels: dict[str, str]) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": "sum"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]},
    }
    return {"metadata": {"name": "labelled", "labels": labels}, "spec": {"template": template}}


async def test_labels_of_a_job_are_those_of_its_pods_only_by_default(kinds: KindServer) -> None:
    path = "/apis/batch/v1/namespaces/default/jobs?dryRun=All"

    defaulted = (await kinds.driver.post(path, job({}))).json
    labelled = (await kinds.driver.post(path, job({"app": "sum"}))).json

    assert defaulted["metadata"]["labels"] == defaulted["spec"]["template"]["metadata"]["labels"]
    assert labelled["metadata"]["labels"] == {"app": "sum"}
    assert "job-name" in labelled["spec"]["template"]["metadata"]["labels"]


async def test_fields_of_coordinated_leader_election_are_dropped(kinds: KindServer) -> None:
    path = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    spec = {"holderIdentity": "a", "preferredHolder": "b", "strategy": "OldestEmulationVersion"}

    made = await kinds.driver.post(path, {"metadata": {"name": "plain"}, "spec": spec})
    changed = await kinds.driver.patch(f"{path}/plain", {"spec": spec})

    assert made.json["spec"] == changed.json["spec"] == {"holderIdentity": "a"}


@pytest.mark.parametrize("text", ["y", "Y", "n", "N", '!!int "5"'])
async def test_yaml_is_read_as_by_kubernetes(kinds: KindServer, text: str) -> None:
    kind = "number" if "5" in text else "bool"
    body = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: q}}\ndata: {{a: {text}}}\n"

    refused = await kinds.driver.send(
        "POST",
        "/api/v1/namespaces/default/configmaps",
        body=body.encode(),
        headers={"content-type": "application/yaml"},
    )

    assert (refused.code, refused.json["message"]) == (
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal'
        f" {kind} into Go struct field ConfigMap.data of type string",
    )


async def test_a_continue_token_that_is_no_json_is_explained_as_by_go(kinds: KindServer) -> None:
    answer = await kinds.driver.get("/api/v1/namespaces?continue=zzz")

    assert (answer.code, answer.json["message"]) == (
        400,
        "invalid continue token: continue key is not valid: invalid character '\\xcf' looking for"
        " beginning of value",
    )


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (
            {"apiVersion": "apps/v1", "kind": "Deployment"},
            "converting (v1.Deployment) to (core.ConfigMap): unknown conversion",
        ),
        ({"apiVersion": "v2"}, 'no kind "ConfigMap" is registered for version "v2"'),
    ],
)
async def test_a_patch_cannot_make_an_object_another_kind(
    kinds: KindServer, other: dict[str, str], reason: str
) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    await kinds.driver.post(path, {"metadata": {"name": "of-a-kind"}, "data": {"a": "b"}})

    answer = await kinds.driver.patch(f"{path}/of-a-kind", other)

    assert (answer.code, answer.json["reason"]) == (422, "Invalid")
    assert answer.json["message"].startswith(' "" is invalid: patch: Invalid value: ')
    assert reason in answer.json["message"]


async def test_a_strategic_patch_has_no_say_in_the_kind(kinds: KindServer) -> None:
    path = "/api/v1/namespaces/default/configmaps"
    await kinds.driver.post(path, {"metadata": {"name": "stays"}, "data": {"a": "b"}})
    patch = {"apiVersion": "apps/v1", "kind": "Deployment", "data": {"a": "c"}}

    answer = await kinds.driver.patch(f"{path}/stays", patch, "strategic-merge-patch+json")

    assert (answer.code, answer.json["kind"], answer.json["data"]) == (200, "ConfigMap", {"a": "c"})


async def test_a_patch_may_be_written_in_another_version(kinds: KindServer) -> None:
    path = "namespaces/default/horizontalpodautoscalers"
    target = {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}
    scaler = {"metadata": {"name": "h"}, "spec": {"maxReplicas": 3, "scaleTargetRef": target}}
    await kinds.driver.post(f"/apis/autoscaling/v1/{path}", scaler)

    answer = await kinds.driver.patch(
        f"/apis/autoscaling/v1/{path}/h",
        {"apiVersion": "autoscaling/v2", "spec": {"maxReplicas": 4}},
    )

    assert (answer.code, answer.json["apiVersion"]) == (200, "autoscaling/v1")
    assert answer.json["spec"]["maxReplicas"] == 4
