"""Validation of the CEL rules in a schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

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
from apis.apiextensions.validation.cost import RuleCosts, multiplicity

if TYPE_CHECKING:
    from apimachinery.cel.program import Program

_RULES: Final = "x-kubernetes-validations"
_REASONS: Final = (
    *("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"),
)


MAX_RULES: Final = 2_000
"""The maximum number of rules in a schema: compiling one takes up to a millisecond."""


def validate_rules(
    schema: Mapping[str, Any], path: Path, *, check_costs: bool = True
) -> FieldErrors:
    """Validate the rules of an otherwise valid schema.

    Costs are not checked if the schema is stored already: the limits may have been others then.
    """
    if _count_rules(schema) > MAX_RULES:
        yield forbidden(path, f"must not have more than {MAX_RULES} {_RULES}")
        return
    costs = RuleCosts()
    yield from _validate(schema, _Place(path, costs if check_costs else None))
    if check_costs:
        yield from costs.check_total(path)


def _count_rules(schema: Mapping[str, Any]) -> int:
    parts = [schema.get("items"), schema.get("additionalProperties")]
    parts += (schema.get("properties") or {}).values()
    below = sum(_count_rules(part) for part in parts if isinstance(part, Mapping))
    return len(schema.get(_RULES) or ()) + below


@dataclass(frozen=True, slots=True)
class _Place:
    """The path of a schema, and its closest ancestor whose items cannot be correlated."""

    path: Path
    costs: RuleCosts | None
    uncorrelated: Path | None = None
    times: int | None = 1
    """The maximum number of values at this path in one object, by the limits of the schema."""
    is_root: bool = True

    def below(
        self, *names: str, key: str = "", loses_identity: bool = False, times: int | None = 1
    ) -> "_Place":
        path = self.path.child(*names)
        lost = self.path if loses_identity and self.uncorrelated is None else self.uncorrelated
        often = None if self.times is None or times is None else self.times * times
        return _Place(path.key(key) if key else path, self.costs, lost, often, is_root=False)


def _validate(schema: Mapping[str, Any], place: _Place) -> FieldErrors:
    for position, rule in enumerate(schema.get(_RULES) or ()):
        yield from _validate_rule(rule, schema, place, place.path.child(_RULES).index(position))
    atomic = schema.get("x-kubernetes-map-type") == "atomic"
    for name, part in (schema.get("properties") or {}).items():
        yield from _validate(part, place.below("properties", key=name, loses_identity=atomic))
    times = multiplicity(schema)
    if isinstance(schema.get("additionalProperties"), Mapping):
        below = place.below("additionalProperties", loses_identity=atomic, times=times)
        yield from _validate(schema["additionalProperties"], below)
    if isinstance(schema.get("items"), Mapping):
        unkeyed = schema.get("x-kubernetes-list-type") != "map"
        below = place.below("items", loses_identity=unkeyed, times=times)
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
            from apimachinery.cel.program import InvalidExpression, compile_program
    except MissingExtra as error:
        yield forbidden(path.child("rule"), f"this server cannot evaluate CEL: {error}")
        return
    optional = bool(rule.get("optionalOldSelf"))
    try:
        program = compile_program(rule["rule"].strip(), result="bool", optional_old=optional)
    except InvalidExpression as error:
        yield invalid(path.child("rule"), rule, str(error))
        return
    yield from _check_cost(program, "rule", schema, place, path)
    if text := rule.get("messageExpression", "").strip():
        try:
            message = compile_program(text, result="string", optional_old=optional)
        except InvalidExpression as error:
            here = path.child("messageExpression")
            yield invalid(here, rule["messageExpression"], f"messageExpression {error}")
        else:
            yield from _check_cost(message, "messageExpression", schema, place, path)
    if program.uses_old and place.uncorrelated is not None:
        text = (
            "oldSelf cannot be used on the uncorrelatable portion of the schema within "
            f"{place.uncorrelated}"
        )
        yield invalid(path.child("rule"), rule["rule"], text)


def _check_cost(
    program: "Program", name: str, schema: Mapping[str, Any], place: _Place, path: Path
) -> FieldErrors:
    if place.costs is None:
        return
    from apimachinery.cel.value_bounds import REQUEST_BYTES, DeclaredBound, minimum_size

    cost = program.definition_cost(DeclaredBound(schema, is_resource=place.is_root))
    if name == "rule":
        times = place.times
        cost *= REQUEST_BYTES // (minimum_size(schema) + 1) if times is None else times
    yield from place.costs.check(cost, name, path.child(name))


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
