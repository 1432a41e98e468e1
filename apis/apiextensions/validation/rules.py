"""Validation of the CEL rules in a schema."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from apimachinery.extras import MissingExtra, name_missing_extra
from apimachinery.fieldpath import (
    FieldErrors,
    GoStruct,
    Path,
    forbidden,
    invalid,
    not_supported,
    required,
)
from apimachinery.structural.jsonpath import InvalidJSONPath, path_steps
from apis.apiextensions.v1 import JSONSchemaProps, ValidationRule
from apis.apiextensions.validation.cost import RuleCosts, multiplicity
from apis.apiextensions.validation.shown_values import shown

if TYPE_CHECKING:
    from apimachinery.cel.program import Program

_RULES: Final = "x-kubernetes-validations"
_REASONS: Final = (
    *("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"),
)


MAX_RULES: Final = 2_000
"""The maximum number of rules in a schema: compiling one takes up to a millisecond."""


def validate_rules(
    schema: Mapping[str, Any],
    path: Path,
    failed: Collection[str] = (),
    *,
    check_costs: bool = True,
) -> FieldErrors:
    """Validate the expressions of a structural schema.

    Rules are not compiled if *failed* has a path within their schema, which has an error then.
    Costs are not checked if the schema is stored already: the limits may have been others then.
    """
    if _count_rules(schema) > MAX_RULES:
        yield forbidden(path, f"must not have more than {MAX_RULES} {_RULES}")
        return
    costs = RuleCosts()
    yield from _validate(schema, _Place(path, costs if check_costs else None, failed))
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
    failed: Collection[str] = ()
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
        here = path.key(key) if key else path
        return _Place(here, self.costs, self.failed, lost, often, is_root=False)

    @property
    def has_failed(self) -> bool:
        """Whether this schema, or one within it, has an error."""
        prefix = str(self.path)
        return any(path.startswith((f"{prefix}.", f"{prefix}[")) for path in self.failed)


def _validate(schema: Mapping[str, Any], place: _Place) -> FieldErrors:
    rules = () if place.has_failed else schema.get(_RULES) or ()
    for position, rule in enumerate(rules):
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
        subject = "cel expression " if str(error).startswith("must evaluate") else ""
        yield invalid(path.child("rule"), _shown(rule), f"{subject}{error}")
        return
    yield from _check_cost(program, "rule", schema, place, path)
    if text := rule.get("messageExpression", "").strip():
        try:
            message = compile_program(text, result="string", optional_old=optional)
        except InvalidExpression as error:
            here = path.child("messageExpression")
            yield invalid(here, _shown(rule), f"messageExpression {error}")
        else:
            yield from _check_cost(message, "messageExpression", schema, place, path)
    if program.uses_old and place.uncorrelated is not None:
        text = (
            "oldSelf cannot be used on the uncorrelatable portion of the schema within "
            f"{place.uncorrelated}"
        )
        yield invalid(path.child("rule"), rule["rule"], text)
    if not program.names_old and rule.get("optionalOldSelf") is not None:
        here = path.child("optionalOldSelf")
        yield invalid(here, optional, "may not be set if oldSelf is not used in rule")


def _shown(rule: Mapping[str, Any]) -> GoStruct:
    return shown(ValidationRule.model_validate(rule, by_alias=True, by_name=False))  # type: ignore[no-any-return]


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


def validate_texts(rule: ValidationRule, schema: JSONSchemaProps, path: Path) -> FieldErrors:
    """Validate a rule as far as that is possible without compiling it."""
    text, message = rule.rule.strip(), rule.message.strip()
    if not text:
        yield required(path.child("rule"), "rule is not specified")
    elif rule.message and not message:
        yield invalid(path.child("message"), rule.message, "must be non-empty if specified")
    elif _has_newlines(message):
        yield invalid(path.child("message"), rule.message, "must not contain line breaks")
    elif _has_newlines(text) and not message:
        yield required(
            path.child("message"), "message must be specified if rule contains line breaks"
        )
    if rule.message_expression and not rule.message_expression.strip():
        rule_text = "messageExpression must be non-empty if specified"
        yield required(path.child("messageExpression"), rule_text)
    if rule.reason not in (None, *_REASONS):
        yield not_supported(path.child("reason"), rule.reason, _REASONS)
    yield from _validate_field_path(rule.field_path, schema, path.child("fieldPath"))


def _validate_field_path(text: str, schema: JSONSchemaProps, path: Path) -> FieldErrors:
    if not text:
        return
    if not text.strip():
        yield invalid(path, text, "must be non-empty if specified")
    if _has_newlines(text):
        yield invalid(path, text, "must not contain line breaks")
    if not _is_declared(text, schema):
        yield invalid(path, text, "must be a valid path")


def _is_declared(text: str, schema: JSONSchemaProps) -> bool:
    try:
        steps = path_steps(text)
    except InvalidJSONPath:
        return False
    part: JSONSchemaProps | bool | None = schema
    for step in steps:
        if not isinstance(part, JSONSchemaProps):
            return False
        part = part.properties.get(step) or part.additional_properties
    return isinstance(part, JSONSchemaProps)


def _has_newlines(text: str) -> bool:
    return "\n" in text or "\r" in text
