"""Calls: which webhooks are called, in which order, how often, and what a failure means."""

import asyncio
import json
from collections import Counter
from time import monotonic
from typing import Any

import pytest

from apimachinery.patch.json_patch_failures import failure_message
from tests.apis.admissionregistration.webhooks.world import (
    CONFIG_MAPS,
    GADGETS_V1,
    World,
    allow,
    answer,
    deny,
    label_by_path,
    patch_with,
    patching,
)
from tests.webhook_server import Received

pytestmark = pytest.mark.asyncio(loop_scope="package")


async def test_configurations_are_ordered_by_their_names(world: World) -> None:
    for name in ("zz", "aa", "mm"):
        await world.configure([world.webhook(name)], name=name)

    await world.create("a")

    assert world.called == ["aa", "mm", "zz"]


async def test_validating_webhooks_are_called_at_the_same_time(world: World) -> None:
    waiting = asyncio.Event()

    async def meet(received: Received) -> bytes:
        if len(world.hook.received) == 2:
            waiting.set()
        await waiting.wait()
        return allow(received)

    world.hook.answer = meet
    await world.configure(validating=[world.webhook("x"), world.webhook("y")])

    async with asyncio.timeout(5):
        assert (await world.create("a")).code == 201


async def test_all_validating_webhooks_are_called_although_one_denies(world: World) -> None:
    world.hook.answer = lambda received: (
        deny(message="no")(received) if received.path == "/x" else allow(received)
    )
    await world.configure(validating=[world.webhook("x"), world.webhook("y")])

    refused = await world.create("a")

    assert refused.code == 400
    assert sorted(world.called) == ["x", "y"]


async def test_the_first_denial_ends_mutation(world: World) -> None:
    world.hook.answer = deny()
    await world.configure([world.webhook("x"), world.webhook("y")])

    await world.create("a")

    assert world.called == ["x"]


def count_and_label(received: Received) -> bytes:
    """Count calls of `count` in the data of the object; label it at other paths."""
    obj = received.review["request"]["object"]
    if received.path != "/count":
        return label_by_path(received)
    data = {"n": str(int((obj.get("data") or {}).get("n", "0")) + 1)}
    operation = {"op": "add", "path": "/data", "value": data}
    return answer(received, allowed=True, **patching([operation]))


@pytest.mark.parametrize(
    ("first", "second", "called"),
    [
        # Changed by a later webhook: the first is called again, and not the second one.
        ("IfNeeded", "Never", ["count", "label/a", "count"]),
        # The first one's second change is reason to call the second one again.
        ("IfNeeded", "IfNeeded", ["count", "label/a", "count", "label/a"]),
        ("Never", "IfNeeded", ["count", "label/a"]),
        ("Never", "Never", ["count", "label/a"]),
    ],
)
async def test_reinvocation(world: World, first: str, second: str, called: list[str]) -> None:
    world.hook.answer = count_and_label
    await world.configure(
        [
            world.webhook("count", reinvocationPolicy=first),
            world.webhook("label/a", reinvocationPolicy=second),
        ]
    )

    created = await world.create("a")

    assert world.called == called
    assert created.body["data"] == {"n": str(called.count("count"))}


async def test_webhooks_that_change_nothing_cause_no_reinvocation(world: World) -> None:
    await world.configure([world.webhook(name, reinvocationPolicy="IfNeeded") for name in "xy"])

    await world.create("a")

    assert world.called == ["x", "y"]


async def test_no_webhook_is_called_for_the_first_time_by_a_reinvocation(world: World) -> None:
    world.hook.answer = label_by_path
    labelled = {"matchLabels": {"b": "yes"}}
    await world.configure(
        [
            world.webhook("label/a", reinvocationPolicy="IfNeeded"),
            world.webhook("label/c", reinvocationPolicy="IfNeeded", objectSelector=labelled),
            world.webhook("label/b"),
        ]
    )

    created = await world.create("a")

    assert world.called == ["label/a", "label/b", "label/a"]
    assert "c" not in created.body["metadata"]["labels"]


async def test_object_selectors_see_what_earlier_webhooks_have_changed(world: World) -> None:
    world.hook.answer = label_by_path
    labelled = {"matchLabels": {"a": "yes"}}
    await world.configure(
        [world.webhook("label/a"), world.webhook("label/b", objectSelector=labelled)]
    )

    created = await world.create("a")

    assert created.body["metadata"]["labels"] == {"a": "yes", "b": "yes"}


