"""What writes of a status change besides it, and who owns that, as in kube-apiserver."""

from typing import Any

import orjson
import pytest
import yaml

from tests.apis.kinds.kind_files import Manifest, manifests
from tests.apis.kinds.kind_server import APPLY, KindServer
from tests.apis.kinds.test_answers import DEFINITIONS, OPEN, definition

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROTECTED = {
    *("APIService", "ClusterTrustBundle", "FlowSchema", "MutatingAdmissionPolicy"),
    *("PodCertificateRequest", "PriorityLevelConfiguration", "ResourceClaim", "ServiceCIDR"),
    *("CSINode", "DeviceTaintRule", "StorageVersionMigration", "ValidatingAdmissionPolicy"),
    "VolumeAttachment",
}
"""Kinds whose metadata a write of the status cannot change."""
WITH_STATUS = [each for each in manifests("full") if "status" in each.document]


def subresources(kinds: KindServer, manifest: Manifest) -> set[str]:
    resource = kinds.endpoint(manifest.document).resource
    return {each.name for each in resource.subresources}


@pytest.mark.parametrize("manifest", WITH_STATUS, ids=lambda manifest: manifest.name)
async def test_a_status_patch_changes_the_metadata_of_most_kinds(
    kinds: KindServer, manifest: Manifest
) -> None:
    await kinds.applied(manifest)
    if "status" not in subresources(kinds, manifest):
        pytest.skip("the status is written with the object")
    change = {"metadata": {"annotations": {"noted": "yes"}, "labels": {"noted": "yes"}}}

    path = f"{kinds.path(manifest.document)}/status?dryRun=All"
    metadata = (await kinds.driver.patch(path, change)).json["metadata"]

    kind = manifest.document["kind"]
    changed = {
        name for name in ("annotations", "labels") if metadata.get(name, {}).get("noted") == "yes"
    }
    if kind in PROTECTED:
        assert changed == set()
    else:
        assert changed == ({"annotations"} if kind == "Deployment" else {"annotations", "labels"})


@pytest.mark.parametrize("manifest", WITH_STATUS, ids=lambda manifest: manifest.name)
async def test_who_applies_a_status_owns_the_metadata_that_it_can_change(
    kinds: KindServer, manifest: Manifest
) -> None:
    await kinds.applied(manifest)
    if "status" not in subresources(kinds, manifest):
        pytest.skip("the status is written with the object")
    document = orjson.loads(orjson.dumps(manifest.document))
    document["metadata"] |= {"annotations": {"noted": "yes"}, "labels": {"noted": "yes"}}

    path = f"{kinds.path(document)}/status?dryRun=All&force=true&fieldManager=noting"
    body = yaml.safe_dump(document).encode()
    applied = (await kinds.driver.send("PATCH", path, body=body, headers=APPLY)).json

    entries = applied["metadata"]["managedFields"]
    fields = next(each["fieldsV1"] for each in entries if each["manager"] == "noting")
    kind = document["kind"]
    names = {"Deployment": ["f:annotations"]}.get(kind, ["f:annotations", "f:labels"])
    assert sorted(fields.get("f:metadata", {})) == ([] if kind in PROTECTED else names)


CONDITION = {"status": {"conditions": [{"type": "Strange", "status": "True"}]}}


