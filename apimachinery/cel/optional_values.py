"""Optional values: where an expression may pass one to a function in Python.

The CEL library ends the process when it converts an optional value for Python. So an expression in
which that could happen is refused when it is compiled; `orValue` and `value` make an optional value
an ordinary one.
"""

from typing import Final

from apimachinery.cel.checked_expression import (
    Call,
    Expression,
    Identifier,
    Literal,
    Loop,
    NewList,
    NewMap,
    Select,
    children,
)

_FUNCTIONS: Final = frozenset(
    (
        *("isSorted", "sum", "min", "max", "indexOf", "lastIndexOf"),
        *("sets.contains", "sets.equivalent", "sets.intersects"),
    )
)
"""Functions in Python whose arguments may be lists, or of any type."""
_MAKING: Final = frozenset(
    ("optional.of", "optional.none", "optional.ofNonZeroValue", "_?._", "_[?_]", "or")
)
_PARTS: Final = frozenset(("_?._", "_[?_]"))
_TAKING: Final = frozenset(("orValue", "value", "hasValue"))
_SCALAR: Final = frozenset(
    (
        *("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "_&&_", "_||_", "!_", "@in"),
        *("size", "type", "string", "int", "uint", "double", "hasValue", *_FUNCTIONS),
    )
)
"""Functions whose results are no optional values, and have none within."""


def passes_optionals(expression: Expression, names: frozenset[str] = frozenset()) -> bool:
    """Return whether an expression may pass an optional value to a function in Python.

    *names* are the variables that may be, or contain, optional values.
    """
    if isinstance(expression, Loop):
        inside = _names_inside(expression, names)
        return (
            passes_optionals(expression.range, names)
            or passes_optionals(expression.initial, names)
            or any(
                passes_optionals(part, inside)
                for part in (expression.condition, expression.step, expression.result)
            )
        )
    if isinstance(expression, Call):
        arguments = expression.arguments
        if expression.function in _FUNCTIONS and any(_leaks(each, names) for each in arguments):
            return True
        if expression.function in _TAKING and _nested(arguments[0], names):
            return True
    return any(passes_optionals(part, names) for part in children(expression))


def _leaks(expression: Expression, names: frozenset[str]) -> bool:
    """Return whether a value may be optional, or contain an optional value."""
    match expression:
        case Literal():
            return False
        case Identifier(name=name):
            return name in names
        case Select(presence_only=True):
            return False
        case Call(function=function, arguments=arguments):
            return _call_leaks(function, arguments, names)
        case NewList(items=items, optional=optional):
            return any(
                (_nested if position in optional else _leaks)(item, names)
                for position, item in enumerate(items)
            )
        case NewMap(entries=entries, optional=optional):
            return any(
                (_nested if position in optional else _leaks)(value, names)
                for position, (_, value) in enumerate(entries)
            )
        case Loop():
            inside = _names_inside(expression, names)
            return any(_leaks(part, inside) for part in (expression.step, expression.result))
    return any(_leaks(part, names) for part in children(expression))


def _call_leaks(function: str, arguments: tuple[Expression, ...], names: frozenset[str]) -> bool:
    if function in _MAKING:
        return True
    if function in _SCALAR:
        return False
    if function in _TAKING:
        return _nested(arguments[0], names) or any(_leaks(each, names) for each in arguments[1:])
    return any(_leaks(each, names) for each in arguments)


def _nested(expression: Expression, names: frozenset[str]) -> bool:
    """Return whether what an optional value contains may be optional in turn."""
    if isinstance(expression, Call) and expression.function in _PARTS:
        return _nested(expression.arguments[0], names)
    if isinstance(expression, Call) and expression.function == "or":
        return any(_nested(each, names) for each in expression.arguments)
    if isinstance(expression, Call) and expression.function in _MAKING:
        return any(_leaks(each, names) for each in expression.arguments)
    if isinstance(expression, Call) and expression.function == "_?_:_":
        return any(_nested(each, names) for each in expression.arguments[1:])
    if isinstance(expression, Identifier | Select):
        return False  # `oldSelf`, which is optional, contains a document
    return _leaks(expression, names)


def _names_inside(loop: Loop, names: frozenset[str]) -> frozenset[str]:
    """Return the variables that may be optional within a loop."""
    own = {loop.accumulator, loop.variable, loop.second_variable}
    inside = names - own
    if _leaks(loop.range, names):
        inside |= {loop.variable, loop.second_variable}
    if _leaks(loop.initial, names) or _leaks(loop.step, inside):
        inside |= {loop.accumulator}
    return inside
