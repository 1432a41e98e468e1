"""AdmissionReview: the documents of admission.k8s.io that are exchanged with webhooks.

A review is sent with a request, and answered with a response to it. Both versions of the group have
the same form; v1 is stricter about the answer. What is wrong with one is said in Kubernetes' words,
which operators know and search for.
"""

from collections.abc import Mapping
from typing import Any, Final

from apimachinery.codec import UnrecognizedKind, parse_api_version
from apimachinery.fieldpath import quote
from apimachinery.meta.status import Status
from apimachinery.meta.types import TypeMeta
from apimachinery.meta.unstructured import dump_content
from apimachinery.model.decoding import DecodeError, decode_json
from apimachinery.model.model import Model, field
from apimachinery.scalars.wire_types import Bytes
from apimachinery.serialization.go_json import parse_error
from apimachinery.serialization.serializer import SERIALIZERS, detect_media_type

KIND: Final = "AdmissionReview"
GROUP: Final = "admission.k8s.io"
VERSIONS: Final = ("v1", "v1beta1")
JSON_PATCH: Final = "JSONPatch"

_STATUS: Final = ("v1", "Status")


class AdmissionResponse(Model):
    """The answer to one request."""

    uid: str = field("", proto=1)
    allowed: bool = field(False, proto=2)
    status: Status | None = field(None, proto=3)
    patch: Bytes = field(b"", proto=4)
    patch_type: str | None = field(None, proto=5)
    audit_annotations: dict[str, str] = field(default_factory=dict, proto=6)
    warnings: list[str] = field(default_factory=list, proto=7)


class AnsweredReview(TypeMeta):
    """A review as a webhook answers it; the request is not read again."""

    response: AdmissionResponse | None = field(None, proto=2)


class UnreadableAnswer(Exception):
    """An answer is no AdmissionReview of the version that was sent."""


class InvalidAnswer(Exception):
    """An answer is an AdmissionReview, but not an answer to the request."""


def encode_review(
    request: Mapping[str, Any], *, version: str, uid: str, obj: bytes, old: bytes
) -> bytes:
    """Return a review with a request; *obj* and *old* are encoded already."""
    return (
        b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/%b",'
        b'"request":{"uid":"%b",%b,"object":%b,"oldObject":%b}}'
    ) % (version.encode(), uid.encode(), dump_content(request)[1:-1], obj, old)


def read_answer(data: bytes, *, version: str, uid: str, mutating: bool) -> AdmissionResponse:
    """Return the response of a webhook. Raises UnreadableAnswer, InvalidAnswer."""
    review = _decode(data)
    _check_kind(review, version)
    response = review.response
    if response is None:
        raise InvalidAnswer("webhook response was absent")
    if version == "v1":
        _check_response(review, response, uid, mutating=mutating)
    elif response.patch:
        # As in Kubernetes: v1beta1 knows one type, and nobody has to name it.
        response.patch_type = JSON_PATCH
    return response


def _decode(data: bytes) -> AnsweredReview:
    try:
        serializer = SERIALIZERS.get(detect_media_type(data))
        if serializer is None:
            raise UnreadableAnswer("the answer is neither JSON nor YAML")
        document = serializer.read(data, False).json
    except (DecodeError, ValueError) as error:
        raise UnreadableAnswer(str(error)) from None
    try:
        return decode_json(AnsweredReview, document, find_unknown=False).object
    except DecodeError as error:
        problem = parse_error(document)
        if problem:
            problem = f"couldn't get version/kind; json parse error: {problem}"
        raise UnreadableAnswer(problem or str(error)) from None


def _check_kind(review: AnsweredReview, version: str) -> None:
    """Raise UnreadableAnswer for another kind or version; what is missing is supplied."""
    kind = review.kind or KIND
    api_version = review.api_version or f"{GROUP}/{version}"
    if (api_version, kind) == (f"{GROUP}/{version}", KIND):
        return
    try:
        declared = parse_api_version(api_version).version
    except UnrecognizedKind as error:
        raise UnreadableAnswer(str(error)) from None
    known = (api_version, kind) == _STATUS or (kind == KIND and api_version in _API_VERSIONS)
    if known:
        raise UnreadableAnswer(
            f"converting ({declared}.{kind}) to ({version}.{KIND}): unknown conversion"
        )
    raise UnreadableAnswer(
        f"no kind {quote(kind)} is registered for version {quote(api_version)} in scheme"
        f" {quote(GROUP)}"
    )


_API_VERSIONS: Final = tuple(f"{GROUP}/{version}" for version in VERSIONS)


def _check_response(
    review: AnsweredReview, response: AdmissionResponse, uid: str, *, mutating: bool
) -> None:
    if response.uid != uid:
        raise InvalidAnswer(f"expected response.uid={quote(uid)}, got {quote(response.uid)}")
    if not review.kind or not review.api_version:
        declared = f"{review.api_version or '/'}, Kind={review.kind}"
        raise InvalidAnswer(f"expected webhook response of {GROUP}/v1, Kind={KIND}, got {declared}")
    if not mutating:
        if response.patch:
            raise InvalidAnswer("validating webhook may not return response.patch")
        if response.patch_type is not None:
            raise InvalidAnswer("validating webhook may not return response.patchType")
        return
    if response.patch and response.patch_type is None:
        raise InvalidAnswer("webhook returned response.patch but not response.patchType")
    if not response.patch and response.patch_type is not None:
        raise InvalidAnswer("webhook returned response.patchType but not response.patch")
    if response.patch_type == "":
        raise InvalidAnswer('webhook returned invalid response.patchType of ""')
