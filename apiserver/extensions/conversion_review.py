"""Conversion reviews: what the server asks a conversion webhook, and how it checks the answer.

A review has objects of one kind, which the webhook converts to one version. It may change anything
in them but their metadata: of that only labels and annotations. The errors are those of Kubernetes,
word for word, because operators search for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from apimachinery.fieldpath import FieldErrors, Path, quote, to_aggregate_message
from apimachinery.meta.metadata_validation import validate_annotations, validate_labels
from apimachinery.meta.unstructured import dump_content, load_content
from apimachinery.model.decoding import DecodeError
from apimachinery.schema import GroupVersionKind
from apimachinery.serialization.go_json import parse_error

GROUP: Final = "apiextensions.k8s.io"
KIND: Final = "ConversionReview"
REVIEW_VERSIONS: Final = ("v1", "v1beta1")
"""The versions of reviews that the server understands."""

_EMPTY_RESPONSE: Final[dict[str, Any]] = {
    "uid": "",
    "convertedObjects": None,
    "result": {"metadata": {}},
}
_SHOWN: Final = 4096
"""Bytes of an object that a message shows."""
_SUCCESS: Final = "Success"

_TYPE_META: Final = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\"";'
    r' Kind string "json:\"kind,omitempty\"" }'
)
"""What Go's decoder reads the kind of a document into."""

Document = dict[str, Any]


class Failure(StrEnum):
    """Why a conversion failed, as metrics name it."""

    CALL = "conversion_webhook_call_failure"
    MALFORMED = "conversion_webhook_malformed_response_failure"
    PARTIAL = "conversion_webhook_partial_response_failure"
    INVALID_OBJECT = "conversion_webhook_invalid_converted_object_failure"


class NotConvertible(Exception):
    """A webhook has not converted the objects; the message is for the client."""

    def __init__(self, message: str, failure: Failure | None = None) -> None:
        super().__init__(message)
        self.failure = failure
        """None if no webhook was asked."""


