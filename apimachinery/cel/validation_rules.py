"""Validation rules of schemas (`x-kubernetes-validations`), compiled and evaluated per node.

A transition rule, which uses `oldSelf`, is evaluated only where there is an old value. On an update
all other rules are skipped for values that have not changed (ratcheting). An item of a list without
keys has no old value of its own, but has not changed if the list has not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apimachinery.cel.compiled_rule import CompiledRule, compile_rule
from apimachinery.cel.program import EvaluationError
from apimachinery.cel.rule_budget import BudgetExceeded, RuleBudget
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
from apimachinery.structural.schema_node import SchemaNode
from apimachinery.structural.schema_validation import ABSENT
from apimachinery.structural.value_checks import equal_json

RULES: Final = "x-kubernetes-validations"

_STARTING: Final = 300
"""The cost of an evaluation in time, however cheap its expression is: 10 µs."""
_ESTIMATING: Final = 3_000
"""The cost in time of looking at the sizes of values."""


@dataclass(frozen=True, slots=True)
class RuleNode:
    """The rules of a node of a schema, and of the nodes below it."""

    own: tuple[CompiledRule, ...]
    members: "Mapping[str, RuleNode]"
    additional: "RuleNode | None"
    items: "RuleNode | None"
    keys: tuple[str, ...]
    """The keys by which an item of a list is found in the old list."""
    nullable: bool

    def check(self, value: Any, old: Any) -> FieldErrors:
        """Yield the violated rules of an object that replaces *old*, or ABSENT."""
        yield from self._check(value, old, Path(), False, RuleBudget())

    def cost(self, value: Any, limit: int) -> int:
        """Return what checking a value costs at most in time; stop counting above *limit*."""
        cost = 0
        for rule in self.own:
            expression = rule.condition
            cost += _STARTING if expression.is_cheap else _ESTIMATING
            cost += expression.cost(value)
            if cost > limit:
                return cost
        for below, part in self._parts(value):
            cost += below.cost(part, limit - cost)
            if cost > limit:
                break
        return cost

    def _parts(self, value: Any) -> "Iterator[tuple[RuleNode, Any]]":
        if isinstance(value, dict):
            for name, part in value.items():
                below = self.members.get(name, self.additional)
                if below is not None:
                    yield below, part
        elif isinstance(value, list) and self.items is not None:
            for part in value:
                yield self.items, part

    def _check(
        self, value: Any, old: Any, path: Path, unchanged: bool, budget: RuleBudget
    ) -> FieldErrors:
        if not unchanged and old is not ABSENT and (self.own or self.items is not None):
            unchanged = equal_json(value, old)
        if value is not None or self.nullable:
            for rule in _applicable(self.own, old, unchanged):
                yield from _check_rule(rule, value, old, path, budget)
                if budget.exhausted:
                    return
        if isinstance(value, dict):
            yield from self._check_members(value, old, path, unchanged, budget)
        elif isinstance(value, list) and self.items is not None:
            yield from self._check_items(value, old, path, unchanged, budget)

    def _check_members(
        self, value: dict[str, Any], old: Any, path: Path, unchanged: bool, budget: RuleBudget
    ) -> FieldErrors:
        before = old if isinstance(old, dict) else {}
        for name, part in value.items():
            below = self.members.get(name, self.additional)
            if below is None:
                continue
            place = path.child(name) if name in self.members else path.key(name)
            yield from below._check(part, before.get(name, ABSENT), place, unchanged, budget)
            if budget.exhausted:
                return

    def _check_items(
        self, value: list[Any], old: Any, path: Path, unchanged: bool, budget: RuleBudget
    ) -> FieldErrors:
        assert self.items is not None
        before = _index_by_keys(old, self.keys)
        for position, item in enumerate(value):
            previous = before.get(_key_values(item, self.keys), ABSENT) if before else ABSENT
            yield from self.items._check(item, previous, path.index(position), unchanged, budget)
            if budget.exhausted:
                return


def compile_rules(node: SchemaNode, *, root: bool = False) -> RuleNode | None:
    """Compile the rules of a node and of all nodes below it; None if there are none."""
    own = tuple(compile_rule(source, node, root=root) for source in node.source.get(RULES) or ())
    parts = ((name, compile_rules(part)) for name, part in node.properties.items())
    members = {name: rules for name, rules in parts if rules is not None}
    additional = compile_rules(node.additional) if node.additional else None
    items = compile_rules(node.items) if node.items else None
    if not own and not members and additional is None and items is None:
        return None
    keys = node.list_keys if node.list_type == "map" else ()
    return RuleNode(own, members, additional, items, keys, node.nullable)


def _index_by_keys(old: Any, keys: tuple[str, ...]) -> dict[Any, Any]:
    if not keys or not isinstance(old, list):
        return {}
    return {_key_values(item, keys): item for item in old}


def _key_values(item: Any, keys: tuple[str, ...]) -> Any:
    return tuple(str(item.get(key)) for key in keys) if isinstance(item, dict) else None


def _applicable(
    rules: tuple[CompiledRule, ...], old: Any, unchanged: bool
) -> Iterator[CompiledRule]:
    for rule in rules:
        program = rule.condition.program
        if program.uses_old:
            if old is not ABSENT or program.optional_old:
                yield rule
        elif not unchanged:
            yield rule


def _check_rule(
    rule: CompiledRule, value: Any, old: Any, path: Path, budget: RuleBudget
) -> FieldErrors:
    try:
        if rule.condition.evaluate(value, old, budget):
            return
    except EvaluationError as error:
        detail = f"{error} evaluating rule: {rule.message or rule.text}"
        yield FieldError(ErrorType.INVALID, str(path), OMITTED, detail)
        return
    except BudgetExceeded as error:
        yield FieldError(ErrorType.INVALID, str(path), rule.type or OMITTED, str(error))
        return
    field_path = path
    for step in rule.steps:
        field_path = field_path.child(step)
    detail = _message(rule, value, old, budget)
    if rule.reason == "FieldValueForbidden":
        yield forbidden(field_path, detail)
    elif rule.reason == "FieldValueRequired":
        yield required(field_path, detail)
    elif rule.reason == "FieldValueDuplicate":
        yield duplicate(field_path, value)
    else:
        yield FieldError(ErrorType.INVALID, str(field_path), OMITTED, detail)


_MAX_MESSAGE_BYTES: Final = 5 * 1024


def _message(rule: CompiledRule, value: Any, old: Any, budget: RuleBudget) -> str:
    """Return the value of `messageExpression` if it is one short line, else the fallback."""
    if rule.message_expression is None:
        return rule.fallback_message
    program = rule.message_expression.program
    if program.uses_old and old is ABSENT and not program.optional_old:
        return rule.fallback_message
    try:
        text = str(rule.message_expression.evaluate(value, old, budget)).strip()
    except BudgetExceeded as error:
        return str(error)
    except EvaluationError:
        return rule.fallback_message
    if not text or "\n" in text or "\r" in text or len(text.encode()) > _MAX_MESSAGE_BYTES:
        return rule.fallback_message
    return text
