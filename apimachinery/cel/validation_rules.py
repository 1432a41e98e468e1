"""Validation rules of schemas (`x-kubernetes-validations`), compiled and evaluated per node.

A transition rule, which uses `oldSelf`, is evaluated only where there is an old value. On an update
all other rules are skipped for values that have not changed (ratcheting). An item of a list without
keys has no old value of its own, but has not changed if the list has not.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apimachinery.cel.cel_values import Convert, compile_conversion
from apimachinery.cel.program import EvaluationError, InvalidExpression, Program
from apimachinery.fieldpath import (
    OMITTED,
    ErrorType,
    FieldError,
    FieldErrors,
    Path,
    duplicate,
    forbidden,
    required,
)
from apimachinery.structural.jsonpath import InvalidJSONPath, path_steps
from apimachinery.structural.schema_node import Node
from apimachinery.structural.schema_validation import ABSENT
from apimachinery.structural.value_checks import equal_json

RULES: Final = "x-kubernetes-validations"

CheckRules = Callable[[Any, Any, Path, bool], FieldErrors]
"""Yields the violated rules of a value, given the old value or ABSENT, the path, and whether the
value is a part of one that has not changed.
"""


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A compiled rule."""

    text: str
    program: Program
    message: str
    message_program: Program | None
    reason: str
    steps: tuple[str, ...]
    """The path, below the value, of the field that the error names (`fieldPath`)."""

    @property
    def fallback_message(self) -> str:
        return self.message or f"failed rule: {self.text}"


def compile_rule(source: Mapping[str, Any]) -> CompiledRule:
    """Compile a rule of a schema; raise InvalidExpression if a part of it is invalid."""
    text = source["rule"].strip()
    optional = bool(source.get("optionalOldSelf"))
    expression = source.get("messageExpression", "").strip()
    try:
        steps = path_steps(source.get("fieldPath", "").strip())
    except InvalidJSONPath as error:
        raise InvalidExpression(str(error)) from None
    return CompiledRule(
        text=text,
        program=Program(text, result="bool", optional_old=optional),
        message=source.get("message", "").strip(),
        message_program=Program(expression, result="string", optional_old=optional)
        if expression
        else None,
        reason=source.get("reason") or "FieldValueInvalid",
        steps=steps,
    )


def compile_rules(node: Node, *, root: bool = False) -> CheckRules | None:
    """Compile the rules of a node and of all nodes below it; None if there are none."""
    own = [compile_rule(source) for source in node.source.get(RULES) or ()]
    convert = compile_conversion(node, root=root) if own else None
    parts = ((name, compile_rules(part)) for name, part in node.properties.items())
    members = {name: rules for name, rules in parts if rules is not None}
    additional = compile_rules(node.additional) if node.additional else None
    items = compile_rules(node.items) if node.items else None
    if not own and not members and additional is None and items is None:
        return None
    keys = node.list_keys if node.list_type == "map" else ()

    def check(value: Any, old: Any, path: Path, unchanged: bool) -> FieldErrors:
        if not unchanged and old is not ABSENT and (own or items is not None):
            unchanged = equal_json(value, old)
        if own and (value is not None or node.nullable):
            yield from _check_own(own, convert, value, old, path, unchanged)
        if isinstance(value, dict):
            yield from _check_members(value, old, path, unchanged, members, additional)
        elif isinstance(value, list) and items is not None:
            before = _index_by_keys(old, keys)
            for position, item in enumerate(value):
                previous = before.get(_key_values(item, keys), ABSENT) if before else ABSENT
                yield from items(item, previous, path.index(position), unchanged)

    return check


def _check_members(
    value: dict[str, Any],
    old: Any,
    path: Path,
    unchanged: bool,
    members: Mapping[str, CheckRules],
    additional: CheckRules | None,
) -> Iterator[FieldError]:
    before = old if isinstance(old, dict) else {}
    for name, item in value.items():
        if name in members:
            yield from members[name](item, before.get(name, ABSENT), path.child(name), unchanged)
        elif additional is not None:
            yield from additional(item, before.get(name, ABSENT), path.key(name), unchanged)


def _index_by_keys(old: Any, keys: tuple[str, ...]) -> dict[Any, Any]:
    if not keys or not isinstance(old, list):
        return {}
    return {_key_values(item, keys): item for item in old}


def _key_values(item: Any, keys: tuple[str, ...]) -> Any:
    return tuple(str(item.get(key)) for key in keys) if isinstance(item, dict) else None


def _check_own(
    rules: list[CompiledRule],
    convert: Convert | None,
    value: Any,
    old: Any,
    path: Path,
    unchanged: bool,
) -> FieldErrors:
    has_old = old is not ABSENT
    cel_value = convert(value) if convert else value
    cel_old = None if not has_old else convert(old) if convert else old
    for rule in rules:
        if rule.program.uses_old:
            if not has_old and not rule.program.optional_old:
                continue
        elif unchanged:
            continue
        yield from _check_rule(rule, cel_value, cel_old, has_old, path)


def _check_rule(rule: CompiledRule, value: Any, old: Any, has_old: bool, path: Path) -> FieldErrors:
    try:
        if rule.program.evaluate(value, old, has_old=has_old):
            return
    except EvaluationError as error:
        detail = f"{error} evaluating rule: {rule.message or rule.text}"
        yield FieldError(ErrorType.INVALID, str(path), OMITTED, detail)
        return
    field_path = path
    for step in rule.steps:
        field_path = field_path.child(step)
    detail = _message(rule, value, old, has_old)
    if rule.reason == "FieldValueForbidden":
        yield forbidden(field_path, detail)
    elif rule.reason == "FieldValueRequired":
        yield required(field_path, detail)
    elif rule.reason == "FieldValueDuplicate":
        yield duplicate(field_path, value)
    else:
        yield FieldError(ErrorType.INVALID, str(field_path), OMITTED, detail)


def _message(rule: CompiledRule, value: Any, old: Any, has_old: bool) -> str:
    """Return the value of `messageExpression` if it is one non-empty line, else the fallback."""
    program = rule.message_program
    if program is None or (program.uses_old and not has_old and not program.optional_old):
        return rule.fallback_message
    try:
        text = str(program.evaluate(value, old, has_old=has_old)).strip()
    except EvaluationError:
        return rule.fallback_message
    return text if text and "\n" not in text and "\r" not in text else rule.fallback_message
