"""Answers of webhooks: what a client receives for each of them, word for word as Kubernetes."""

import json
import logging
from typing import Any

import pytest

from tests.apis.admissionregistration.webhooks.world import (
    CONFIG_MAPS,
    World,
    allow,
    answer,
    deny,
    label_by_path,
    patch_with,
    patching,
    reply,
)
from tests.webhook_server import Answer, Received, Reply

pytestmark = pytest.mark.asyncio(loop_scope="package")

STRUCT = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\"";'
    ' Kind string "json:\\"kind,omitempty\\"" }'
)


def document(**fields: Any) -> Answer:
    """Return an answer with the given fields beside those of a review; None removes one."""

    def respond(received: Received) -> bytes:
        review = {**json.loads(allow(received)), **fields}
        return json.dumps({key: value for key, value in review.items() if value != ""}).encode()

    return respond


def response(**fields: Any) -> Answer:
    def respond(received: Received) -> bytes:
        review = json.loads(allow(received))
        review["response"] |= fields
        return json.dumps(review).encode()

    return respond


FAILURES: list[tuple[Answer, str]] = [
    (
        reply(b"hello"),
        "failed to call webhook: couldn't get version/kind; json parse error: json: cannot"
        f" unmarshal string into Go value of type {STRUCT}",
    ),
    (
        reply(b"[1]"),
        "failed to call webhook: couldn't get version/kind; json parse error: json: cannot"
        f" unmarshal array into Go value of type {STRUCT}",
    ),
    (
        lambda received: Reply(b"\x1f\x8b", 200, {"Content-Encoding": "gzip"}),
        "failed to call webhook: unexpected error when reading response body. Please retry."
        ' Original error: the answer has the content encoding "gzip"',
    ),
    (reply(b"k8s\x00abc"), "failed to call webhook: the answer is neither JSON nor YAML"),
    (reply(b"{}"), "received invalid webhook response: webhook response was absent"),
    (
        document(response=None),
        "received invalid webhook response: webhook response was absent",
    ),
    (
        document(apiVersion="admission.k8s.io/v1beta1"),
        "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview):"
        " unknown conversion",
    ),
    (
        document(apiVersion="v1", kind="Status", status="Failure", message="no"),
        "failed to call webhook: converting (v1.Status) to (v1.AdmissionReview):"
        " unknown conversion",
    ),
    (
        document(apiVersion="", kind=""),
        "received invalid webhook response: expected webhook response of admission.k8s.io/v1,"
        " Kind=AdmissionReview, got /, Kind=",
    ),
    (
        response(allowed="yes"),
        "failed to call webhook: json: cannot unmarshal string into Go struct field"
        " AdmissionResponse.response.allowed of type bool",
    ),
    (
        response(status="no"),
        "failed to call webhook: json: cannot unmarshal string into Go struct field"
        " AdmissionResponse.response.status of type v1.Status",
    ),
    (
        response(patch="!!!", patchType="JSONPatch"),
        "failed to call webhook: illegal base64 data at input byte 0",
    ),
    (
        reply(b""),
        "failed to call webhook: 0-length response with status code: 200 and content type:"
        " application/json",
    ),
    (
        reply(b"oops", 500, "text/plain"),
        'failed to call webhook: an error on the server ("oops") has prevented the request from'
        " succeeding",
    ),
    (
        reply(b"404 page not found\n", 404, "text/plain"),
        "failed to call webhook: the server could not find the requested resource",
    ),
    (
        reply(b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"inner"}', 500),
        "failed to call webhook: inner",
    ),
    (
        response(patch="W10="),
        "received invalid webhook response: webhook returned response.patch but not"
        " response.patchType",
    ),
    (
        response(patchType="JSONPatch"),
        "received invalid webhook response: webhook returned response.patchType but not"
        " response.patch",
    ),
    (
        response(patch="W10=", patchType=""),
        'received invalid webhook response: webhook returned invalid response.patchType of ""',
    ),
    (
        response(patch="W3sib3AiOiJhZGQifV0=", patchType="MergePatch"),
        'unsupported patch type "MergePatch"',
    ),
    (
        lambda received: answer(received, allowed=True, **patching(b"garbage")),
        "received undecodable patch in webhook response: invalid character 'g' looking for"
        " beginning of value",
    ),
    (
        lambda received: answer(received, allowed=True, **patching({"op": "add"})),
        "received undecodable patch in webhook response: json: cannot unmarshal object into Go"
        " value of type jsonpatch.Patch",
    ),
]


