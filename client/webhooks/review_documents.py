"""Review documents: AdmissionReview and ConversionReview, as servers send them and expect answers.

A server posts a review with a request and reads the same review with a response. Versions v1 and
v1beta1 have the same form; the answer has the version of the question. A document that is no
review is refused with an error that names the field, before any function of a user is called.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import orjson

from apimachinery.codec import dump_json
from apimachinery.errors import APIError, BadRequest
from apimachinery.fieldpath import quote
from apimachinery.meta.status import Status
from apimachinery.meta.types import TypeMeta
from apimachinery.model import model as models
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.model import Model
from apimachinery.scalars.wire_types import RawExtension
from apimachinery.schema import GroupVersionKind, GroupVersionResource

DocumentT = TypeVar("DocumentT", bound=TypeMeta)

ADMISSION_VERSIONS: Final = ("admission.k8s.io/v1", "admission.k8s.io/v1beta1")
CONVERSION_VERSIONS: Final = ("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1")

CREATE: Final = "CREATE"
UPDATE: Final = "UPDATE"
DELETE: Final = "DELETE"
CONNECT: Final = "CONNECT"
OPERATIONS: Final = (CREATE, UPDATE, DELETE, CONNECT)


class UserInfo(Model):
    """The user whose request is reviewed."""

    username: str = ""
    uid: str = ""
    groups: list[str] = models.field(default_factory=list)
    extra: dict[str, list[str]] = models.field(default_factory=dict)


class ReviewedKind(Model):
    """A kind in a review."""

    group: str = ""
    version: str = ""
    kind: str = ""

    @property
    def gvk(self) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, self.kind)


class ReviewedResource(Model):
    """A resource in a review."""

    group: str = ""
    version: str = ""
    resource: str = ""

    @property
    def gvr(self) -> GroupVersionResource:
        return GroupVersionResource(self.group, self.version, self.resource)


class ReviewRequest(Model):
    """The request of an AdmissionReview: one write that a server is about to make."""

    uid: str = ""
    kind: ReviewedKind = models.field(default_factory=ReviewedKind)
    resource: ReviewedResource = models.field(default_factory=ReviewedResource)
    sub_resource: str = ""
    request_kind: ReviewedKind | None = None
    request_resource: ReviewedResource | None = None
    request_sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    operation: str = ""
    user_info: UserInfo = models.field(default_factory=UserInfo)
    object: RawExtension | None = None
    old_object: RawExtension | None = None
    dry_run: bool = False
    options: RawExtension | None = None


class AdmissionReviewDocument(TypeMeta):
    """An AdmissionReview as it is posted."""

    request: ReviewRequest | None = None


class ConversionOrder(Model):
    """The request of a ConversionReview."""

    uid: str = ""
    desired_api_version: str = models.field("", wire="desiredAPIVersion")
    objects: list[RawExtension] = models.field(default_factory=list)


class ConversionReviewDocument(TypeMeta):
    """A ConversionReview as it is posted."""

    request: ConversionOrder | None = None


@dataclass(slots=True)
class AdmissionVerdict:
    """The response to one AdmissionReview."""

    denied: APIError | None = None
    patch: Sequence[Any] = ()
    warnings: list[str] = field(default_factory=list)
    audit_annotations: dict[str, str] = field(default_factory=dict)

    @property
    def code(self) -> int:
        return self.denied.code if self.denied is not None else 200


def read_admission_review(body: bytes) -> tuple[str, ReviewRequest]:
    """Return the apiVersion of an AdmissionReview and its request. Raises BadRequest."""
    review = _decode(AdmissionReviewDocument, body, "AdmissionReview", ADMISSION_VERSIONS)
    request = review.request
    if request is None:
        raise BadRequest("request: Required value: the AdmissionReview has no request")
    _require_uid(request.uid)
    if request.operation not in OPERATIONS:
        raise BadRequest(
            f"request.operation: Unsupported value: {quote(request.operation)}:"
            f" supported values: {', '.join(map(quote, OPERATIONS))}"
        )
    if not request.kind.kind:
        raise BadRequest("request.kind.kind: Required value")
    return review.api_version, request


def read_conversion_review(body: bytes) -> tuple[str, ConversionOrder]:
    """Return the apiVersion of a ConversionReview and its request. Raises BadRequest."""
    review = _decode(ConversionReviewDocument, body, "ConversionReview", CONVERSION_VERSIONS)
    request = review.request
    if request is None:
        raise BadRequest("request: Required value: the ConversionReview has no request")
    _require_uid(request.uid)
    if not request.desired_api_version:
        raise BadRequest("request.desiredAPIVersion: Required value")
    return review.api_version, request


def write_admission_review(api_version: str, uid: str, verdict: AdmissionVerdict) -> bytes:
    """Encode the answer to an AdmissionReview."""
    response: dict[str, Any] = {"uid": uid, "allowed": verdict.denied is None}
    if verdict.denied is not None:
        response["status"] = _status_document(verdict.denied.status)
    elif verdict.patch:
        response["patch"] = base64.b64encode(encode_json(verdict.patch)).decode()
        response["patchType"] = "JSONPatch"
    if verdict.warnings:
        response["warnings"] = verdict.warnings
    if verdict.audit_annotations:
        response["auditAnnotations"] = verdict.audit_annotations
    return _answer(api_version, "AdmissionReview", response)


def write_conversion_review(
    api_version: str, uid: str, converted: Sequence[Mapping[str, Any]] | str
) -> bytes:
    """Encode the answer to a ConversionReview: the converted objects, or why there are none."""
    failed = isinstance(converted, str)
    result = {"status": "Failure", "message": converted} if failed else {"status": "Success"}
    response = {"uid": uid, "result": result, "convertedObjects": [] if failed else converted}
    return _answer(api_version, "ConversionReview", response)


def encode_json(value: Any) -> bytes:
    """Encode a JSON value, even with the numbers that only the slower encoder can write."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value).encode()


def _decode(cls: type[DocumentT], body: bytes, kind: str, versions: Sequence[str]) -> DocumentT:
    try:
        type_meta = decode_json(TypeMeta, body, find_unknown=False).object
        if type_meta.kind != kind:
            raise BadRequest(
                f"kind: Invalid value: {quote(type_meta.kind)}: the body must be of kind {kind}"
            )
        if type_meta.api_version not in versions:
            raise BadRequest(
                f"apiVersion: Unsupported value: {quote(type_meta.api_version)}:"
                f" supported values: {', '.join(map(quote, versions))}"
            )
        return decode_json(cls, body, find_unknown=False).object
    except DecodeError as error:
        raise BadRequest(f"the body is no {kind}: {error}") from None


def _require_uid(uid: str) -> None:
    if not uid:
        raise BadRequest("request.uid: Required value: the response must repeat it")


def _status_document(status: Status) -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads(dump_json(status))
    for name in ("kind", "apiVersion", "metadata"):
        document.pop(name, None)
    return document


def _answer(api_version: str, kind: str, response: Mapping[str, Any]) -> bytes:
    return encode_json({"kind": kind, "apiVersion": api_version, "response": response})