@dataclass(frozen=True, slots=True)
class Review:
    """One request to a webhook: documents that it is to convert to another version."""

    documents: Sequence[Document]
    """Of one kind; none of them is in the desired version."""
    kind: GroupVersionKind
    """What is converted: the kind of the only document, or that of their list."""
    target: str
    """The desired apiVersion."""
    uid: str
    version: str
    """The version of the ConversionReview."""

    def request(self) -> bytes:
        """Return the document to post."""
        request = {
            "uid": self.uid,
            "desiredAPIVersion": self.target,
            "objects": self.documents,
        }
        review = {"request": request, "response": _EMPTY_RESPONSE}
        head = f'{{"kind":"{KIND}","apiVersion":"{GROUP}/{self.version}",'
        return head.encode() + dump_content(review)[1:]

    def failed(self, reason: object, failure: Failure) -> NotConvertible:
        """Return the error of a call without a usable answer."""
        return NotConvertible(f"conversion webhook for {self.kind} failed: {reason}", failure)

    def results(self, answer: bytes) -> list[Document]:
        """Return the converted documents, in the order of the request. Raises NotConvertible."""
        try:
            review = _decode(answer, self.version)
        except DecodeError as error:
            raise self.failed(error, Failure.CALL) from None
        try:
            converted = self._converted(review)
        except DecodeError as error:
            raise self.failed(error, Failure.MALFORMED) from None
        if len(converted) != len(self.documents):
            raise NotConvertible(
                f"conversion webhook for {self.kind} returned {len(converted)} objects,"
                f" expected {len(self.documents)}",
                Failure.PARTIAL,
            )
        return [
            self._checked(position, original, result)
            for position, (original, result) in enumerate(
                zip(self.documents, converted, strict=True)
            )
        ]

    def _converted(self, review: Document) -> list[Any]:
        """Return the objects of an answer. Raises DecodeError with the reason if it has none."""
        if self.version == "v1":
            got = _gvk(review)
            if got != (f"{GROUP}/v1", KIND):
                expected = f"{GROUP}/v1, Kind={KIND}"
                shown = f"{got[0] or '/'}, Kind={got[1]}"
                raise DecodeError(f"expected webhook response of {expected}, got {shown}")
        response = review.get("response")
        if response is None:
            raise DecodeError("no response provided")
        if self.version == "v1" and (uid := response.get("uid") or "") != self.uid:
            raise DecodeError(f"expected response.uid={quote(self.uid)}, got {quote(uid)}")
        result = response.get("result") or {}
        status = result.get("status") or ""
        if status != _SUCCESS:
            message = result.get("message")
            raise DecodeError(message or f"response.result.status was '{status}', not 'Success'")
        return response.get("convertedObjects") or []

    def _checked(self, position: int, original: Document, result: Any) -> Document:
        """Return a result with the metadata that it must have."""
        is_list = self._is_list
        shown = f"conversion webhook for {self.kind} returned"
        invalid = f"{shown} invalid {'converted ' if is_list else ''}object at index {position}"

        if problem := _object_problem(result):
            text = f"{invalid}: {problem}" if is_list else problem
            raise NotConvertible(text, Failure.INVALID_OBJECT)
        version, kind = _gvk(result)
        expected = original["kind"]
        if version != self.target:
            problem = f"invalid groupVersion (expected {self.target}, received {version})"
            raise NotConvertible(f"{invalid}: {problem}", Failure.INVALID_OBJECT)
        if kind != expected:
            problem = f"invalid kind (expected {expected}, received {kind})"
            raise NotConvertible(f"{invalid}: {problem}", Failure.INVALID_OBJECT)
        if problem := _identity_problem(original, result):
            text = invalid if is_list else f"{shown} invalid object"
            raise NotConvertible(f"{text}: {problem}", Failure.INVALID_OBJECT)
        try:
            metadata = restored_metadata(original, result)
        except DecodeError as error:
            where = f" in object at index {position}" if is_list else ""
            text = f"{shown} invalid metadata{where}: {error}"
            raise NotConvertible(text, Failure.INVALID_OBJECT) from None
        return {**result, "metadata": metadata}

    @property
    def _is_list(self) -> bool:
        return bool(self.kind.kind != self.documents[0]["kind"])


def review_version(accepted: Sequence[str]) -> str:
    """Return the first of the *accepted* versions that the server understands.

    Raises NotConvertible.
    """
    for version in accepted:
        if version in REVIEW_VERSIONS:
            return version
    raise NotConvertible("no supported conversion review versions")


def restored_metadata(original: Document, result: Document) -> Document:
    """Return the metadata of *original* with the labels and annotations of *result*.

    Raises DecodeError with the reason if they are not usable.
    """
    if "metadata" not in result:
        raise DecodeError("missing metadata in converted object")
    changed = result["metadata"]
    if not isinstance(changed, dict):
        raise DecodeError(f"invalid metadata of type {_go_type(changed)} in converted object")
    metadata = dict(original.get("metadata") or {})
    for field in ("labels", "annotations"):
        value = changed.get(field)
        before = metadata.pop(field, None)
        if value is not None:
            metadata[field] = _string_map(field, value, before or {})
    return metadata


def _string_map(field: str, value: Any, before: Mapping[str, Any]) -> dict[str, str]:
    if not isinstance(value, dict):
        raise DecodeError(f"invalid metadata.{field} of type {_go_type(value)} in converted object")
    for key, text in value.items():
        if not isinstance(text, str):
            raise DecodeError(
                f"metadata.{field}[{key}] must be a string, but is {_go_type(text)}"
                " in converted object"
            )
    if value != before:
        errors: FieldErrors
        if field == "labels":
            errors = validate_labels(value, Path("metadata", "labels"))
        else:
            errors = validate_annotations(value, Path("metadata", "annotation"))
        if found := list(errors):
            raise DecodeError(to_aggregate_message(found))
    return value


