"""Macros that the parser does not expand: those with two variables, and `sortBy`.

`list.all(index, value, predicate)` becomes a loop with two variables, as the parser does with the
macros of one.
"""

from collections.abc import Callable
from typing import Final

from apimachinery.cel.checked_expression import (
    Call,
    Expression,
    Identifier,
    Literal,
    Loop,
    NewList,
    NewMap,
)

_RESULT: Final = "@result"
_ACCUMULATED: Final = Identifier(_RESULT)
_TRUE: Final = Literal(True)


def expand(call: Call) -> Expression | None:
    """Return the loop that a macro stands for; None for an ordinary function."""
    if not call.is_member:
        return None
    target, *arguments = call.arguments
    if call.function == "sortBy" and len(arguments) == 2:
        return _sort_by(target, *arguments)
    expansion = _EXPANSIONS.get((call.function, len(arguments)))
    if expansion is None:
        return None
    key, value, *parts = arguments
    if not isinstance(key, Identifier) or not isinstance(value, Identifier):
        return None
    return expansion(target, key.name, value.name, parts)


def _loop(
    target: Expression,
    key: str,
    value: str,
    *,
    initial: Expression,
    step: Expression,
    condition: Expression = _TRUE,
    result: Expression = _ACCUMULATED,
) -> Loop:
    return Loop(key, value, target, _RESULT, initial, condition, step, result)


def _all(target: Expression, key: str, value: str, parts: list[Expression]) -> Expression:
    return _loop(
        target,
        key,
        value,
        initial=_TRUE,
        condition=Call("@not_strictly_false", (_ACCUMULATED,)),
        step=Call("_&&_", (_ACCUMULATED, parts[0])),
    )


def _exists(target: Expression, key: str, value: str, parts: list[Expression]) -> Expression:
    return _loop(
        target,
        key,
        value,
        initial=Literal(False),
        condition=Call("@not_strictly_false", (Call("!_", (_ACCUMULATED,)),)),
        step=Call("_||_", (_ACCUMULATED, parts[0])),
    )


def _exists_one(target: Expression, key: str, value: str, parts: list[Expression]) -> Expression:
    counted = Call("_+_", (_ACCUMULATED, Literal(1)))
    return _loop(
        target,
        key,
        value,
        initial=Literal(0),
        step=Call("_?_:_", (parts[0], counted, _ACCUMULATED)),
        result=Call("_==_", (_ACCUMULATED, Literal(1))),
    )


def _transform_list(
    target: Expression, key: str, value: str, parts: list[Expression]
) -> Expression:
    step: Expression = Call("_+_", (_ACCUMULATED, NewList((parts[-1],))))
    return _loop(target, key, value, initial=NewList(()), step=_filtered(step, parts))


def _transform_map(target: Expression, key: str, value: str, parts: list[Expression]) -> Expression:
    step: Expression = Call("cel.@mapInsert", (_ACCUMULATED, Identifier(key), parts[-1]))
    return _loop(target, key, value, initial=NewMap(()), step=_filtered(step, parts))


def _transform_map_entry(
    target: Expression, key: str, value: str, parts: list[Expression]
) -> Expression:
    step: Expression = Call("cel.@mapInsert", (_ACCUMULATED, parts[-1]))
    return _loop(target, key, value, initial=NewMap(()), step=_filtered(step, parts))


def _filtered(step: Expression, parts: list[Expression]) -> Expression:
    if len(parts) == 1:
        return step
    return Call("_?_:_", (parts[0], step, _ACCUMULATED))


def _sort_by(target: Expression, variable: Expression, key: Expression) -> Expression | None:
    if not isinstance(variable, Identifier):
        return None
    keys = Loop(
        variable.name,
        "",
        target,
        _RESULT,
        NewList(()),
        _TRUE,
        Call("_+_", (_ACCUMULATED, NewList((key,)))),
        _ACCUMULATED,
    )
    return Call("@sortByAssociatedKeys", (target, keys))


_EXPANSIONS: Final[
    dict[tuple[str, int], Callable[[Expression, str, str, list[Expression]], Expression]]
] = {
    ("all", 3): _all,
    ("exists", 3): _exists,
    ("existsOne", 3): _exists_one,
    ("exists_one", 3): _exists_one,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
}