async def test_dry_runs_need_webhooks_without_side_effects(world: World) -> None:
    """Configurations written today have none; older ones may be stored."""
    await world.configure([world.webhook("x", sideEffects="None")])

    created = await world.request("POST", CONFIG_MAPS, {"metadata": {"name": "a"}}, dryRun="All")

    assert created.code == 201
    assert world.called == ["x"]
    assert (await world.request("GET", f"{CONFIG_MAPS}/a")).code == 404


async def test_a_slow_webhook_delays_only_its_requests(world: World) -> None:
    release = asyncio.Event()

    async def slow(received: Received) -> bytes:
        await release.wait()
        return allow(received)

    world.hook.answer = slow
    await world.configure([world.webhook("x")])
    waiting = asyncio.create_task(world.create("a"))
    async with asyncio.timeout(5):
        while not world.called:
            await asyncio.sleep(0.01)

    body: Any = {"metadata": {"generateName": "a-"}}
    other = await world.request("POST", "/api/v1/namespaces/free/configmaps", body)

    assert other.code == 201
    assert not waiting.done()
    release.set()
    assert (await waiting).code == 201


@pytest.mark.parametrize(("policy", "code"), [("Fail", 500), ("Ignore", 201)])
async def test_timeouts_are_failures(world: World, policy: str, code: int) -> None:
    async def never(received: Received) -> bytes:
        await asyncio.sleep(20)
        return allow(received)

    world.hook.answer = never
    await world.configure([world.webhook("x", timeoutSeconds=1, failurePolicy=policy)])
    started = monotonic()

    answered = await world.create("a")

    assert answered.code == code
    assert world.called == ["x"]
    assert monotonic() - started < 5
    if code == 500:
        assert answered.message.endswith('/x?timeout=1s": context deadline exceeded')


async def test_webhooks_that_cannot_be_reached(world: World) -> None:
    webhook = world.webhook("x")
    webhook["clientConfig"] = {"url": "https://127.0.0.1:1/x"}
    await world.configure(validating=[webhook])

    refused = await world.create("a")

    assert refused.message == (
        'Internal error occurred: failed calling webhook "x.example.com": failed to call webhook:'
        ' Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection'
        " refused"
    )


async def test_services_without_endpoints(world: World) -> None:
    webhook = world.webhook("x")
    webhook["clientConfig"] = {"service": {"name": "none", "namespace": "hooked"}}
    await world.configure([webhook])

    refused = await world.create("a")

    assert refused.message.endswith(
        'failed to call webhook: Post "https://none.hooked.svc:443/?timeout=10s": service "none"'
        " not found"
    )


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            {"op": "remove", "path": "/data/none"},
            'remove operation does not apply: doc is missing path: "/data/none": missing value',
        ),
        (
            {"op": "replace", "path": "/spec/x/y", "value": 1},
            "replace operation does not apply: doc is missing path: /spec/x/y: missing value",
        ),
        (
            {"op": "test", "path": "/metadata/name", "value": "zz"},
            "testing value /metadata/name failed: test failed",
        ),
        ({"op": "frob", "path": "/metadata/name"}, "Unexpected kind: frob"),
        ({"path": "/metadata/name"}, "Unexpected kind: unknown"),
        (
            {"op": "add", "path": "/data", "value": "text"},
            "json: cannot unmarshal string into Go struct field ConfigMap.data of type"
            " map[string]string",
        ),
    ],
)
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
async def test_patches_that_do_not_apply(
    world: World, operation: dict[str, Any], message: str, policy: str
) -> None:
    """They are no failures of the call, so the failure policy does not matter."""
    world.hook.answer = patch_with(operation)
    await world.configure([world.webhook("x", failurePolicy=policy)])

    refused = await world.create("a")

    assert (refused.code, refused.body["reason"]) == (500, "InternalError")
    assert refused.message == f"Internal error occurred: {message}"
    assert (await world.request("GET", f"{CONFIG_MAPS}/a")).code == 404


@pytest.mark.parametrize(
    ("document", "operation", "message"),
    [
        ({}, {"op": "add"}, "add operation failed to decode path: missing value"),
        (
            {"a": [1]},
            {"op": "add", "path": "/a/5", "value": 1},
            "error in add for path: '/a/5': Unable to access invalid index: 5: invalid index"
            " referenced",
        ),
        (
            {"a": [1]},
            {"op": "add", "path": "/a/x", "value": 1},
            "error in add for path: '/a/x': value was not a proper array index: 'x':"
            ' strconv.Atoi: parsing "x": invalid syntax',
        ),
        (
            {},
            {"op": "remove", "path": "/a"},
            "error in remove for path: '/a': Unable to remove nonexistent key: a: missing value",
        ),
        ({}, {"op": "move", "path": "/a"}, "move operation failed to decode from: missing value"),
        (
            {},
            {"op": "move", "from": "/a/b", "path": "/c"},
            "move operation does not apply: doc is missing from path: /a/b: missing value",
        ),
        (
            {"a": 1},
            {"op": "copy", "from": "/a", "path": "/b/c"},
            "copy operation does not apply: doc is missing destination path: /b/c: missing value",
        ),
        ({"a": 1}, {"op": "test", "path": "/a", "value": 1}, ""),
    ],
)
async def test_messages_about_patches(document: Any, operation: Any, message: str) -> None:
    assert failure_message(document, [operation]) == message


