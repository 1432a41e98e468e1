"""The bodies of patches: from bytes to a change of a document, and what is wrong with them.

Apart from what is done with the change, because a patch of an object and one of its scale are read
in the same way. What is unknown or stands twice in a patch is told together with what is unknown
in the result, which only the caller knows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson

from apimachinery.codec import FieldValidation
from apimachinery.errors import APIError, BadRequest, Invalid, RequestEntityTooLarge
from apimachinery.fieldpath import Path, invalid
from apimachinery.model.decoding import DecodeError
from apimachinery.model.model import Model, field
from apimachinery.model.strict_decoding import strict_decoding_problems
from apimachinery.model.type_shape import StructShape
from apimachinery.patch import json_patch, merge_patch, strategic
from apimachinery.patch.json_values import json_type
from apimachinery.patch.patch_errors import MalformedPatch, PatchError, PatchTooLarge
from apimachinery.patch.strategic_schema import describe
from apimachinery.schema import GroupKind
from apimachinery.serialization.media_types import JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH
from apimachinery.serialization.serializer import read_json
from apiserver.context import RequestContext

Document = Any

_OPERATION: Final = "handlers.jsonPatchOp"
"""How the original calls the type of an operation, in its messages."""


@dataclass(frozen=True)
class PatchBody:
    """A patch that was read: the change it describes, and its unknown and repeated fields."""

    media_type: str
    document: Document
    shape: StructShape
    validation: FieldValidation
    problems: tuple[str, ...] = ()

    def change(self, current: Document) -> Document:
        """The document after the patch; it raises an APIError where it does not fit."""
        if self.media_type == JSON_PATCH:
            return self._applied(json_patch.apply, current, self.document)
        if self.media_type == MERGE_PATCH:
            return self._applied(merge_patch.apply, current, self.document)
        return self._applied(strategic.apply, current, self.document, self.shape)

    def judge(self, patched: bytes, more: tuple[str, ...], context: RequestContext) -> None:
        """Refuse or warn of what is wrong with the patch, and *more* of what it has made."""
        problems = (*self.problems, *more)
        if problems and self.validation is FieldValidation.STRICT:
            why = "strict decoding error: " + ", ".join(problems)
            raise self.misfit(patched, why)
        if self.validation is FieldValidation.WARN:
            for text in problems:
                context.warn(text)

    def misfit(self, patched: bytes, why: str) -> Invalid:
        """A patch whose result is no object of the kind; the wire does not say which kind."""
        shown = patched.decode(errors="replace")
        if self.media_type == STRATEGIC_PATCH:
            shown = describe(self.document)
        return Invalid.of(GroupKind(), "", [invalid(Path("patch"), shown, why)])

    def _applied(self, function: Callable[..., Document], *arguments: Document) -> Document:
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


def read_patch(
    media_type: str, body: bytes, shape: StructShape, validation: FieldValidation
) -> PatchBody:
    """The patch in a body, or BadRequest."""
    try:
        document = orjson.loads(body)
    except ValueError:
        raise BadRequest("invalid JSON patch") from None
    judged = validation is not FieldValidation.IGNORE
    if media_type != JSON_PATCH and not isinstance(document, dict):
        raise BadRequest(_mistyped(document, "map[string]interface {}", judged, media_type))
    if judged and media_type == JSON_PATCH:
        problems = _operation_problems(document, body)
    else:
        problems = _repeated(body) if judged else ()
    return PatchBody(media_type, document, shape, validation, problems)


class _Operation(Model):
    """One operation of a JSON patch, as strict decoding sees it."""

    op: str = ""
    path: str = ""
    source: str = field("", wire="from")
    value: Any = None


def _operation_problems(document: Document, body: bytes) -> tuple[str, ...]:
    if document is not None and not isinstance(document, list):
        raise BadRequest(f"error decoding patch: {_cannot(document, f'[]{_OPERATION}')}")
    suspect = False
    for operation in document or ():
        if operation is None:
            continue
        if not isinstance(operation, dict):
            raise BadRequest(f"error decoding patch: {_cannot(operation, _OPERATION)}")
        for name in ("op", "path", "from"):
            if not isinstance(operation.get(name, ""), str | None):
                raise BadRequest(
                    f"error decoding patch: json: cannot unmarshal {json_type(operation[name])}"
                    f" into Go struct field jsonPatchOp.{name} of type string"
                )
        suspect = suspect or not operation.keys() <= frozenset(json_patch.MEMBERS)
    if not suspect and not _repeated(body):
        return ()
    return tuple(
        f"json patch {found}" for found in strict_decoding_problems(body, list[_Operation])
    )


def _repeated(body: bytes) -> tuple[str, ...]:
    try:
        return strict_decoding_problems(body) if read_json(body, True).duplicates else ()
    except DecodeError:
        raise BadRequest("invalid JSON patch") from None


def _mistyped(document: Document, wanted: str, judged: bool, media_type: str) -> str:
    if media_type == STRATEGIC_PATCH:
        return _cannot(document, wanted)
    return f"error decoding patch: {_cannot(document, wanted)}" if judged else "invalid JSON patch"


def _cannot(value: Document, wanted: str) -> str:
    return f"json: cannot unmarshal {json_type(value)} into Go value of type {wanted}"
