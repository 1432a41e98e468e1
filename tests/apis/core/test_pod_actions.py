"""Bindings, evictions, ephemeral containers and resizing, as a client sees them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from apis.core.install_full import FULL_CORE
from apis.kubernetes import KUBERNETES
from client.testing.app_server import InMemoryServer
from client.transport.in_process import ASGITransport
from tests.apiserver.http.driver import Answer, Driver

pytestmark = pytest.mark.asyncio(loop_scope="module")

PODS = "/api/v1/namespaces/default/pods"
BINDINGS = "/api/v1/namespaces/default/bindings"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
SUCCESS = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Success",
    "code": 201,
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Driver]:
    memory = InMemoryServer(KUBERNETES)
    async with ASGITransport(memory.app):
        yield Driver(memory.app, authorization=f"Bearer {memory.token}")


async def create_pod(server: Driver, name: str, *, metadata: Any = None, **spec: Any) -> None:
    containers = [{"name": "web", "image": "nginx"}]
    document = {
        "metadata": {"name": name, **(metadata or {})},
        "spec": {"containers": containers, **spec},
    }
    answer = await server.post(PODS, document)
    assert answer.code == 201, answer.body


async def merge(server: Driver, path: str, patch: Any) -> Answer:
    return await server.patch(path, patch)


async def run(server: Driver, name: str, *, ready: bool, **spec: Any) -> None:
    """Create a pod that runs, with its name as label."""
    await create_pod(server, name, metadata={"labels": {"app": name}}, nodeName="n", **spec)
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    status = {"phase": "Running", "conditions": [condition]}
    answer = await merge(server, f"{PODS}/{name}/status", {"status": status})
    assert answer.code == 200, answer.body


async def protect(server: Driver, name: str, *, spec: Any = None, **status: Any) -> None:
    """Create the budget of a pod."""
    document = {
        "metadata": {"name": name},
        "spec": {
            "minAvailable": 1,
            "selector": {"matchLabels": {"app": name.partition(".")[0]}},
            **(spec or {}),
        },
    }
    created = await server.post(BUDGETS, document)
    assert created.code == 201, created.body
    counts = {
        "disruptionsAllowed": 0,
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "expectedPods": 0,
        "observedGeneration": 1,
    }
    answer = await merge(server, f"{BUDGETS}/{name}/status", {"status": {**counts, **status}})
    assert answer.code == 200, answer.body


def binding(name: str, node: str = "n1", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": node}}


def eviction(name: str, **options: Any) -> dict[str, Any]:
    head = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    return {**head, "deleteOptions": options} if options else head


async def evict(server: Driver, name: str, query: str = "", **options: Any) -> Answer:
    return await server.post(f"{PODS}/{name}/eviction{query}", eviction(name, **options))


async def test_a_binding_assigns_a_node(server: Driver) -> None:
    await create_pod(server, "bound", metadata={"annotations": {"a": "1"}})

    answer = await server.post(
        f"{PODS}/bound/binding",
        binding("bound", annotations={"b": "2"}, labels={"zone": "z"}),
    )

    assert (answer.code, answer.json) == (201, SUCCESS)
    pod = (await server.get(f"{PODS}/bound")).json
    assert pod["spec"]["nodeName"] == "n1"
    assert pod["metadata"]["annotations"] == {"a": "1", "b": "2"}
    assert pod["metadata"]["labels"] == {"zone": "z"}
    assert pod["metadata"]["generation"] == 1
    (condition,) = pod["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")


async def test_the_older_resource_binds_too(server: Driver) -> None:
    await create_pod(server, "legacy")

    answer = await server.post(BINDINGS, binding("legacy"))
    missing = await server.post(BINDINGS, binding("nobody"))

    assert (answer.code, answer.json) == (201, SUCCESS)
    assert (await server.get(f"{PODS}/legacy")).json["spec"]["nodeName"] == "n1"
    assert (missing.code, missing.json["message"]) == (404, 'pods "nobody" not found')


async def test_a_dry_run_binds_nothing(server: Driver) -> None:
    await create_pod(server, "dry")

    answer = await server.post(f"{PODS}/dry/binding?dryRun=All", binding("dry"))

    assert answer.code == 201
    assert "nodeName" not in (await server.get(f"{PODS}/dry")).json["spec"]


async def test_a_pod_is_bound_once(server: Driver) -> None:
    await create_pod(server, "once", nodeName="n0")
    await create_pod(server, "gated", schedulingGates=[{"name": "example.io/g"}])

    taken = await server.post(f"{PODS}/once/binding", binding("once"))
    gated = await server.post(f"{PODS}/gated/binding", binding("gated"))

    assert (taken.code, taken.json["message"]) == (
        409,
        'Operation cannot be fulfilled on pods/binding "once": pod once is already assigned to'
        ' node "n0"',
    )
    assert (gated.code, gated.json["message"]) == (
        409,
        'Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty'
        " .spec.schedulingGates",
    )


async def test_a_binding_must_fit_its_pod(server: Driver) -> None:
    await create_pod(server, "fitting")
    path = f"{PODS}/fitting/binding"

    name = await server.post(path, binding("other"))
    target = await server.post(path, binding("fitting", node=""))
    uid = await server.post(path, binding("fitting", uid="u"))

    assert (name.code, name.json["message"]) == (
        400,
        "name in URL does not match name in Binding object",
    )
    assert (target.code, target.json["message"]) == (
        422,
        'Binding "fitting" is invalid: target.name: Required value',
    )
    assert uid.code == 409
    assert "Precondition failed: UID in precondition: u, UID in object meta:" in uid.json["message"]


async def test_a_pod_without_a_budget_is_evicted(server: Driver) -> None:
    await run(server, "free", ready=True)

    answer = await evict(server, "free")

    assert (answer.code, answer.json) == (201, SUCCESS)
    pod = (await server.get(f"{PODS}/free")).json
    assert pod["metadata"]["deletionGracePeriodSeconds"] == 30
    (target,) = [c for c in pod["status"]["conditions"] if c["type"] == "DisruptionTarget"]
    assert (target["reason"], target["message"]) == (
        "EvictionByEvictionAPI",
        "Eviction API: evicting",
    )


async def test_pods_are_evicted_where_no_budgets_are_served() -> None:
    memory = InMemoryServer([FULL_CORE])
    async with ASGITransport(memory.app):
        alone = Driver(memory.app, authorization=f"Bearer {memory.token}")
        await run(alone, "alone", ready=True)

        answer = await evict(alone, "alone")

    assert (answer.code, answer.json) == (201, SUCCESS)


async def test_a_pod_that_does_not_run_needs_no_budget(server: Driver) -> None:
    await create_pod(server, "waiting", metadata={"labels": {"app": "waiting"}})
    await protect(server, "waiting")

    assert (await evict(server, "waiting")).code == 201
    assert (await server.get(f"{PODS}/waiting")).code == 404


async def test_a_budget_refuses(server: Driver) -> None:
    await run(server, "guarded", ready=True)
    await protect(server, "guarded", currentHealthy=1, desiredHealthy=1, expectedPods=1)

    answer = await evict(server, "guarded")

    assert answer.code == 429
    assert answer.json["reason"] == "TooManyRequests"
    assert answer.json["message"] == (
        "Cannot evict pod as it would violate the pod's disruption budget."
    )
    assert answer.json["details"]["causes"] == [
        {
            "reason": "DisruptionBudget",
            "message": "The disruption budget guarded needs 1 healthy pods and has 1 currently",
        }
    ]
    pod = (await server.get(f"{PODS}/guarded")).json
    assert "deletionTimestamp" not in pod["metadata"]


async def test_a_budget_counts_what_it_allows(server: Driver) -> None:
    await run(server, "counted", ready=True)
    await protect(server, "counted", disruptionsAllowed=1, currentHealthy=2, desiredHealthy=1)

    dry = await evict(server, "counted", "?dryRun=All")
    untouched = (await server.get(f"{BUDGETS}/counted")).json["status"]
    answer = await evict(server, "counted", gracePeriodSeconds=0)

    assert (dry.code, untouched["disruptionsAllowed"]) == (201, 1)
    assert answer.code == 201
    status = (await server.get(f"{BUDGETS}/counted")).json["status"]
    assert status["disruptionsAllowed"] == 0
    assert list(status["disruptedPods"]) == ["counted"]
    assert status["conditions"][0]["reason"] == "InsufficientPods"
    assert (await server.get(f"{PODS}/counted")).code == 404


async def test_a_budget_that_is_not_observed_yet_refuses_for_a_while(server: Driver) -> None:
    await run(server, "new", ready=True)
    await protect(server, "new", observedGeneration=0, disruptionsAllowed=1)

    answer = await evict(server, "new")

    assert (answer.code, answer.json["details"]["retryAfterSeconds"]) == (429, 10)
    assert answer.json["details"]["causes"][0]["message"] == (
        "The disruption budget new is still being processed by the server."
    )


@pytest.mark.parametrize(
    ("name", "spec", "code"),
    [("sick", {}, 429), ("allowed", {"unhealthyPodEvictionPolicy": "AlwaysAllow"}, 201)],
)
async def test_unhealthy_pods_follow_the_policy(
    server: Driver, name: str, spec: Any, code: int
) -> None:
    await run(server, name, ready=False)
    await protect(server, name, spec=spec)

    assert (await evict(server, name)).code == code


async def test_an_unhealthy_pod_may_go_while_the_budget_is_met(server: Driver) -> None:
    await run(server, "spare", ready=False)
    await protect(server, "spare", currentHealthy=2, desiredHealthy=2)

    assert (await evict(server, "spare")).code == 201


async def test_a_pod_with_two_budgets_cannot_be_evicted(server: Driver) -> None:
    await run(server, "twice", ready=True)
    await protect(server, "twice.a")
    await protect(server, "twice.b")

    answer = await evict(server, "twice")

    assert (answer.code, answer.json["message"]) == (
        500,
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not"
        " support.",
    )


async def test_an_eviction_must_fit_its_pod(server: Driver) -> None:
    await run(server, "exact", ready=True)
    path = f"{PODS}/exact/eviction"

    name = await server.post(path, eviction("other"))
    uid = await evict(server, "exact", preconditions={"uid": "u"})
    version = await evict(server, "exact", preconditions={"resourceVersion": "1"})
    missing = await evict(server, "missing")

    assert (name.code, name.json["message"]) == (
        400,
        "name in URL does not match name in Eviction object",
    )
    assert (uid.code, version.code, missing.code) == (409, 409, 404)
    assert "the UID in the precondition (u) does not match the UID in record" in uid.json["message"]


async def test_ephemeral_containers_are_added_and_nothing_else(server: Driver) -> None:
    await create_pod(server, "debugged")
    path = f"{PODS}/debugged/ephemeralcontainers"
    debugger = {"name": "debug", "image": "busybox", "targetContainerName": "web"}

    patch = {
        "metadata": {"labels": {"ignored": "yes"}},
        "spec": {"ephemeralContainers": [debugger]},
    }
    answer = await server.patch(path, patch, "strategic-merge-patch+json")

    assert answer.code == 200, answer.body
    spec, metadata = answer.json["spec"], answer.json["metadata"]
    assert spec["ephemeralContainers"][0]["terminationMessagePolicy"] == "File"
    assert (metadata.get("labels"), metadata["generation"]) == (None, 2)
    assert (await server.get(path)).json["spec"] == spec

    removed = await merge(server, path, {"spec": {"ephemeralContainers": None}})
    assert (removed.code, removed.json["message"]) == (
        422,
        'Pod "debugged" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral'
        ' containers "debug" may not be removed\n',
    )


async def test_resources_are_resized_and_nothing_else(server: Driver) -> None:
    resources = {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}}
    await create_pod(
        server, "grown", containers=[{"name": "web", "image": "nginx", "resources": resources}]
    )
    path = f"{PODS}/grown/resize"
    pod = (await server.get(path)).json
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "150m"
    pod["spec"]["containers"][0]["image"] = "other"

    answer = await server.put(path, pod)

    assert answer.code == 200, answer.body
    (container,) = answer.json["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "150m"}
    assert container["image"] == "nginx"
    assert answer.json["metadata"]["generation"] == 2


async def test_the_status_and_the_spec_are_written_apart(server: Driver) -> None:
    await create_pod(server, "apart")

    status = await merge(
        server,
        f"{PODS}/apart/status",
        {"spec": {"hostname": "x"}, "status": {"phase": "Running", "podIP": "10.0.0.1"}},
    )
    spec = await merge(server, f"{PODS}/apart", {"status": {"phase": "Failed"}})

    assert status.json["status"]["podIPs"] == [{"ip": "10.0.0.1"}]
    assert "hostname" not in status.json["spec"]
    assert spec.json["status"]["phase"] == "Running"
    assert spec.json["metadata"]["generation"] == 1


async def test_a_deletion_waits_for_the_node(server: Driver) -> None:
    await create_pod(server, "leaving", nodeName="n", terminationGracePeriodSeconds=7)

    first = await server.send("DELETE", f"{PODS}/leaving")
    again = await server.send("DELETE", f"{PODS}/leaving")
    forced = await server.send("DELETE", f"{PODS}/leaving?gracePeriodSeconds=0")

    assert first.json["metadata"]["deletionGracePeriodSeconds"] == 7
    assert first.json["metadata"]["generation"] == 2
    assert again.json["metadata"]["generation"] == 2
    assert (forced.code, forced.json["kind"]) == (200, "Pod")
    assert (await server.get(f"{PODS}/leaving")).code == 404


@pytest.mark.parametrize("resource", ["bindings", "pods/binding"])
async def test_policies_see_bindings_at_both_paths(server: Driver, resource: str) -> None:
    group = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    rule = {
        "operations": ["CREATE"],
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": [resource],
    }
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "object.target.name != 'closed'"}],
    }
    policy = {"metadata": {"name": "nodes"}, "spec": spec}
    assert (await server.post(f"{group}ies", policy)).code == 201
    bound = {"policyName": "nodes", "validationActions": ["Deny"]}
    binding = {"metadata": {"name": "nodes"}, "spec": bound}
    assert (await server.post(f"{group}ybindings", binding)).code == 201
    # Consistent reads wait until the cache has the policy.
    for plural in ("ies", "ybindings"):
        await server.get(f"{group}{plural}")
    name = f"bound-{resource.replace('/', '-')}"
    await create_pod(server, name)
    path = PODS.replace("pods", resource.replace("pods/", f"pods/{name}/"))

    codes = [
        (await server.post(path, {"metadata": {"name": name}, "target": {"name": node}})).code
        for node in ("closed", "open")
    ]

    for plural in ("ies", "ybindings"):
        await server.delete(f"{group}{plural}/nodes")
        await server.get(f"{group}{plural}")
    assert codes == [422, 201]
