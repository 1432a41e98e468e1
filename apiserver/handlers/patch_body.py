"""Patch bodies: decode a patch, apply it to a document, and report its errors.

Patches of objects and of scales share this module. Unknown and duplicate fields of a patch are
reported together with those of the patched document, which only the caller can decode.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson

from apimachinery.codec import FieldValidation, UnreadableKind
from apimachinery.errors import APIError, BadRequest, Invalid, RequestEntityTooLarge
from apimachinery.fieldpath import Path, invalid
from apimachinery.model.decoding import DecodeError
from apimachinery.model.fail_fast import is_large
from apimachinery.model.go_conversion import conversion_error
from apimachinery.model.model import Model, field
from apimachinery.model.strict_decoding import strict_decoding_problems
from apimachinery.model.type_shape import StructShape
from apimachinery.patch import json_patch, merge_patch, strategic
from apimachinery.patch.json_values import json_type
from apimachinery.patch.patch_errors import MalformedPatch, PatchError, PatchTooLarge
from apimachinery.patch.strategic_schema import describe
from apimachinery.schema import GroupKind
from apimachinery.serialization.document_size import TooLarge, check_values
from apimachinery.serialization.media_types import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from apimachinery.serialization.serializer import read_json
from apiserver.context import RequestContext
from apiserver.workload import Workload

Document = Any

_KIND: Final = ("kind", "apiVersion")
_OPERATION: Final = "handlers.jsonPatchOp"
"""The type of an operation as Kubernetes names it in its messages."""


@dataclass(frozen=True)
class PatchBody:
    """A decoded patch, with its unknown and duplicate fields as *problems*."""

    media_type: str
    document: Document
    shape: StructShape
    validation: FieldValidation
    problems: tuple[str, ...] = ()

    def change(self, current: Document) -> Document:
        """Return *current* after the patch. Raises an APIError if the patch does not fit."""
        if self.media_type == JSON_PATCH:
            return self._apply(json_patch.apply, current, self.document)
        if self.media_type == MERGE_PATCH:
            return self._apply(merge_patch.apply, current, self.document)
        patched = self._apply(strategic.apply, current, self.document, self.shape)
        # A strategic patch is applied to an object of a kind, and has no say in that.
        return {**patched, **{key: current[key] for key in _KIND if key in current}}

    def report_problems(
        self, patched: bytes, warnings: tuple[str, ...], context: RequestContext
    ) -> None:
        """Refuse or warn of the problems of the patch, and of the *warnings* of its result."""
        problems = (*self.problems, *warnings)
        if problems and self.validation is FieldValidation.STRICT:
            reason = "strict decoding error: " + ", ".join(problems)
            raise self.invalid_result(patched, reason)
        if self.validation is FieldValidation.WARN:
            for text in problems:
                context.warn(text)

    def invalid_result(self, patched: bytes, reason: str) -> Invalid:
        """Return the error for a result that is no object of the kind; it names no kind."""
        shown = patched.decode(errors="replace")
        if self.media_type == STRATEGIC_PATCH:
            shown = describe(self.document)
        return Invalid.of(GroupKind(), "", [invalid(Path("patch"), shown, reason)])

    def decode_problem(self, cls: type[Model], patched: bytes, error: DecodeError) -> str:
        """Return why the result cannot be decoded, in the words that the kind of patch has."""
        if self.media_type == STRATEGIC_PATCH and not is_large(patched):
            return conversion_error(cls, orjson.loads(patched)) or str(error)
        if isinstance(error, UnreadableKind):
            return f"couldn't get version/kind; json parse error: {error}"
        return str(error)

    def _apply(self, function: Callable[..., Document], *arguments: Document) -> Document:
        try:
            return function(*arguments)
        except PatchTooLarge as error:
            raise RequestEntityTooLarge(f"Request entity too large: {error}") from None
        except MalformedPatch as error:
            raise BadRequest(str(error)) from None
        except PatchError as error:
            if self.media_type == STRATEGIC_PATCH:
                raise APIError(str(error), reason=Invalid.reason, code=Invalid.code) from None
            raise Invalid.request() from error


async def read_patch(
    media_type: str,
    body: bytes,
    shape: StructShape,
    validation: FieldValidation,
    workload: Workload,
) -> PatchBody:
    """Decode the patch in a body. Raises BadRequest, RequestEntityTooLarge."""
    workload.add(body)
    patch = await workload.run(_read_patch, media_type, body, shape, validation)
    if media_type == JSON_PATCH and _has_copies(patch.document):
        workload.may_grow()
    return patch


def _has_copies(operations: Document) -> bool:
    return isinstance(operations, list) and any(
        isinstance(operation, dict) and operation.get("op") == "copy" for operation in operations
    )


def _read_patch(
    media_type: str, body: bytes, shape: StructShape, validation: FieldValidation
) -> PatchBody:
    try:
        check_values(body)
        document = orjson.loads(body)
    except TooLarge as error:
        raise RequestEntityTooLarge(str(error)) from None
    except ValueError:
        raise BadRequest("invalid JSON patch") from None
    validated = validation is not FieldValidation.IGNORE
    if media_type != JSON_PATCH and not isinstance(document, dict):
        raise BadRequest(_type_message(document, "map[string]interface {}", validated, media_type))
    if validated and media_type == JSON_PATCH:
        problems = _operation_problems(document, body)
    else:
        problems = _duplicates(body) if validated else ()
    return PatchBody(media_type, document, shape, validation, problems)


class _Operation(Model):
    """One operation of a JSON patch, for strict decoding."""

    op: str = ""
    path: str = ""
    source: str = field("", wire="from")
    value: Any = None


def _operation_problems(document: Document, body: bytes) -> tuple[str, ...]:
    if document is not None and not isinstance(document, list):
        raise BadRequest(f"error decoding patch: {_unmarshal_message(document, f'[]{_OPERATION}')}")
    suspect = False
    for operation in document or ():
        if operation is None:
            continue
        if not isinstance(operation, dict):
            raise BadRequest(f"error decoding patch: {_unmarshal_message(operation, _OPERATION)}")
        for name in ("op", "path", "from"):
            if not isinstance(operation.get(name, ""), str | None):
                raise BadRequest(
                    f"error decoding patch: json: cannot unmarshal {json_type(operation[name])}"
                    f" into Go struct field jsonPatchOp.{name} of type string"
                )
        suspect = suspect or not operation.keys() <= frozenset(json_patch.MEMBERS)
    if not suspect and not _duplicates(body):
        return ()
    return tuple(
        f"json patch {problem}" for problem in strict_decoding_problems(body, list[_Operation])
    )


def _duplicates(body: bytes) -> tuple[str, ...]:
    try:
        return strict_decoding_problems(body) if read_json(body, True).duplicates else ()
    except DecodeError:
        raise BadRequest("invalid JSON patch") from None


def _type_message(document: Document, go_type: str, validated: bool, media_type: str) -> str:
    message = _unmarshal_message(document, go_type)
    if media_type == STRATEGIC_PATCH:
        return message
    return f"error decoding patch: {message}" if validated else "invalid JSON patch"


def _unmarshal_message(value: Document, go_type: str) -> str:
    return f"json: cannot unmarshal {json_type(value)} into Go value of type {go_type}"