@pytest.mark.parametrize(("respond", "reason"), FAILURES)
async def test_nonsense_fails_the_call(world: World, respond: Answer, reason: str) -> None:
    world.hook.answer = respond
    await world.configure([world.webhook("x")])

    refused = await world.create("a")

    expected = f'failed calling webhook "x.example.com": {reason}'
    assert refused.code == 500
    assert refused.message == f"Internal error occurred: {expected}"
    assert refused.body["reason"] == "InternalError"
    assert refused.body["details"] == {"causes": [{"message": expected}]}


async def test_another_uid_is_named(world: World) -> None:
    world.hook.answer = response(uid="zz")
    await world.configure([world.webhook("x")])

    refused = await world.create("a")

    uid = world.requests[0]["uid"]
    assert refused.message.endswith(
        f'received invalid webhook response: expected response.uid="{uid}", got "zz"'
    )


@pytest.mark.parametrize("respond", [respond for respond, _ in FAILURES])
async def test_failures_are_ignored_where_the_policy_says_so(world: World, respond: Answer) -> None:
    world.hook.answer = respond
    await world.configure([world.webhook("x", failurePolicy="Ignore")])

    assert (await world.create("a")).code == 201


@pytest.mark.parametrize(
    ("status", "code", "reason", "text"),
    [
        ({}, 400, None, "without explanation"),
        ({"message": "no way"}, 400, None, "no way"),
        ({"reason": "Because"}, 400, "Because", "Because"),
        ({"code": 418, "message": "teapot", "reason": "Tea"}, 418, "Tea", "teapot"),
        ({"code": 200, "message": "fine", "status": "Success"}, 400, None, "fine"),
        ({"code": 700, "message": "big"}, 700, None, "big"),
        ({"code": 99999, "message": "no code of HTTP"}, 500, None, "no code of HTTP"),
    ],
)
@pytest.mark.parametrize("mutating", [True, False])
async def test_denials(
    world: World, mutating: bool, status: dict[str, Any], code: int, reason: str, text: str
) -> None:
    world.hook.answer = deny(**status)
    # The failure policy is about failures, not about denials.
    webhooks = [world.webhook("x", failurePolicy="Ignore")]
    await world.configure(webhooks if mutating else (), () if mutating else webhooks)

    refused = await world.create("a")

    separator = " " if text == "without explanation" else ": "
    assert (refused.code, refused.body.get("reason")) == (code, reason)
    assert refused.body["status"] == "Failure"
    assert refused.message == (
        f'admission webhook "x.example.com" denied the request{separator}{text}'
    )
    assert (await world.request("GET", "/api/v1/namespaces/hooked/configmaps/a")).code == 404


async def test_the_details_of_a_denial_are_passed_on(world: World) -> None:
    details = {
        "name": "n",
        "kind": "K",
        "causes": [{"reason": "R", "message": "M", "field": "f"}],
        "retryAfterSeconds": 3,
    }
    world.hook.answer = deny(code=422, message="m", reason="Invalid", details=details)
    await world.configure(validating=[world.webhook("x")])

    refused = await world.create("a")

    assert refused.code == 422
    assert refused.body["details"] == details


@pytest.mark.parametrize("code", [200, 201])
@pytest.mark.parametrize("media_type", ["application/json", "text/plain"])
async def test_the_media_type_of_an_answer_does_not_matter(
    world: World, code: int, media_type: str
) -> None:
    world.hook.answer = lambda received: reply(allow(received), code, media_type)(received)
    await world.configure([world.webhook("x")], [world.webhook("y")])

    assert (await world.create("a")).code == 201


async def test_answers_may_be_yaml(world: World) -> None:
    def respond(received: Received) -> bytes:
        uid = received.review["request"]["uid"]
        text = (
            "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\n"
            f"response: {{uid: {uid}, allowed: true}}\n"
        )
        return text.encode()

    world.hook.answer = respond
    await world.configure([world.webhook("x")])

    assert (await world.create("a")).code == 201


