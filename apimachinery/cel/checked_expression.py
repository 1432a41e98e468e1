"""Checked expressions: the syntax tree of a compiled CEL expression, for estimates of its cost.

The CEL library evaluates expressions but does not show them. It serializes them, as the message
`cel.expr.CheckedExpr`, of which this module decodes the tree and leaves out types and positions.
Macros are expanded: `all`, `map` and the like are loops (`Loop`).
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final


class Unsigned(int):
    """A value of CEL's type uint."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any
    """A str, bytes, bool or number; None also for null."""


@dataclass(frozen=True, slots=True)
class Identifier:
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`, or `has(operand.field)`."""

    operand: "Expression"
    field: str
    presence_only: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A function or operator; the target of a member function is its first argument."""

    function: str
    arguments: tuple["Expression", ...]
    is_member: bool = False


@dataclass(frozen=True, slots=True)
class NewList:
    items: tuple["Expression", ...]
    optional: frozenset[int] = frozenset()
    """The positions of items that are optional values: `[?item]`."""


@dataclass(frozen=True, slots=True)
class NewMap:
    """A map or message; the keys of a message are literals."""

    entries: tuple[tuple["Expression", "Expression"], ...]
    message: str = ""
    """The type of a message, as the expression names it."""
    optional: frozenset[int] = frozenset()
    """The positions of entries whose values are optional: `{?key: value}`."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A comprehension: folds the values of a list, or the keys of a map, into an accumulator."""

    variable: str
    second_variable: str
    range: "Expression"
    accumulator: str
    initial: "Expression"
    condition: "Expression"
    step: "Expression"
    result: "Expression"

    @property
    def is_binding(self) -> bool:
        """Whether this is `cel.bind`, a loop that never runs."""
        return self.range == _NOTHING and self.condition == _FALSE


Expression = Literal | Identifier | Select | Call | NewList | NewMap | Loop

_NOTHING: Final = NewList(())
_FALSE: Final = Literal(False)


def read_expression(serialized: bytes) -> Expression:
    """Decode the syntax tree of a serialized expression."""
    checked = dict(_fields(serialized))[2]  # the message is wrapped in a google.protobuf.Any
    return _expression(dict(_fields(checked))[4])


def read_parsed_expression(serialized: bytes) -> Expression:
    """Decode the syntax tree of an expression that was compiled without a check of its types."""
    parsed = dict(_fields(serialized))[2]
    return _expression(dict(_fields(parsed))[2])


def descendants(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all of its parts."""
    yield expression
    for child in children(expression):
        yield from descendants(child)


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct parts of an expression."""
    match expression:
        case Select(operand=operand):
            return (operand,)
        case Call(arguments=arguments):
            return arguments
        case NewList(items=items):
            return items
        case NewMap(entries=entries):
            return (*(key for key, _ in entries), *(value for _, value in entries))
        case Loop() as loop:
            return (loop.range, loop.initial, loop.condition, loop.step, loop.result)
        case _:
            return ()


def identifiers(expression: Expression) -> set[str]:
    """Return the names of all variables that an expression mentions."""
    names = {expression.name} if isinstance(expression, Identifier) else set[str]()
    return names.union(*map(identifiers, children(expression)))


def _expression(data: bytes) -> Expression:
    for number, value in _fields(data):
        if number in _KINDS:
            return _KINDS[number](value)
    return Literal(None)


def _literal(data: bytes) -> Literal:
    for number, value in _fields(data):
        match number:
            case 2:
                return Literal(bool(value))
            case 3:
                return Literal(value - 2**64 if value >= 2**63 else value)
            case 6:
                return Literal(value.decode(errors="replace"))
            case 4:
                return Literal(Unsigned(value))
            case 5:
                return Literal(struct.unpack("<d", value)[0])
            case 7:
                return Literal(value)
    return Literal(None)


def _identifier(data: bytes) -> Identifier:
    return Identifier(_text(dict(_fields(data)).get(1, b"")))


def _select(data: bytes) -> Select:
    parts = dict(_fields(data))
    return Select(_expression(parts[1]), _text(parts.get(2, b"")), bool(parts.get(3)))


def _call(data: bytes) -> Call:
    parts = list(_fields(data))
    targets = [_expression(value) for number, value in parts if number == 1]
    arguments = [_expression(value) for number, value in parts if number == 3]
    return Call(_text(dict(parts)[2]), (*targets, *arguments), bool(targets))


def _new_list(data: bytes) -> NewList:
    parts = list(_fields(data))
    optional = [position for number, value in parts if number == 2 for position in _packed(value)]
    items = tuple(_expression(value) for number, value in parts if number == 1)
    return NewList(items, frozenset(optional))


def _new_map(data: bytes) -> NewMap:
    parts = list(_fields(data))
    entries = [dict(_fields(value)) for number, value in parts if number == 2]
    return NewMap(
        tuple(
            (
                _expression(entry[3]) if 3 in entry else Literal(_text(entry.get(2, b""))),
                _expression(entry.get(4, b"")),
            )
            for entry in entries
        ),
        _text(dict(parts).get(1, b"")),
        frozenset(position for position, entry in enumerate(entries) if entry.get(5)),
    )


def _packed(value: Any) -> Iterator[int]:
    """Yield the numbers of a repeated field, packed or one alone."""
    if isinstance(value, int):
        yield value
        return
    position = 0
    while position < len(value):
        number, position = _varint(value, position)
        yield number


def _loop(data: bytes) -> Loop:
    parts = dict(_fields(data))
    return Loop(
        variable=_text(parts.get(1, b"")),
        second_variable=_text(parts.get(8, b"")),
        range=_expression(parts.get(2, b"")),
        accumulator=_text(parts.get(3, b"")),
        initial=_expression(parts.get(4, b"")),
        condition=_expression(parts.get(5, b"")),
        step=_expression(parts.get(6, b"")),
        result=_expression(parts.get(7, b"")),
    )


_KINDS: Final[Mapping[int, Callable[[bytes], Expression]]] = {
    3: _literal,
    4: _identifier,
    5: _select,
    6: _call,
    7: _new_list,
    8: _new_map,
    9: _loop,
}
"""The kinds of expressions by their field numbers in `cel.expr.Expr`."""


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the number and value of each field of a protobuf message."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        wire_type = tag & 7
        if wire_type == 0:
            value, position = _varint(data, position)
            yield tag >> 3, value
            continue
        length = {1: 8, 5: 4}.get(wire_type)
        if length is None:
            length, position = _varint(data, position)
        yield tag >> 3, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return value, position
        shift += 7
