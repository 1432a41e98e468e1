"""A conversion webhook for widgets, whose v1 has a color and whose v2 has a colour."""

from base64 import b64encode
from collections.abc import Callable
from typing import Any

import orjson

from tests.apiserver.extensions.definitions import version
from tests.webhook_server import Received, WebhookServer

V1 = "/apis/example.io/v1/namespaces/default/widgets"
V2 = "/apis/example.io/v2/namespaces/default/widgets"
FIELD = {"v1": "color", "v2": "colour"}

Document = dict[str, Any]
Edit = Callable[[Document], object]


def converted(obj: Document, api_version: str) -> Document:
    spec = dict(obj.get("spec") or {})
    source, target = (FIELD[each.rpartition("/")[2]] for each in (obj["apiVersion"], api_version))
    if source in spec:
        spec[target] = spec.pop(source)
    return {**obj, "apiVersion": api_version, **({"spec": spec} if "spec" in obj else {})}


def convert(received: Received, edit: Edit = lambda answer: None) -> bytes:
    """Answer a review; *edit* may change the answer before it is sent."""
    review = received.review
    request = review["request"]
    objects = [converted(obj, request["desiredAPIVersion"]) for obj in request["objects"]]
    answer: Document = {
        "kind": review["kind"],
        "apiVersion": review["apiVersion"],
        "response": {
            "uid": request["uid"],
            "result": {"status": "Success"},
            "convertedObjects": objects,
        },
    }
    edit(answer)
    return orjson.dumps(answer)


def conversion(hook: WebhookServer, *review_versions: str) -> Document:
    return {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {
                "url": hook.url("/convert"),
                "caBundle": b64encode(hook.ca).decode(),
            },
            "conversionReviewVersions": list(review_versions or ("v1", "v1beta1")),
        },
    }


def versions(stored: str = "v1", **fields: Any) -> list[Document]:
    return [
        version(name, storage=name == stored, **_having(name), **fields) for name in ("v1", "v2")
    ]


def _having(name: str) -> Document:
    spec = {
        "type": "object",
        "properties": {FIELD[name]: {"type": "string"}, "replicas": {"type": "integer"}},
    }
    status = {"type": "object", "properties": {"replicas": {"type": "integer"}}}
    properties = {"spec": spec, "status": status}
    return {"schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}}


def reviews(hook: WebhookServer) -> list[Document]:
    """The requests that the webhook has received."""
    return [received.review["request"] for received in hook.received]


def widget(name: str = "lamp", color: str = "red", *, api: str = "v1", **more: Any) -> Document:
    return {
        "apiVersion": f"example.io/{api}",
        "kind": "Widget",
        "metadata": {"name": name, **more},
        "spec": {FIELD[api]: color},
    }