async def test_unknown_fields_of_an_answer_are_ignored(world: World) -> None:
    world.hook.answer = response(more=2)
    await world.configure([world.webhook("x")])

    assert (await world.create("a")).code == 201


async def test_warnings_are_headers(world: World) -> None:
    world.hook.answer = lambda received: answer(
        received, allowed=True, warnings=['careful "x"', "café"]
    )
    await world.configure([world.webhook("x")])

    created = await world.create("a")

    assert created.warnings == ['299 - "careful \\"x\\""', '299 - "café"']


async def test_denials_may_warn(world: World) -> None:
    world.hook.answer = lambda received: answer(received, allowed=False, warnings=["why"])
    await world.configure(validating=[world.webhook("x")])

    refused = await world.create("a")

    assert (refused.code, refused.warnings) == (400, ['299 - "why"'])


async def test_validating_webhooks_may_not_patch(world: World) -> None:
    world.hook.answer = patch_with({"op": "add", "path": "/data", "value": {}})
    await world.configure(validating=[world.webhook("x")])

    refused = await world.create("a")

    assert refused.message.endswith(
        "received invalid webhook response: validating webhook may not return response.patch"
    )


@pytest.mark.parametrize(
    ("respond", "code"),
    [
        (response(uid="other"), 201),
        (document(apiVersion="", kind=""), 201),
        (response(patch="W10="), 201),
        (document(apiVersion="admission.k8s.io/v1"), 500),
        (document(response=None), 500),
    ],
)
async def test_v1beta1_is_less_strict(world: World, respond: Answer, code: int) -> None:
    world.hook.answer = respond
    await world.configure([world.webhook("x", admissionReviewVersions=["v1beta1", "v1"])])

    assert (await world.create("a")).code == code
    assert world.hook.received[0].review["apiVersion"] == "admission.k8s.io/v1beta1"


async def test_patches_are_applied_in_order_of_the_webhooks(world: World) -> None:
    world.hook.answer = label_by_path
    await world.configure([world.webhook("label/b"), world.webhook("label/a")])

    created = await world.create("a")

    assert created.body["metadata"]["labels"] == {"a": "yes", "b": "yes"}
    assert world.requests[1]["object"]["metadata"]["labels"] == {"b": "yes"}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"manager": "x"}, "operation must be `Apply` or `Update`"),
        (
            {
                "manager": "x",
                "operation": "Apply",
                "apiVersion": "v1",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"bad": {}},
            },
            'error decoding set of managed fields entry 0: fieldsV1: "bad": missing colon',
        ),
    ],
)
async def test_damaged_owners_of_fields_are_restored(
    world: World, entry: dict[str, Any], problem: str
) -> None:
    operation = {"op": "add", "path": "/metadata/managedFields", "value": [entry]}
    world.hook.answer = patch_with(operation)
    await world.configure([world.webhook("x")])
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}}

    created = await world.create("a")
    # The owners of fields can be read: the object can be applied.
    again = await world.request(
        "PATCH",
        f"{CONFIG_MAPS}/a",
        applied,
        content_type="application/apply-patch+yaml",
        fieldManager="applier",
    )

    for response in (created, again):
        assert response.code in (200, 201), response.message
        assert [text for text in response.warnings if problem.split('"')[0] in text]
    managers = [each["manager"] for each in again.body["metadata"]["managedFields"]]
    assert "applier" in managers
    assert "x" not in managers


async def test_audit_annotations_are_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    annotations = {"why": "x" * 2000, **{f"k{number}": "v" for number in range(100)}}
    world.hook.answer = lambda received: answer(
        received, allowed=True, auditAnnotations=annotations
    )
    await world.configure([world.webhook("x")])

    with caplog.at_level(logging.INFO, "apis.admissionregistration"):
        await world.create("noted")

    (line,) = [text for text in caplog.messages if text.startswith("audit annotations of request")]
    assert "x.example.com/why': 'xxx" in line
    assert len(line) < 3000


async def test_long_messages_of_errors_are_cut(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    status = {"kind": "Status", "apiVersion": "v1", "message": "long" * 100_000}
    world.hook.answer = reply(json.dumps(status).encode(), 500)
    await world.configure([world.webhook("x")])

    refused = await world.create("a")

    assert "longlong" in refused.message
    assert len(refused.message) < 11_000
    assert max(map(len, caplog.messages)) < 11_000
