"""Defaulters and validators: what functions get, and what servers are answered."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.errors import Forbidden
from apimachinery.fieldpath import FieldError, FieldErrors, Path, invalid
from apimachinery.scheme import NotRegistered
from apis.core.v1 import Pod
from apis.gadgets import types as internal
from apis.gadgets import v1, v1beta1
from apis.gadgets.validation import validate_gadget
from client.webhooks import AdmissionRequest
from tests.client.webhooks.reviews import (
    admission_review,
    gadget,
    gadget_webhooks,
    patched,
    post,
    review,
)

MUTATE = "/mutate-gadgets-example-io-v1-gadget"
VALIDATE = "/validate-gadgets-example-io-v1-gadget"


async def test_a_patch_has_the_changes_of_the_function_and_the_defaults_of_the_class() -> None:
    webhooks = gadget_webhooks()

    @webhooks.defaulter(v1.Gadget)
    def more(gadget: v1.Gadget) -> None:
        gadget.spec.replicas += 1

    lamp = gadget(unknown={"kept": True})
    response = await review(webhooks, MUTATE, admission_review(lamp))

    assert response["allowed"]
    stored = patched(lamp, response)
    assert stored["spec"] == {
        "model": "a1",
        "unknown": {"kept": True},
        "replicas": 2,
        "timeoutSeconds": 60,
        **({"parts": stored["spec"]["parts"]} if "parts" in stored["spec"] else {}),
    }


async def test_nothing_changed_is_no_patch() -> None:
    webhooks = gadget_webhooks()
    webhooks.defaulter(v1.Gadget)(lambda gadget: None)
    first = await review(webhooks, MUTATE, admission_review(gadget()))
    complete = patched(gadget(), first)

    response = await review(webhooks, MUTATE, admission_review(complete))

    assert response == {"uid": response["uid"], "allowed": True}


async def test_the_defaults_of_the_version_are_part_of_the_patch() -> None:
    webhooks = gadget_webhooks()
    webhooks.defaulter(v1beta1.Gadget)(lambda gadget: None)
    lamp = gadget("v1beta1", model="")

    response = await review(
        webhooks, "/mutate-gadgets-example-io-v1beta1-gadget", admission_review(lamp)
    )

    assert patched(lamp, response)["spec"]["model"] == "standard"


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_a_function_of_the_internal_class_reviews_every_version(version: str) -> None:
    webhooks = gadget_webhooks()

    @webhooks.defaulter(internal.Gadget)
    def longer(gadget: internal.Gadget) -> None:
        gadget.spec.timeout *= 2

    lamp = gadget(version, color="red") if version == "v1beta1" else gadget(version)
    response = await review(webhooks, MUTATE, admission_review(lamp))

    spec = patched(lamp, response)["spec"]
    assert spec.get("timeoutSeconds") == 120 or spec.get("timeout") == "2m0s"
    assert spec.get("color") == lamp["spec"].get("color"), "the version has it, the class has not"


async def test_field_errors_reject_with_causes_named_as_in_the_version() -> None:
    webhooks = gadget_webhooks()

    @webhooks.validator(internal.Gadget)
    def no_timeout(gadget: internal.Gadget) -> FieldErrors:
        yield invalid(Path("spec", "timeout"), 60, "too short")
        yield invalid(Path("spec", "replicas"), 1, "too few")

    response = await review(webhooks, VALIDATE, admission_review(gadget()))

    assert not response["allowed"]
    status = response["status"]
    assert (status["code"], status["reason"], status["status"]) == (422, "Invalid", "Failure")
    assert status["message"] == (
        'Gadget.gadgets.example.io "lamp" is invalid: [spec.timeoutSeconds: Invalid value: 60:'
        " too short, spec.replicas: Invalid value: 1: too few]"
    )
    assert [cause["field"] for cause in status["details"]["causes"]] == [
        "spec.timeoutSeconds",
        "spec.replicas",
    ]


async def test_values_that_the_class_refuses_are_errors_of_their_fields() -> None:
    webhooks = gadget_webhooks()
    webhooks.validator(v1.Gadget)(lambda gadget: None)

    response = await review(webhooks, VALIDATE, admission_review(gadget(replicas=101)))

    assert response["status"]["code"] == 422
    assert response["status"]["details"]["causes"][0]["field"] == "spec.replicas"


async def test_an_update_is_not_rejected_for_errors_that_the_stored_object_has() -> None:
    webhooks = gadget_webhooks()
    webhooks.validator(internal.Gadget)(validate_gadget)
    old = gadget(replicas=101, parts=[{"name": "a"}, {"name": "a"}])
    same = gadget(metadata={"labels": {"a": "b"}}, **old["spec"])
    worse = gadget(replicas=101, parts=[*old["spec"]["parts"], {"name": "a"}])

    assert (await review(webhooks, VALIDATE, admission_review(same, old)))["allowed"]
    refused = await review(webhooks, VALIDATE, admission_review(worse, old))

    assert [cause["field"] for cause in refused["status"]["details"]["causes"]] == [
        "spec.parts[2].name"
    ]


async def test_the_request_is_available_to_the_function() -> None:
    webhooks = gadget_webhooks()
    seen: list[AdmissionRequest[v1.Gadget]] = []

    @webhooks.validator(v1.Gadget, operations=["CREATE", "UPDATE", "DELETE"])
    async def look(gadget: v1.Gadget, request: AdmissionRequest[v1.Gadget]) -> None:
        seen.append(request)
        request.warn(f"{request.operation} of {gadget.metadata.name}")
        request.audit_annotations["seen"] = "yes"

    created = await review(webhooks, VALIDATE, admission_review(gadget(), dryRun=True))
    await review(webhooks, VALIDATE, admission_review(gadget(replicas=3), gadget()))
    deleted = await review(webhooks, VALIDATE, admission_review(None, gadget()))

    create, update, delete = seen
    assert created["warnings"] == ["CREATE of lamp"]
    assert created["auditAnnotations"] == {"seen": "yes"}
    assert deleted["warnings"] == ["DELETE of lamp"]
    assert (create.user.username, create.user.extra) == ("alice", {"team": ["blue"]})
    assert create.dry_run
    assert create.old is None
    assert update.old is not None
    assert update.object is not None
    assert (update.old.spec.replicas, update.object.spec.replicas) == (1, 3)
    assert delete.object is None
    assert delete.old is not None


async def test_an_error_of_the_api_is_the_answer() -> None:
    webhooks = gadget_webhooks()

    @webhooks.validator(v1.Gadget)
    def closed(gadget: v1.Gadget) -> None:
        raise Forbidden("the shop is closed")

    response = await review(webhooks, VALIDATE, admission_review(gadget()))

    assert response["status"] == {
        "status": "Failure",
        "message": "the shop is closed",
        "reason": "Forbidden",
        "code": 403,
    }


async def test_an_answer_that_cannot_be_written_is_a_500() -> None:
    """Without an answer the server would only know that the connection has ended."""
    webhooks = gadget_webhooks()

    @webhooks.validator(v1.Gadget)
    def check(gadget: v1.Gadget, request: AdmissionRequest[v1.Gadget]) -> None:
        warnings: list[Any] = request.warnings
        warnings.append(object())

    answer = await post(webhooks, VALIDATE, admission_review(gadget()))

    assert answer.code == 500
    assert b"TypeError" in answer.body


async def test_a_bug_is_a_500_with_a_traceback_in_the_log(caplog: Any) -> None:
    webhooks = gadget_webhooks()

    @webhooks.validator(v1.Gadget)
    def broken(gadget: v1.Gadget) -> None:
        raise KeyError("size")

    response = await review(webhooks, VALIDATE, admission_review(gadget()))

    assert response["status"]["code"] == 500
    assert "KeyError: 'size'" in response["status"]["message"]
    record = caplog.records[-1]
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert "CREATE default/lamp" in record.getMessage()


async def test_a_defaulter_that_returns_an_object_is_a_bug() -> None:
    webhooks = gadget_webhooks()
    returning: Any = lambda gadget: gadget  # noqa: E731
    webhooks.defaulter(v1.Gadget)(returning)

    response = await review(webhooks, MUTATE, admission_review(gadget()))

    assert "a defaulter changes its argument" in response["status"]["message"]


async def test_errors_may_come_from_an_asynchronous_generator() -> None:
    webhooks = gadget_webhooks()

    @webhooks.validator(v1.Gadget)
    async def check(gadget: v1.Gadget) -> AsyncIterator[FieldError]:
        await asyncio.sleep(0)
        yield invalid(Path("spec"), "x", "no")

    response = await review(webhooks, VALIDATE, admission_review(gadget()))

    assert response["status"]["code"] == 422


async def test_large_objects_are_reviewed_as_well() -> None:
    webhooks = gadget_webhooks()

    @webhooks.defaulter(v1.Gadget)
    def more(gadget: v1.Gadget) -> None:
        gadget.spec.replicas = 7

    lamp = gadget(metadata={"annotations": {"a": "x" * 200_000}})
    response = await review(webhooks, MUTATE, admission_review(lamp, lamp))

    assert patched(lamp, response)["spec"]["replicas"] == 7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"object": None}, "request.object: Required value"),
        ({"kind": {"group": "", "version": "v1", "kind": "Pod"}}, "request.kind: Unsupported"),
        (
            {"object": {**gadget(), "spec": 3}},
            'Gadget in version "v1" cannot be handled as a Gadget',
        ),
        ({"operation": "DELETE", "object": None}, "request.oldObject: Required value"),
    ],
)
async def test_a_review_that_is_not_for_this_webhook_is_denied_with_400(
    change: dict[str, Any], message: str
) -> None:
    webhooks = gadget_webhooks()
    webhooks.validator(v1.Gadget)(lambda gadget: None)

    response = await review(webhooks, VALIDATE, admission_review(gadget(), **change))

    assert response["status"]["code"] == 400
    assert response["status"]["message"].startswith(message)


def test_what_cannot_work_is_refused_when_it_is_registered() -> None:
    webhooks = gadget_webhooks()
    webhooks.validator(v1.Gadget)(lambda gadget: None)

    with pytest.raises(ValueError, match="already exists"):
        webhooks.validator(internal.Gadget)(lambda gadget: None)
    with pytest.raises(NotRegistered):
        webhooks.validator(Pod)
    with pytest.raises(ValueError, match="created or updated"):
        webhooks.defaulter(v1.Gadget, operations=["DELETE"])(lambda gadget: None)
    with pytest.raises(TypeError, match="must take the object"):
        webhooks.validator(v1.Gadget, path="/other", name="a.b.c")(lambda: None)  # type: ignore


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    replicas=st.integers(0, 100),
    labels=st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=3),
    parts=st.lists(st.text(min_size=1, max_size=3), max_size=4, unique=True),
    unknown=st.dictionaries(st.text(min_size=1, max_size=3).map("x{}".format), JSON, max_size=3),
)
async def test_the_patch_leads_to_the_object_that_the_function_made(
    replicas: int, labels: dict[str, str], parts: list[str], unknown: dict[str, Any]
) -> None:
    webhooks = gadget_webhooks()

    @webhooks.defaulter(v1.Gadget)
    def change(gadget: v1.Gadget) -> None:
        gadget.spec.replicas = replicas
        gadget.metadata.labels = labels
        gadget.spec.parts.reverse()

    lamp = gadget(parts=[{"name": name, "x": name} for name in parts], **unknown)
    stored = patched(lamp, await review(webhooks, MUTATE, admission_review(lamp)))

    assert stored["spec"]["replicas"] == replicas
    assert stored["metadata"].get("labels", {}) == labels
    shown = [(part["name"], part["x"]) for part in stored["spec"].get("parts", [])]
    assert shown == [(name, name) for name in reversed(parts)]
    assert {name: stored["spec"][name] for name in unknown} == unknown
