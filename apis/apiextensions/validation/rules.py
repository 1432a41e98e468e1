"""Validation of the CEL rules in a schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apimachinery.extras import MissingExtra, name_missing_extra
from apimachinery.fieldpath import (
    FieldErrors,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.structural.jsonpath import InvalidJSONPath, path_steps
from apis.apiextensions.validation.cost import UNBOUNDED, excess, size

_RULES: Final = "x-kubernetes-validations"
_REASONS: Final = (
    *("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"),
)


def validate_rules(schema: Mapping[str, Any], path: Path) -> FieldErrors:
    """Validate the rules of an otherwise valid schema."""
    yield from _validate(schema, _Place(path))


@dataclass(frozen=True, slots=True)
class _Place:
    """The path of a schema, and its closest ancestor whose items cannot be correlated."""

    path: Path
    uncorrelated: Path | None = None
    times: int = 1
    """The maximum number of values at this path in one object."""

    def below(
        self, *names: str, key: str = "", loses_identity: bool = False, times: int | None = 1
    ) -> "_Place":
        path = self.path.child(*names)
        lost = self.path if loses_identity and self.uncorrelated is None else self.uncorrelated
        # The size limit of a request bounds the items of an object, however lists nest.
        often = min(self.times * (times or 1), UNBOUNDED)
        return _Place(path.key(key) if key else path, lost, often)


def _validate(schema: Mapping[str, Any], place: _Place) -> FieldErrors:
    for position, rule in enumerate(schema.get(_RULES) or ()):
        yield from _validate_rule(rule, schema, place, place.path.child(_RULES).index(position))
    atomic = schema.get("x-kubernetes-map-type") == "atomic"
    for name, part in (schema.get("properties") or {}).items():
        yield from _validate(part, place.below("properties", key=name, loses_identity=atomic))
    if isinstance(schema.get("additionalProperties"), Mapping):
        below = place.below("additionalProperties", loses_identity=atomic, times=size(schema))
        yield from _validate(schema["additionalProperties"], below)
    if isinstance(schema.get("items"), Mapping):
        unkeyed = schema.get("x-kubernetes-list-type") != "map"
        below = place.below("items", loses_identity=unkeyed, times=size(schema))
        yield from _validate(schema["items"], below)


def _validate_rule(
    rule: Mapping[str, Any], schema: Mapping[str, Any], place: _Place, path: Path
) -> FieldErrors:
    problems = list(_validate_texts(rule, schema, path))
    yield from problems
    if problems:
        return
    # Imported on first use: few schemas have rules, and the CEL library is large.
    try:
        with name_missing_extra():
            from apimachinery.cel.program import InvalidExpression
            from apimachinery.cel.validation_rules import compile_rule
    except MissingExtra as error:
        yield forbidden(path.child("rule"), f"this server cannot evaluate CEL: {error}")
        return
    try:
        compiled = compile_rule({**rule, "messageExpression": ""})
    except InvalidExpression as error:
        yield invalid(path.child("rule"), rule, str(error))
        return
    if compiled.program.uses_old and place.uncorrelated is not None:
        message = (
            "oldSelf cannot be used on the uncorrelatable portion of the schema within "
            f"{place.uncorrelated}"
        )
        yield invalid(path.child("rule"), rule["rule"], message)
    for name in ("rule", "messageExpression"):
        if problem := excess(rule.get(name, ""), schema, times=place.times):
            yield forbidden(path.child(name), problem)
    try:
        compile_rule(rule)
    except InvalidExpression as error:
        text = rule["messageExpression"]
        yield invalid(path.child("messageExpression"), text, f"messageExpression {error}")


def _validate_texts(rule: Mapping[str, Any], schema: Mapping[str, Any], path: Path) -> FieldErrors:
    text, message = rule.get("rule", "").strip(), rule.get("message", "")
    if not text:
        yield required(path.child("rule"), "rule is not specified")
    elif message and not message.strip():
        yield invalid(path.child("message"), message, "message must be non-empty if specified")
    elif _has_newlines(message.strip()):
        yield invalid(path.child("message"), message, "message must not contain line breaks")
    elif _has_newlines(text) and not message.strip():
        yield required(
            path.child("message"), "message must be specified if rule contains line breaks"
        )
    expression = rule.get("messageExpression", "")
    if expression and not expression.strip():
        rule_text = "messageExpression must be non-empty if specified"
        yield required(path.child("messageExpression"), rule_text)
    if rule.get("reason") not in (None, *_REASONS):
        yield not_supported(path.child("reason"), rule["reason"], _REASONS)
    yield from _validate_field_path(rule.get("fieldPath", ""), schema, path.child("fieldPath"))


def _validate_field_path(text: str, schema: Mapping[str, Any], path: Path) -> FieldErrors:
    if not text:
        return
    if not text.strip():
        yield invalid(path, text, "fieldPath must be non-empty if specified")
    if _has_newlines(text):
        yield invalid(path, text, "fieldPath must not contain line breaks")
    if not _is_declared(text.strip(), schema):
        yield invalid(path, text, "fieldPath must be a valid path")


def _is_declared(text: str, schema: Any) -> bool:
    try:
        steps = path_steps(text)
    except InvalidJSONPath:
        return False
    for step in steps:
        additional = schema.get("additionalProperties")
        schema = (schema.get("properties") or {}).get(step) or additional
        if not isinstance(schema, Mapping):
            return False
    return True


def _has_newlines(text: str) -> bool:
    return "\n" in text or "\r" in text
