"""Compiled rules: a rule of a schema with its expressions, each bound to the node it is about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apimachinery.cel.cel_values import Convert, compile_conversion
from apimachinery.cel.program import InvalidExpression, Program, compile_program
from apimachinery.cel.read_fields import ReadFields, property_fields, select_fields
from apimachinery.cel.rule_budget import RuleBudget
from apimachinery.cel.value_bounds import ActualBound, DeclaredBound
from apimachinery.structural.jsonpath import InvalidJSONPath, path_steps
from apimachinery.structural.schema_node import SchemaNode
from apimachinery.structural.schema_validation import ABSENT

CHEAP: Final = 20_000
"""The cost up to which the sizes of actual values are not looked at: half a millisecond."""


class BoundExpression:
    """An expression over the values of one node."""

    def __init__(self, program: Program, node: SchemaNode, *, root: bool) -> None:
        self.program = program
        self._fields = property_fields(program.reads, node)
        self._old_fields = property_fields(program.reads_old, node)
        self._convert = compile_conversion(node, root=root)
        declared = DeclaredBound(node.source, is_resource=root)
        self.largest_cost = program.evaluation_cost(declared, declared)
        """The cost of evaluating the expression on the largest value of the schema."""

    def evaluate(self, value: Any, old: Any, budget: RuleBudget) -> Any:
        """Return the result; raise EvaluationError or BudgetExceeded."""
        selected = _prepare(value, self._fields, self._convert)
        has_old = old is not ABSENT
        selected_old = None
        if has_old and self.program.uses_old:
            selected_old = _prepare(old, self._old_fields, self._convert)
        budget.spend(self._cost(selected, selected_old), self.program.text)
        return self.program.evaluate(selected, selected_old, has_old=has_old)

    @property
    def is_cheap(self) -> bool:
        """Whether evaluating the expression is cheap on every value of the schema."""
        return self.largest_cost <= CHEAP

    def cost(self, value: Any) -> int:
        """Return the maximum cost of evaluating the expression on a value of the same size."""
        if self.is_cheap:
            return self.largest_cost
        selected = _prepare(value, self._fields, self._convert)
        return self._cost(selected, selected)

    def _cost(self, selected: Any, selected_old: Any) -> int:
        if self.is_cheap:
            return self.largest_cost
        return self.program.evaluation_cost(ActualBound([selected]), ActualBound([selected_old]))


def _prepare(value: Any, fields: ReadFields | None, convert: Convert | None) -> Any:
    selected = select_fields(value, fields)
    return selected if convert is None else convert(selected)


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A compiled rule."""

    text: str
    condition: BoundExpression
    message: str
    message_expression: BoundExpression | None
    reason: str
    steps: tuple[str, ...]
    """The path, below the value, of the field that the error names (`fieldPath`)."""
    type: str
    """The type of the values, for errors that do not show them."""

    @property
    def fallback_message(self) -> str:
        return self.message or f"failed rule: {self.text}"


def compile_rule(
    source: Mapping[str, Any], node: SchemaNode, *, root: bool = False
) -> CompiledRule:
    """Compile a rule of a schema; raise InvalidExpression if a part of it is invalid."""
    text = source["rule"].strip()
    optional = bool(source.get("optionalOldSelf"))
    expression = source.get("messageExpression", "").strip()
    try:
        steps = path_steps(source.get("fieldPath", "").strip())
    except InvalidJSONPath as error:
        raise InvalidExpression(str(error)) from None
    condition = compile_program(text, result="bool", optional_old=optional)
    message = None
    if expression:
        message = compile_program(expression, result="string", optional_old=optional)
    return CompiledRule(
        text=text,
        condition=BoundExpression(condition, node, root=root),
        message=source.get("message", "").strip(),
        message_expression=BoundExpression(message, node, root=root) if message else None,
        reason=source.get("reason") or "FieldValueInvalid",
        steps=steps,
        type=node.type,
    )
