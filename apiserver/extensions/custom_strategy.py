"""CustomStrategy: validate custom resources by the schema of the request's version."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from apimachinery.codec import dump_json
from apimachinery.errors import Invalid
from apimachinery.fieldpath import FieldError, FieldErrors, Path, invalid
from apimachinery.ratcheting import new_errors
from apimachinery.schema import GroupKind, GroupVersionKind
from apimachinery.structural.custom_kind import CustomResource
from apimachinery.structural.schema_validation import ABSENT
from apimachinery.structural.structural_schema import Schema
from apimachinery.structural.value_checks import equal_json
from apiserver.extensions.definition import DefinedVersion
from apiserver.registry.strategy import Strategy

_INT32_MAX: Final = 2**31 - 1


def _without_type(before: Any) -> Any:
    """Return the old document for ratcheting: the type is validated although it is unchanged."""
    if before is ABSENT:
        return ABSENT
    return {name: value for name, value in before.items() if name not in ("apiVersion", "kind")}


@dataclass(frozen=True, slots=True, eq=False)
class _Content:
    """The content of an object, in which null and empty values differ from absent ones."""

    fields: dict[str, Any]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Content) and equal_json(self.fields, other.fields)

    __hash__ = None  # type: ignore[assignment]


class CustomStrategy(Strategy[CustomResource]):
    """The rules of one custom resource in one version."""

    allow_unconditional_update = False
    ratchets = False  # the schema does, value by value; its transition rules do not

    def __init__(self, kind: GroupVersionKind, schema: Schema, version: DefinedVersion) -> None:
        self._kind = kind
        self._schema = schema
        self._scale = version.scale

    def validate(self, obj: CustomResource) -> FieldErrors:
        yield from self._errors(obj, None)

    def validate_update(self, new: CustomResource, old: CustomResource) -> FieldErrors:
        yield from self._errors(new, old)

    def validate_status_update(self, new: CustomResource, old: CustomResource) -> FieldErrors:
        for error in self._errors(new, old):
            # As in Kubernetes, which validates the status by itself.
            name = error.field.removeprefix("status.")
            detail = error.detail.replace(f"{error.field} in body", f"{name} in body", 1)
            yield replace(error, detail=detail)

    def effort(self, obj: CustomResource) -> int:
        return self._schema.effort(obj.content)

    def desired_state(self, obj: CustomResource) -> object:
        return _Content(obj.content)

    def _errors(self, obj: CustomResource, old: CustomResource | None) -> Iterator[FieldError]:
        errors = self._all_errors(obj, old)
        if obj.kind != self._kind.kind:
            # The error is about the kind that was sent.
            raise Invalid.of(GroupKind(self._kind.group, obj.kind), obj.metadata.name, [*errors])
        yield from errors

    def _all_errors(self, obj: CustomResource, old: CustomResource | None) -> Iterator[FieldError]:
        for name, value, expected in (
            ("kind", obj.kind, self._kind.kind),
            ("apiVersion", obj.api_version, self._kind.api_version),
        ):
            if value != expected:
                yield invalid(Path(name), value, f"must be {expected}")
        document = self._document(obj)
        before = ABSENT if old is None else self._document(old)
        errors = self._schema.check_keywords(document, _without_type(before))
        errors += new_errors(self._scale_errors(obj), self._scale_errors(old) if old else ())
        yield from errors
        yield from self._schema.check_rules(document, before, errors)

    def _document(self, obj: CustomResource) -> dict[str, Any]:
        """Return the document that the schema validates."""
        document = {**obj.content, "kind": obj.kind, "apiVersion": obj.api_version}
        if self._schema.reads_metadata:
            document["metadata"] = orjson.loads(dump_json(obj.metadata))
        else:
            document["metadata"] = {}
        return document

    def _scale_errors(self, obj: CustomResource) -> FieldErrors:
        if self._scale is None:
            return
        for path in (self._scale.spec, self._scale.status):
            replicas = obj.nested(*path[1:].split("."))
            if not isinstance(replicas, int) or isinstance(replicas, bool):
                continue
            field = Path(*path[1:].split("."))
            if replicas < 0:
                yield invalid(field, replicas, "should be a non-negative integer")
            elif replicas > _INT32_MAX:
                rule = f"should be less than or equal to {_INT32_MAX}"
                yield invalid(field, replicas, rule)
