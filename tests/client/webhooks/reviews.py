"""Reviews as a server sends them, and what it makes of the answers."""

import base64
from functools import cache
from typing import Any

import orjson

from apimachinery.patch import json_patch
from apimachinery.scheme import Scheme
from apis.gadgets.register import add_to_scheme
from client.webhooks.webhook_routes import WebhookAnswer, WebhookRequest
from client.webhooks.webhooks import Webhooks

GROUP = "gadgets.example.io"
LAMP: dict[str, Any] = {
    "apiVersion": f"{GROUP}/v1",
    "kind": "Gadget",
    "metadata": {"name": "lamp", "namespace": "default"},
    "spec": {"model": "a1"},
}


@cache
def gadget_scheme() -> Scheme:
    scheme = Scheme()
    add_to_scheme(scheme)
    return scheme


def gadget_webhooks() -> Webhooks:
    return Webhooks(gadget_scheme())


def gadget(version: str = "v1", metadata: dict[str, Any] | None = None, **spec: Any) -> Any:
    """A gadget named lamp."""
    return {
        **LAMP,
        "apiVersion": f"{GROUP}/{version}",
        "metadata": {**LAMP["metadata"], **(metadata or {})},
        "spec": {"model": "a1", **spec},
    }


def admission_review(
    document: Any = None, old: Any = None, *, version: str = "v1", **request: Any
) -> dict[str, Any]:
    """The review of a creation, an update or a deletion."""
    shown = document or old or LAMP
    group, _, object_version = shown["apiVersion"].rpartition("/")
    operation = "UPDATE" if document and old else "CREATE" if document else "DELETE"
    return {
        "apiVersion": f"admission.k8s.io/{version}",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": group, "version": object_version, "kind": shown["kind"]},
            "resource": {"group": group, "version": object_version, "resource": "gadgets"},
            "name": shown["metadata"].get("name", ""),
            "namespace": "default",
            "operation": operation,
            "userInfo": {"username": "alice", "groups": ["devs"], "extra": {"team": ["blue"]}},
            "object": document,
            "oldObject": old,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
            **request,
        },
    }


def conversion_review(version: str, *objects: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": {"uid": "1", "desiredAPIVersion": f"{GROUP}/{version}", "objects": [*objects]},
    }


async def post(
    webhooks: Webhooks, path: str, body: Any, *, method: str = "POST", **options: str
) -> WebhookAnswer:
    """Send a request to webhooks as their server does, but without sockets."""
    data = body if isinstance(body, bytes) else orjson.dumps(body)

    async def read(limit: int) -> bytes:
        return data

    request = WebhookRequest(method, path, **{"content_type": "application/json", **options})
    return await webhooks.routes.answer(request, read)


async def review(webhooks: Webhooks, path: str, body: Any) -> dict[str, Any]:
    """Post a review and return its response."""
    answer = await post(webhooks, path, body)
    assert answer.code == 200, answer.body
    document = orjson.loads(answer.body)
    assert (document["apiVersion"], document["kind"]) == (body["apiVersion"], body["kind"])
    assert document["response"]["uid"] == body["request"]["uid"]
    response: dict[str, Any] = document["response"]
    return response


def patched(document: Any, response: dict[str, Any]) -> Any:
    """The object that a server stores after this response."""
    if "patch" not in response:
        return document
    assert response["patchType"] == "JSONPatch"
    return json_patch.apply(document, orjson.loads(base64.b64decode(response["patch"])))
