"""Rules of schemas (`x-kubernetes-validations`): compiled where they stand, and asked there.

A rule that speaks of `oldSelf` is about a change, and is asked only where something was before.
On an update other rules are not asked of what stays as it was.
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
from apimachinery.structural.node import Node
from apimachinery.structural.schema_validation import ABSENT
from apimachinery.structural.value_checks import same

RULES: Final = "x-kubernetes-validations"

Ask = Callable[[Any, Any, Path], FieldErrors]
"""From a value, what was there before or ABSENT, and the place, to the rules it breaks."""


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One rule, compiled."""

    text: str
    program: Program
    message: str
    message_program: Program | None
    reason: str
    steps: tuple[str, ...]
    """The field that is blamed, below the value."""

    @property
    def said(self) -> str:
        return self.message or f"failed rule: {self.text}"


def compile_rule(source: Mapping[str, Any]) -> CompiledRule:
    """A rule as a schema has it, or InvalidExpression."""
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


def compile_rules(node: Node, *, root: bool = False) -> Ask | None:
    """What asks every rule in a schema; None if there are none."""
    own = [compile_rule(source) for source in node.source.get(RULES) or ()]
    convert = compile_conversion(node, root=root) if own else None
    parts = ((name, compile_rules(part)) for name, part in node.properties.items())
    members = {name: found for name, found in parts if found is not None}
    others = compile_rules(node.additional) if node.additional else None
    items = compile_rules(node.items) if node.items else None
    if not own and not members and others is None and items is None:
        return None
    keys = node.list_keys if node.list_type == "map" else ()

    def ask(value: Any, old: Any, path: Path) -> FieldErrors:
        if own and (value is not None or node.nullable):
            yield from _ask_own(own, convert, value, old, path)
        if isinstance(value, dict):
            yield from _ask_members(value, old, path, members, others)
        elif isinstance(value, list) and items is not None:
            before = _by_keys(old, keys)
            for position, item in enumerate(value):
                previous = before.get(_key(item, keys), ABSENT) if before else ABSENT
                yield from items(item, previous, path.index(position))

    return ask


def _ask_members(
    value: dict[str, Any],
    old: Any,
    path: Path,
    members: Mapping[str, Ask],
    others: Ask | None,
) -> Iterator[FieldError]:
    before = old if isinstance(old, dict) else {}
    for name, item in value.items():
        if name in members:
            yield from members[name](item, before.get(name, ABSENT), path.child(name))
        elif others is not None:
            yield from others(item, before.get(name, ABSENT), path.key(name))


def _by_keys(old: Any, keys: tuple[str, ...]) -> dict[Any, Any]:
    if not keys or not isinstance(old, list):
        return {}
    return {_key(item, keys): item for item in old}


def _key(item: Any, keys: tuple[str, ...]) -> Any:
    return tuple(str(item.get(key)) for key in keys) if isinstance(item, dict) else None


def _ask_own(
    rules: list[CompiledRule], convert: Convert | None, value: Any, old: Any, path: Path
) -> FieldErrors:
    has_old = old is not ABSENT
    unchanged = has_old and same(value, old)
    seen = convert(value) if convert else value
    before = None if not has_old else convert(old) if convert else old
    for rule in rules:
        if rule.program.uses_old:
            if not has_old and not rule.program.optional_old:
                continue
        elif unchanged:
            continue
        yield from _ask(rule, seen, before, has_old, path)


def _ask(rule: CompiledRule, value: Any, old: Any, has_old: bool, path: Path) -> FieldErrors:
    try:
        if rule.program.evaluate(value, old, has_old=has_old):
            return
    except EvaluationError as error:
        detail = f"{error} evaluating rule: {rule.message or rule.text}"
        yield FieldError(ErrorType.INVALID, str(path), OMITTED, detail)
        return
    here = path
    for step in rule.steps:
        here = here.child(step)
    detail = _message(rule, value, old, has_old)
    if rule.reason == "FieldValueForbidden":
        yield forbidden(here, detail)
    elif rule.reason == "FieldValueRequired":
        yield required(here, detail)
    elif rule.reason == "FieldValueDuplicate":
        yield duplicate(here, value)
    else:
        yield FieldError(ErrorType.INVALID, str(here), OMITTED, detail)


def _message(rule: CompiledRule, value: Any, old: Any, has_old: bool) -> str:
    """What the rule's own expression says, if it says something that fits on a line."""
    program = rule.message_program
    if program is None or (program.uses_old and not has_old and not program.optional_old):
        return rule.said
    try:
        text = str(program.evaluate(value, old, has_old=has_old)).strip()
    except EvaluationError:
        return rule.said
    return text if text and "\n" not in text and "\r" not in text else rule.said
