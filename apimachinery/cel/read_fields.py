"""Read fields: which parts of a variable an expression reads.

A value is converted when it is passed to the CEL library, with everything in it. A rule about two
numbers therefore gets only these, and not the large object that they are in.
"""

from typing import Any

from apimachinery.cel.cel_values import escape
from apimachinery.cel.checked_expression import (
    Expression,
    Identifier,
    Loop,
    Select,
    children,
)
from apimachinery.cel.value_bounds import Bound
from apimachinery.structural.schema_node import SchemaNode

ReadFields = dict[str, "ReadFields | None"]
"""The fields that are read, as a tree; None if a value is read as a whole."""


def read_fields(expression: Expression, variable: str) -> ReadFields | None:
    """Return the fields of a variable that an expression reads."""
    fields: ReadFields = {}
    return fields if _collect(expression, variable, fields) else None


def select_fields(value: Any, fields: ReadFields | None) -> Any:
    """Return a value with only the fields that are read."""
    if fields is None or not isinstance(value, dict):
        return value
    return {
        name: select_fields(value[name], below) for name, below in fields.items() if name in value
    }


def fields_weight(bound: Bound, fields: ReadFields | None) -> int:
    """Return the weight of the fields that are read."""
    if fields is None:
        return bound.weight
    return 1 + sum(fields_weight(bound.field(name), below) for name, below in fields.items())


def property_fields(fields: ReadFields | None, node: SchemaNode | None) -> ReadFields | None:
    """Return the fields under the names of the properties, which CEL may have to escape."""
    if fields is None or node is None or not (node.properties or node.additional):
        return fields
    names = {name: name for name in fields}
    if not names.keys() <= set(node.properties):
        names = {escape(name): name for name in node.properties}
    return {
        names.get(name, name): property_fields(
            below, node.properties.get(names.get(name, name), node.additional)
        )
        for name, below in fields.items()
    }


def _collect(expression: Expression, variable: str, fields: ReadFields) -> bool:
    """Add the fields that are read; return False if the variable is read as a whole."""
    path = _path(expression, variable)
    if path is not None:
        return _add_path(fields, path)
    if isinstance(expression, Loop) and variable in (
        expression.variable,
        expression.second_variable,
        expression.accumulator,
    ):
        return False
    return all(_collect(part, variable, fields) for part in children(expression))


def _path(expression: Expression, variable: str) -> list[str] | None:
    """Return the names in `variable.a.b`; None for any other expression."""
    names: list[str] = []
    while isinstance(expression, Select):
        names.append(expression.field)
        expression = expression.operand
    if not isinstance(expression, Identifier) or expression.name != variable:
        return None
    return names[::-1]


def _add_path(fields: ReadFields, path: list[str]) -> bool:
    if not path:
        return False
    for name in path[:-1]:
        below = fields.setdefault(name, {})
        if below is None:  # read as a whole already
            return True
        fields = below
    fields[path[-1]] = None
    return True
