"""Reviews on the wire: what is refused before any function is called, and how."""

import asyncio
import base64
import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.errors import APIError, BadRequest, Forbidden
from apis.gadgets import v1, v1beta1
from client.webhooks.review_documents import (
    AdmissionVerdict,
    read_admission_review,
    read_conversion_review,
    write_admission_review,
)
from client.webhooks.webhook_routes import MAX_ADMISSION_REVIEW
from client.webhooks.webhooks import Webhooks
from tests.client.webhooks.reviews import (
    admission_review,
    conversion_review,
    gadget,
    gadget_webhooks,
    post,
    review,
)

VALIDATE = "/validate-gadgets-example-io-v1-gadget"
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
REVIEW = admission_review(gadget())


def validating() -> Webhooks:
    webhooks = gadget_webhooks()
    webhooks.validator(v1.Gadget)(lambda gadget: None)
    webhooks.converter(v1.Gadget, v1beta1.Gadget)
    return webhooks


def changed(**request: Any) -> dict[str, Any]:
    return {**REVIEW, "request": {**REVIEW["request"], **request}}


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_the_answer_has_the_version_of_the_question(version: str) -> None:
    response = await review(validating(), VALIDATE, admission_review(gadget(), version=version))

    assert response["allowed"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the request has no body"),
        (b"garbage", "the body is no AdmissionReview"),
        (b"[]", "the body is no AdmissionReview"),
        (b"{", "the body is no AdmissionReview"),
        (b'"' + b"[" * 5000, "the body is no AdmissionReview"),
        (b"[" * 5000, "the body is no AdmissionReview"),
        ({}, 'kind: Invalid value: ""'),
        ({**REVIEW, "kind": "Pod"}, 'kind: Invalid value: "Pod"'),
        ({**REVIEW, "kind": 3}, "the body is no AdmissionReview: "),
        ({**REVIEW, "apiVersion": "admission.k8s.io/v2"}, "apiVersion: Unsupported value"),
        ({**REVIEW, "request": None}, "request: Required value"),
        ({**REVIEW, "request": 3}, "the body is no AdmissionReview: "),
        (changed(uid=""), "request.uid: Required value"),
        (changed(operation="READ"), 'request.operation: Unsupported value: "READ"'),
        (changed(kind={}), "request.kind.kind: Required value"),
        (changed(dryRun="yes"), "the body is no AdmissionReview: "),
        (changed(object="x"), "the body is no AdmissionReview: "),
    ],
)
async def test_what_is_no_review_is_answered_with_400(body: Any, message: str) -> None:
    answer = await post(validating(), VALIDATE, body)

    status = orjson.loads(answer.body)
    assert answer.code == status["code"] == 400
    assert status["message"].startswith(message)


async def test_a_field_of_the_wrong_type_is_named() -> None:
    answer = await post(validating(), VALIDATE, changed(dryRun="yes"))

    assert b"dryRun" in answer.body


@pytest.mark.parametrize(
    ("path", "options", "code"),
    [
        ("/nowhere", {}, 404),
        ("/", {}, 404),
        (VALIDATE, {"method": "GET"}, 405),
        (VALIDATE, {"content_type": "text/plain"}, 415),
        (VALIDATE, {"content_type": ""}, 415),
        (VALIDATE, {"content_type": "application/json; charset=utf-8"}, 200),
        (VALIDATE, {"query": "timeout=3s"}, 200),
        (VALIDATE, {"query": "timeout=3"}, 400),
        (VALIDATE, {"query": "timeout=-3s"}, 400),
    ],
)
async def test_requests_that_are_no_call(path: str, options: dict[str, str], code: int) -> None:
    answer = await post(validating(), path, REVIEW, **options)

    assert answer.code == code
    assert (("Allow", "POST") in answer.headers) == (code == 405)


async def test_a_slow_function_is_answered_for_in_time() -> None:
    webhooks = gadget_webhooks()

    @webhooks.validator(v1.Gadget)
    async def slow(gadget: v1.Gadget) -> None:
        await asyncio.Event().wait()

    answer = await post(webhooks, VALIDATE, REVIEW, query="timeout=10ms")

    assert orjson.loads(answer.body)["response"]["status"]["code"] == 504


def test_the_largest_review_has_two_of_the_largest_objects() -> None:
    assert MAX_ADMISSION_REVIEW > 2 * 3 * 1024 * 1024


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
FIELDS = ("uid", "kind", "resource", "name", "namespace", "operation", "userInfo", "object")


@given(st.dictionaries(st.sampled_from((*FIELDS, "dryRun", "options", "oldObject")), ANY))
async def test_any_request_is_answered_or_refused(request: dict[str, Any]) -> None:
    """None of them is a failure of the server or of the function."""
    answer = await post(validating(), VALIDATE, json.dumps(changed(**request)).encode())

    assert answer.code in (200, 400)
    if answer.code == 200:
        status = orjson.loads(answer.body)["response"].get("status", {})
        assert status.get("code", 200) in (200, 400, 422)


@given(st.dictionaries(st.sampled_from(("apiVersion", "kind", "metadata", "spec", "x")), ANY))
async def test_any_object_is_answered(document: dict[str, Any]) -> None:
    webhooks = validating()
    webhooks.defaulter(v1.Gadget)(lambda gadget: None)
    body = json.dumps(changed(object=document)).encode()
    for path in (VALIDATE, VALIDATE.replace("validate", "mutate")):
        answer = await post(webhooks, path, body)
        assert answer.code == 200
        status = json.loads(answer.body)["response"].get("status", {})
        assert status.get("code", 200) in (200, 400, 422), status


@given(st.binary(max_size=60) | ANY.map(lambda value: str(value).encode()))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    for read in (read_admission_review, read_conversion_review):
        with pytest.raises(BadRequest):
            read(body)


@given(
    uid=TEXT.filter(bool),
    patch=st.lists(st.fixed_dictionaries({"op": st.just("remove"), "path": TEXT}), max_size=3),
    warnings=st.lists(TEXT, max_size=2),
    denied=st.none() | TEXT.map(Forbidden),
)
def test_an_answer_says_what_the_verdict_says(
    uid: str, patch: list[Any], warnings: list[str], denied: APIError | None
) -> None:
    verdict = AdmissionVerdict(denied=denied, patch=patch, warnings=warnings)

    response = orjson.loads(write_admission_review("admission.k8s.io/v1", uid, verdict))["response"]

    assert (response["uid"], response["allowed"]) == (uid, denied is None)
    assert response.get("warnings", []) == warnings
    sent = orjson.loads(base64.b64decode(response["patch"])) if "patch" in response else []
    assert sent == ([] if denied else patch)
    assert response.get("status", {}).get("message", "") == (denied.message if denied else "")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"request": None}, "request"),
        ({"request": {"uid": "1"}}, "request.desiredAPIVersion"),
        ({"request": {"desiredAPIVersion": "v1"}}, "request.uid"),
        ({"request": {"uid": "1", "desiredAPIVersion": "v1", "objects": 3}}, "objects"),
        ({"apiVersion": "apiextensions.k8s.io/v2"}, "apiVersion"),
    ],
)
async def test_what_is_no_conversion_review_is_answered_with_400(
    change: dict[str, Any], field: str
) -> None:
    answer = await post(validating(), "/convert", {**conversion_review("v1"), **change})

    assert answer.code == 400
    assert field in orjson.loads(answer.body)["message"]
