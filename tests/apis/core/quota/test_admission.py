"""Quotas as clients meet them: what is refused, with which message, and what is counted."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from apimachinery.scalars.quantity import Quantity
from apimachinery.schema import GroupResource, GroupVersionResource
from apis.core.quota.types import PendingCharge, ResourceQuota
from apiserver.config import ServerConfig
from apiserver.context import context_for
from tests.apis.core.quota.quota_server import WAIT, Namespace, Server, config_map, serving
from tests.apis.core.quota.scenarios import (
    RESOURCE_API,
    claim,
    container,
    device_claim,
    pod,
    selector,
    service,
)
from tests.apiserver.http.driver import Answer

GPU = "quota.example.com/gpu"

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Server]:
    async with serving() as running:
        yield running


async def test_an_object_beyond_the_quota_is_refused(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "2", "count/configmaps": "5"})
    await here.created("configmaps", config_map("a"))
    await here.created("configmaps", config_map("b"))

    answer = await here.create("configmaps", config_map("c"))

    assert answer.code == 403
    assert answer.json["message"] == (
        'configmaps "c" is forbidden: exceeded quota: q, requested: configmaps=1,'
        " used: configmaps=2, limited: configmaps=2"
    )
    await here.used({"configmaps": "2", "count/configmaps": "2"})


async def test_a_deletion_releases_what_was_used(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "1"})
    await here.created("configmaps", config_map("a"))
    await here.driver.delete(here.path("configmaps", "a"))

    await here.used({"configmaps": "0"})

    await here.created("configmaps", config_map("a"))


async def test_a_resize_is_charged_for_what_it_adds(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"requests.cpu": "2"})
    await here.created("pods", pod(container(cpu="1")))

    refused = await resize(here, "3")
    granted = await resize(here, "1500m")

    assert refused.json["message"] == (
        'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=2,'
        " used: requests.cpu=1, limited: requests.cpu=2"
    )
    assert granted.code == 200
    await here.used({"requests.cpu": "1500m"})


async def resize(here: Namespace, cpu: str) -> Answer:
    resources = {"requests": {"cpu": cpu}}
    return await here.driver.patch(
        here.path("pods", "p") + "/resize",
        {"spec": {"containers": [{"name": "a", "resources": resources}]}},
        "strategic-merge-patch+json",
    )


async def test_a_pod_that_has_ended_releases_what_it_requests(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"requests.cpu": "2", "pods": "1", "count/pods": "1"})
    await here.created("pods", pod(container(cpu="1")))

    await here.driver.patch(here.path("pods", "p") + "/status", {"status": {"phase": "Failed"}})

    await here.used({"requests.cpu": "0", "pods": "0", "count/pods": "1"})


async def test_a_service_that_needs_ports_is_charged_for_them(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"services.nodeports": "1"})
    await here.created("services", service())
    two = [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]

    spec = {"type": "NodePort", "ports": two}
    refused = await here.driver.patch(here.path("services", "s"), {"spec": spec})
    granted = await here.driver.patch(here.path("services", "s"), {"spec": {"type": "NodePort"}})

    assert refused.json["message"] == (
        'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=2,'
        " used: services.nodeports=0, limited: services.nodeports=1"
    )
    assert granted.code == 200
    await here.used({"services.nodeports": "1"})
    await here.driver.patch(here.path("services", "s"), {"spec": {"type": "ClusterIP"}})
    await here.used({"services.nodeports": "0"})


async def test_a_claim_is_charged_for_its_growth_also_as_reported(server: Server) -> None:
    """What the status reports has happened: it counts, and is not refused."""
    here = await server.namespace()
    await here.quota({"requests.storage": "3Gi"})
    await here.created("persistentvolumeclaims", claim("1Gi"))

    status = {"allocatedResources": {"storage": "4Gi"}}
    path = here.path("persistentvolumeclaims", "c") + "/status"
    answer = await here.driver.patch(path, {"status": status})

    assert answer.code == 200, answer.body
    await here.used({"requests.storage": "4Gi"})
    other = {**claim("1Gi"), "metadata": {"name": "other"}}
    assert (await here.create("persistentvolumeclaims", other)).code == 403


async def test_a_dry_run_is_checked_and_not_charged(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "1"})

    allowed = await here.create("configmaps", config_map("a"), query="?dryRun=All")
    before = await here.status()
    await here.created("configmaps", config_map("b"))
    refused = await here.create("configmaps", config_map("a"), query="?dryRun=All")

    assert (allowed.code, before["used"]) == (201, {"configmaps": "0"})
    assert refused.code == 403


async def test_a_creation_that_is_refused_by_the_store_is_given_back_at_once(
    server: Server,
) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "5"})
    await here.created("configmaps", config_map("a"))

    answer = await here.create("configmaps", config_map("a"))

    assert answer.code == 409
    assert (await here.status())["used"] == {"configmaps": "1"}


async def test_all_quotas_of_a_namespace_must_allow_a_write(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "9"}, "a")
    await here.quota({"configmaps": "0"}, "b")

    answer = await here.create("configmaps", config_map("x"))

    assert "exceeded quota: b," in answer.json["message"]
    assert (await here.status("a"))["used"] == {"configmaps": "0"}


async def test_a_quota_below_the_use_refuses_more_and_takes_nothing(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "3"})
    for name in ("a", "b", "c"):
        await here.created("configmaps", config_map(name))

    hard = {"configmaps": "1", "secrets": "1"}
    await here.driver.patch(here.path("resourcequotas", "q"), {"spec": {"hard": hard}})
    await here.until(lambda status: status["hard"] == hard)
    refused = await here.create("configmaps", config_map("d"))

    assert refused.json["message"].endswith("used: configmaps=3, limited: configmaps=1")
    await here.used({"configmaps": "3", "secrets": "0"})
    await here.driver.delete(here.path("configmaps"))
    await here.used({"configmaps": "0", "secrets": "0"})


async def test_an_update_of_a_counted_object_costs_nothing(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "1"})
    await here.created("configmaps", config_map("a"))

    answer = await here.driver.patch(here.path("configmaps", "a"), {"data": {"x": "y"}})

    assert answer.code == 200


async def test_a_put_that_creates_is_charged(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "0"})
    apply = here.path("configmaps", "a") + "?fieldManager=me"

    answer = await here.driver.patch(
        apply,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
        "apply-patch+yaml",
    )

    assert answer.code == 403, answer.body


async def test_custom_resources_count_as_soon_as_they_are_served(server: Server) -> None:
    here = await server.namespace()
    name = "count/widgets.quota.example.com"
    await here.quota({name: "1"})
    await server.driver.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", WIDGETS)
    await here.used({name: "0"})
    api = "/apis/quota.example.com/v1"

    async with asyncio.timeout(WAIT):
        while (await here.create("widgets", widget("a"), api=api)).code == 404:
            await asyncio.sleep(0.01)
    answer = await here.create("widgets", widget("b"), api=api)

    assert answer.json["message"] == (
        f'widgets.quota.example.com "b" is forbidden: exceeded quota: q, requested: {name}=1,'
        f" used: {name}=1, limited: {name}=1"
    )


def widget(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "quota.example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name},
    }


WIDGETS = {
    "metadata": {"name": "widgets.quota.example.com"},
    "spec": {
        "group": "quota.example.com",
        "names": {"plural": "widgets", "kind": "Widget"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


async def test_devices_count_as_the_extended_resource_of_their_class(server: Server) -> None:
    here = await server.namespace()
    extended, implicit = f"requests.{GPU}", "requests.deviceclass.resource.kubernetes.io/gpus"
    await here.quota({extended: "3", implicit: "9"})
    # Nothing is counted until the class says what its devices are.
    claims = device_claim({"name": "a", "exactly": {"deviceClassName": "gpus", "count": 2}})
    first = await here.create("resourceclaims", claims, api=RESOURCE_API)
    device_class = {"metadata": {"name": "gpus"}, "spec": {"extendedResourceName": GPU}}
    await here.driver.post(f"{RESOURCE_API}/deviceclasses", device_class)
    await here.used({extended: "2", implicit: "2"})

    claims["metadata"]["name"] = "e"
    second = await here.create("resourceclaims", claims, api=RESOURCE_API)

    assert first.code == 201
    assert second.json["message"].partition(" is forbidden: ")[2] == (
        f"exceeded quota: q, requested: {extended}=2, used: {extended}=2, limited: {extended}=3"
    )


async def test_a_claim_for_a_pod_counts_beyond_what_the_pod_requests(server: Server) -> None:
    """The scheduler creates such a claim for the extended resources of a pod."""
    here = await server.namespace()
    name = f"requests.{GPU}"
    device_class = {"metadata": {"name": "gpus"}, "spec": {"extendedResourceName": GPU}}
    await here.driver.post(f"{RESOURCE_API}/deviceclasses", device_class)
    await here.quota({name: "9"})
    resources = {GPU: "2"}
    created = await here.created(
        "pods",
        pod({**container(), "resources": {"requests": resources, "limits": resources}}),
    )
    uid = created["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": True}

    for number in ("first", "second"):
        claims = device_claim({"name": "a", "exactly": {"deviceClassName": "gpus", "count": 3}})
        claims["metadata"] = {
            "name": number,
            "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
            "ownerReferences": [owner],
        }
        answer = await here.create("resourceclaims", claims, api=RESOURCE_API)
        assert answer.code == 201, answer.body

    # Two of the pod, one more of the claim for it, and three of a claim that only says so.
    await here.used({name: "6"})


async def test_clients_do_not_see_pending_charges_and_cannot_remove_them(server: Server) -> None:
    here = await server.namespace()
    await here.quota({"configmaps": "5"})
    store = server.app.groups.store(GroupResource("", "resourcequotas"))

    def charge(quota: ResourceQuota) -> ResourceQuota:
        pending = PendingCharge(id="x", resource="configmaps", name="n", uid="u")
        pending.used = {"configmaps": Quantity(1)}
        quota.status.pending = [pending]
        quota.status.used = {"configmaps": Quantity(1)}
        return quota

    context = context_for(
        "update", GroupVersionResource("", "v1", "resourcequotas"), namespace=here.name, name="q"
    )
    await store.rewrite("q", charge, context)
    path = here.path("resourcequotas", "q")
    answer = await here.driver.patch(f"{path}/status", {"metadata": {"labels": {"a": "b"}}})
    await here.driver.patch(path, {"metadata": {"labels": {"c": "d"}}})

    assert sorted(answer.json["status"]) == ["hard", "used"]
    stored = await store.read("q", namespace=here.name)
    assert [charge.id for charge in stored.status.pending] == ["x"]
    assert (await here.status())["used"] == {"configmaps": "1"}


async def test_what_is_limited_by_default_needs_a_quota(tmp_path: Path) -> None:
    file = tmp_path / "admission.yaml"
    file.write_text(CONFIGURATION)
    config = ServerConfig(admission_control_config_file=file)
    async with serving(config=config) as server:
        here = await server.namespace()

        gold = await here.create("persistentvolumeclaims", claim("1Gi", storageClassName="gold"))
        plain = await here.create("persistentvolumeclaims", claim("1Gi"))
        critical = pod(priorityClassName="system-cluster-critical")
        uncovered = await here.create("pods", critical)
        await here.quota({"pods": "3"}, **selector("PriorityClass", "Exists"))
        covered = await here.create("pods", critical)

    assert gold.json["message"] == (
        'persistentvolumeclaims "c" is forbidden: insufficient quota to consume:'
        " gold.storageclass.storage.k8s.io/requests.storage"
    )
    assert plain.code == 201
    assert uncovered.json["message"] == (
        'pods "p" is forbidden: insufficient quota to match these scopes:'
        " [{PriorityClass In [system-cluster-critical]}]"
    )
    assert covered.code == 201, covered.body


CONFIGURATION = """
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources:
    - resource: persistentvolumeclaims
      matchContains: [".storageclass.storage.k8s.io/requests.storage"]
    - resource: pods
      matchScopes:
      - {scopeName: PriorityClass, operator: In, values: ["system-cluster-critical"]}
"""