def _decode(answer: bytes, expected: str) -> Document:
    """Decode an answer to a review of version *expected*.

    Raises DecodeError in the words of Go's decoder.
    """
    try:
        review = {} if answer.strip() == b"null" else load_content(answer)
    except DecodeError as error:
        raise _no_kind(_parse_problem(answer) or str(error)) from None
    for name in ("apiVersion", "kind"):
        value = review.get(name)
        if value is not None and not isinstance(value, str):
            what = f"json: cannot unmarshal {_json_type(value)} into Go struct field .{name}"
            raise _no_kind(f"{what} of type string")
    api_version, kind = _gvk(review)
    if kind and api_version:
        _check_kind(api_version, kind, expected)
    _check_types(review)
    return review


def _no_kind(problem: str) -> DecodeError:
    return DecodeError(f"couldn't get version/kind; json parse error: {problem}")


def _parse_problem(answer: bytes) -> str:
    if answer.lstrip()[:1] == b"{":
        return parse_error(answer)
    # What is no JSON object is read as YAML, in which nearly any text is a string.
    what = "array" if answer.lstrip()[:1] == b"[" else "string"
    return f"json: cannot unmarshal {what} into Go value of type {_TYPE_META}"


def _check_kind(api_version: str, kind: str, expected: str) -> None:
    """Raise DecodeError for a document that is no review of version *expected*."""
    group, _, version = api_version.rpartition("/")
    if (group, kind) == (GROUP, KIND) and version in REVIEW_VERSIONS:
        if version == expected:
            return
    elif (api_version, kind) != ("v1", "Status"):
        raise DecodeError(
            f'no kind "{kind}" is registered for version "{api_version}" in scheme "apimachinery"'
        )
    raise DecodeError(f"converting ({version}.{kind}) to ({expected}.{KIND}): unknown conversion")


def _check_types(review: Document) -> None:
    """Raise DecodeError unless the fields of the response have their types."""
    response = review.get("response")
    if response is None:
        return
    _require(response, dict, "ConversionReview.response", "v1.ConversionResponse")
    _require(response.get("uid"), str, "ConversionResponse.response.uid", "types.UID")
    objects = response.get("convertedObjects")
    name = "ConversionResponse.response.convertedObjects"
    _require(objects, list, name, "[]runtime.RawExtension")
    result = response.get("result")
    _require(result, dict, "ConversionResponse.response.result", "v1.Status")
    for field in ("status", "message"):
        text = (result or {}).get(field)
        _require(text, str, f"Status.response.result.{field}", "string")


def _require(value: Any, expected: type, field: str, go_type: str) -> None:
    if value is not None and not isinstance(value, expected):
        raise DecodeError(
            f"json: cannot unmarshal {_json_type(value)} into Go struct field {field}"
            f" of type {go_type}"
        )


def _object_problem(result: Any) -> str:
    """Return why a result is no object that can be decoded, empty if it is one."""
    if result is None:
        return "unexpected end of JSON input"
    if not isinstance(result, dict):
        return (
            f"json: cannot unmarshal {_json_type(result)} into Go value of type"
            " map[string]interface {}"
        )
    version, kind = _gvk(result)
    if not kind or version.count("/") > 1:
        shown = dump_content(result)[:_SHOWN].decode(errors="replace")
        return f"Object 'Kind' is missing in '{shown}'"
    return ""


def _identity_problem(original: Document, result: Document) -> str:
    """Return how a result is another object than the original, empty if it is the same."""
    before, after = _metadata(original), _metadata(result)
    for field, shown in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        expected, got = _text(before.get(field)), _text(after.get(field))
        if expected != got:
            return f"must have the same {shown}: {expected} != {got}"
    return ""


def _metadata(document: Document) -> Document:
    metadata = document.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _gvk(document: Document) -> tuple[str, str]:
    return _text(document.get("apiVersion")), _text(document.get("kind"))


def _json_type(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"


def _go_type(value: Any) -> str:
    match value:
        case None:
            return "<nil>"
        case bool():
            return "bool"
        case str():
            return "string"
        case int():
            return "int64"
        case float():
            return "float64"
        case list():
            return "[]interface {}"
        case _:
            return "map[string]interface {}"