@pytest.mark.parametrize(
    ("path", "times"),
    [
        ("/api/v1/namespaces/default", {"lastTransitionTime"}),
        ("/api/v1/nodes/timeless", {"lastHeartbeatTime", "lastTransitionTime"}),
        ("/api/v1/namespaces/default/pods/timeless", {"lastProbeTime", "lastTransitionTime"}),
    ],
)
async def test_an_unknown_time_of_a_condition_is_null(
    kinds: KindServer, path: str, times: set[str]
) -> None:
    pod = {"metadata": {"name": "timeless"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await kinds.driver.post("/api/v1/namespaces/default/pods", pod)
    await kinds.driver.post("/api/v1/nodes", {"metadata": {"name": "timeless"}})

    answer = await kinds.driver.patch(f"{path}/status?dryRun=All", CONDITION)

    condition = next(c for c in answer.json["status"]["conditions"] if c["type"] == "Strange")
    assert {name for name, value in condition.items() if value is None} == times


async def test_nobody_owns_the_unknown_times_of_a_new_event(kinds: KindServer) -> None:
    event = {"metadata": {"name": "timeless"}, "involvedObject": {"namespace": "default"}}

    made = await kinds.driver.post("/api/v1/namespaces/default/events?dryRun=All", event)

    assert (made.json["firstTimestamp"], made.json["eventTime"]) == (None, None)
    (entry,) = made.json["metadata"]["managedFields"]
    assert entry["fieldsV1"].keys() == {"f:involvedObject"}


async def test_a_definition_always_stores_a_version(kinds: KindServer) -> None:
    await kinds.create(definition("stored.io", OPEN))

    path = f"{DEFINITIONS}/foos.stored.io/status?dryRun=All"
    patched = await kinds.driver.patch(path, {"status": None})

    assert patched.json["status"]["storedVersions"] == ["v1"]


async def test_the_status_of_a_daemon_set_does_not_count_templates(kinds: KindServer) -> None:
    template: dict[str, Any] = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    path = "/apis/apps/v1/namespaces/default/daemonsets"
    made = await kinds.driver.post(path, {"metadata": {"name": "counted"}, "spec": spec})

    count = {"deprecated.daemonset.template.generation": "7"}
    patched = await kinds.driver.patch(
        f"{path}/counted/status", {"metadata": {"annotations": count}}
    )

    assert patched.json["metadata"]["annotations"] == made.json["metadata"]["annotations"]


async def test_the_status_of_a_pod_changes_neither_owners_nor_deletion(kinds: KindServer) -> None:
    pod = {"metadata": {"name": "owned"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await kinds.driver.post("/api/v1/namespaces/default/pods", pod)
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "1"}
    change = {"deletionTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": [owner]}

    patched = await kinds.driver.patch(
        "/api/v1/namespaces/default/pods/owned/status", {"metadata": change}
    )

    assert patched.code == 200
    assert patched.json["metadata"].keys().isdisjoint(change)


MIGRATIONS = "/apis/storagemigration.k8s.io/v1/storageversionmigrations"


async def migration(kinds: KindServer, name: str) -> str:
    spec = {"resource": {"group": "apps", "resource": "deployments"}}
    await kinds.driver.post(MIGRATIONS, {"metadata": {"name": name}, "spec": spec})
    return f"{MIGRATIONS}/{name}/status"


async def test_all_errors_of_a_condition_are_reported(kinds: KindServer) -> None:
    path = await migration(kinds, "wrong")
    condition = {"type": "b ad", "status": "maybe", "reason": "a b", "observedGeneration": -1}

    answer = await kinds.driver.patch(path, {"status": {"conditions": [condition]}})

    causes = [(each["field"], each["reason"]) for each in answer.json["details"]["causes"]]
    here = "status.conditions[0]"
    assert answer.code == 422
    assert causes == [
        (f"{here}.type", "FieldValueInvalid"),
        (f"{here}.status", "FieldValueNotSupported"),
        (f"{here}.observedGeneration", "FieldValueInvalid"),
        (f"{here}.lastTransitionTime", "FieldValueRequired"),
        (f"{here}.reason", "FieldValueInvalid"),
    ]


async def test_a_missing_list_of_conditions_is_null(kinds: KindServer) -> None:
    path = await migration(kinds, "undone")
    time = "2026-01-01T00:00:00Z"
    done = {"type": "Succeeded", "status": "True", "reason": "Done", "lastTransitionTime": time}
    await kinds.driver.patch(path, {"status": {"conditions": [done]}})

    answer = await kinds.driver.patch(path, {"status": {"conditions": None}})

    (cause,) = answer.json["details"]["causes"]
    assert cause["message"].startswith("Invalid value: null: Success condition")


async def test_the_type_of_a_condition_of_a_certificate_is_reported_first(
    kinds: KindServer,
) -> None:
    (full,) = (
        each for each in manifests("full") if each.document["kind"] == "PodCertificateRequest"
    )
    await kinds.create(
        {key: full.document[key] for key in ("apiVersion", "kind", "spec")}
        | {"metadata": {"name": "unissued", "namespace": "default"}}
    )
    path = "/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests/unissued/status"

    answer = await kinds.driver.patch(path, {"status": {"conditions": [{"type": "Ready"}]}})

    assert [each["field"] for each in answer.json["details"]["causes"]] == [
        "status.conditions.[0].type",
        "status.conditions[0].status",
        "status.conditions[0].lastTransitionTime",
        "status.conditions[0].reason",
    ]