async def test_patches_are_validated_like_everything(world: World) -> None:
    labels = {"op": "add", "path": "/metadata/labels", "value": {"bad key!": "x"}}
    world.hook.answer = patch_with(labels)
    await world.configure([world.webhook("x")])

    refused = await world.create("a")

    assert (refused.code, refused.body["reason"]) == (422, "Invalid")
    assert refused.body["details"]["causes"][0]["field"] == "metadata.labels"


async def test_values_that_fields_refuse(world: World) -> None:
    world.hook.answer = patch_with({"op": "add", "path": "/spec/replicas", "value": 1000})
    await world.configure([world.webhook("x")])

    body = {"metadata": {"name": "a"}, "spec": {"model": "a1"}}
    refused = await world.request("POST", GADGETS_V1, body)

    assert refused.code == 422
    assert refused.body["details"]["causes"][0]["field"] == "spec.replicas"


async def test_a_patch_may_not_change_the_kind(world: World) -> None:
    world.hook.answer = patch_with({"op": "replace", "path": "/kind", "value": "Secret"})
    await world.configure([world.webhook("x")])

    refused = await world.create("a")

    assert refused.code == 500
    assert "ConfigMap" in refused.message or "Secret" in refused.message


async def test_deletions_cannot_be_patched(world: World) -> None:
    await world.create("a")
    world.hook.answer = patch_with({"op": "add", "path": "/data", "value": {}})
    await world.configure([world.webhook("x")])

    refused = await world.request("DELETE", f"{CONFIG_MAPS}/a")

    assert refused.message == (
        'Internal error occurred: admission webhook "x.example.com" attempted to modify the'
        " object, which is not supported for this operation"
    )
    await world.configure()


async def test_a_scale_can_be_changed(world: World) -> None:
    body = {"metadata": {"name": "a"}, "spec": {"model": "a1"}}
    await world.request("POST", GADGETS_V1, body)
    world.hook.answer = patch_with({"op": "add", "path": "/spec/replicas", "value": 7})
    await world.configure([world.webhook("x")])

    scaled = await world.patch(f"{GADGETS_V1}/a/scale", {"spec": {"replicas": 2}})

    assert scaled.body["spec"] == {"replicas": 7}


async def test_a_manager_does_not_own_what_a_webhook_adds(world: World) -> None:
    world.hook.answer = label_by_path
    await world.configure([world.webhook("label/a")])

    created = await world.create("a", data={"x": "1"})

    (entry,) = created.body["metadata"]["managedFields"]
    assert entry["fieldsV1"] == {"f:data": {".": {}, "f:x": {}}}


async def test_metrics(world: World) -> None:
    world.hook.answer = lambda received: (
        allow(received) if received.path == "/fine" else b"nonsense"
    )
    await world.configure(
        [world.webhook("fine"), world.webhook("ignored", failurePolicy="Ignore")],
        [world.webhook("strict")],
    )

    await world.create("a")

    text = (await world.request("GET", "/metrics")).body
    samples = Counter(line.partition("{")[0] for line in text.splitlines())
    assert samples["apiserver_admission_webhook_admission_duration_seconds_bucket"]
    prefix = "apiserver_admission_webhook_"
    fine = 'name="fine.example.com",operation="CREATE",rejected="false",type="admit"'
    assert f'{prefix}request_total{{code="200",{fine}}} 1.0' in text
    assert f'{prefix}fail_open_count{{name="ignored.example.com",type="admit"}} 1.0' in text
    rejection = 'error_type="calling_webhook_error",name="strict.example.com",operation="CREATE"'
    assert (
        f'{prefix}rejection_count{{{rejection},rejection_code="503",type="validating"}} 1.0' in text
    )


async def test_reviews_are_documents_of_the_size_that_objects_may_have(world: World) -> None:
    world.hook.answer = label_by_path
    await world.configure([world.webhook("label/a")])

    created = await world.create("a", data={f"k{n}": "x" * 1000 for n in range(900)})

    assert created.code == 201
    assert len(world.hook.received[0].body) > 900_000
    assert json.loads(world.hook.received[0].body)["request"]["object"]["kind"] == "ConfigMap"
