"""Plan: a syntax tree becomes functions of an evaluation.

Names are resolved once: local variables of loops to positions, everything else to variables or
types. Errors are exceptions. `&&` and `||` evaluate both sides before one of them fails, as CEL
prescribes.
"""

from collections.abc import Callable, Collection
from typing import Any, Final

from apimachinery.cel.checked_expression import (
    Call,
    Expression,
    Identifier,
    Literal,
    Loop,
    NewList,
    NewMap,
    Select,
)
from apimachinery.cel.interpreter import operators
from apimachinery.cel.interpreter.evaluation import Evaluation
from apimachinery.cel.interpreter.loops import Failed, Runner, fold, growing_list
from apimachinery.cel.interpreter.macros import expand
from apimachinery.cel.interpreter.objects import new_message
from apimachinery.cel.interpreter.overloads import Functions
from apimachinery.cel.interpreter.values import (
    EMPTY,
    OVERLOAD,
    TYPE_NAMES,
    CELError,
    Optional,
    TypeValue,
    type_name,
)

_NEW_LIST: Final = 10
_NEW_MAP: Final = 30
_NEW_MESSAGE: Final = 40


class Planner:
    """Plans one expression over the given variables."""

    def __init__(self, functions: Functions, variables: Collection[str]) -> None:
        self._functions = functions
        self._variables = frozenset(variables)
        self._scopes: dict[str, list[int]] = {}
        self._accumulators: set[int] = set()
        self.slots = 0
        """The number of local variables."""

    def plan(self, expression: Expression) -> Runner:
        """Return the function that evaluates an expression."""
        match expression:
            case Literal(value=value):
                return lambda evaluation: value
            case Identifier(name=name):
                return self._identifier(name)
            case Select():
                return self._select(expression)
            case Call():
                return self._call(expression)
            case NewList():
                return self._list(expression)
            case NewMap():
                return self._message(expression) if expression.message else self._map(expression)
            case Loop() if expression.is_binding:
                return self._binding(expression)
            case Loop():
                return self._loop(expression)

    def _identifier(self, name: str) -> Runner:
        if self._scopes.get(name):
            slot = self._scopes[name][-1]
            return _accumulator(slot) if slot in self._accumulators else _local(slot)
        if name in self._variables:
            return _variable(name)
        if name in TYPE_NAMES:
            return lambda evaluation: TypeValue(name)
        raise CELError(f"undeclared reference to '{name}' (in container '')")

    def _select(self, select: Select) -> Runner:
        path = _dotted(select)
        if path is not None and not self._scopes.get(path.partition(".")[0]):
            if path in self._variables:
                return _variable(path)
            if path.partition(".")[0] not in self._variables:
                return lambda evaluation: TypeValue(path)
        operand, field = self.plan(select.operand), select.field
        if select.presence_only:
            return lambda evaluation: operators.has_field(operand(evaluation), field)

        def run(evaluation: Evaluation) -> Any:
            value = operand(evaluation)
            evaluation.cost += 1
            if type(value) is dict and field in value:
                return value[field]
            return operators.select(value, field)

        return run

    def _call(self, call: Call) -> Runner:
        expanded = expand(call)
        if expanded is not None:
            return self.plan(expanded)
        special = _SPECIAL.get(call.function)
        if special is not None:
            return special(*map(self.plan, call.arguments))
        if call.function == "_+_" and (grown := self._growing(call)):
            return grown
        if (operator := operators.BINARY.get(call.function)) and len(call.arguments) == 2:
            return _binary(operator, *map(self.plan, call.arguments))
        name, arguments = self._resolve(call)
        if name not in self._functions:
            raise CELError(f"undeclared reference to '{name}' (in container '')")
        return _function(self._functions[name].call, [self.plan(each) for each in arguments])

    def _resolve(self, call: Call) -> tuple[str, tuple[Expression, ...]]:
        """Return the name and arguments of a call: the target of `sets.contains` is none."""
        if call.is_member:
            space = _dotted(call.arguments[0])
            if space is not None and not self._scopes.get(space.partition(".")[0]):
                name = f"{space}.{call.function}"
                if name in self._functions:
                    return name, call.arguments[1:]
        return call.function, call.arguments

    def _growing(self, call: Call) -> Runner | None:
        """Return how to append to the list that a loop builds, if that is what the call does."""
        left, right = call.arguments
        if not isinstance(left, Identifier) or not isinstance(right, NewList):
            return None
        slots = self._scopes.get(left.name)
        if not slots or slots[-1] not in self._accumulators or len(right.items) != 1:
            return None
        return growing_list(slots[-1], self.plan(right.items[0]), cost=_NEW_LIST + 2)

    def _list(self, new: NewList) -> Runner:
        items = [self.plan(item) for item in new.items]
        if all(isinstance(item, Literal) for item in new.items):
            constant = [item.value for item in new.items if isinstance(item, Literal)]
            return lambda evaluation: constant
        if not new.optional:

            def run(evaluation: Evaluation) -> Any:
                evaluation.cost += _NEW_LIST
                return [item(evaluation) for item in items]

            return run
        flagged = [(item, position in new.optional) for position, item in enumerate(items)]

        def run_optional(evaluation: Evaluation) -> Any:
            evaluation.cost += _NEW_LIST
            values: list[Any] = []
            for item, optional in flagged:
                value = item(evaluation)
                if not optional:
                    values.append(value)
                elif _optional(value).has_value:
                    values.append(value.content)
            return values

        return run_optional

    def _map(self, new: NewMap) -> Runner:
        entries = self._entries(new)

        def run(evaluation: Evaluation) -> Any:
            evaluation.cost += _NEW_MAP
            return dict(_evaluated(entries, evaluation))

        return run

    def _message(self, new: NewMap) -> Runner:
        entries, name = self._entries(new), new.message

        def run(evaluation: Evaluation) -> Any:
            evaluation.cost += _NEW_MESSAGE
            return new_message(name, dict(_evaluated(entries, evaluation)))

        return run

    def _entries(self, new: NewMap) -> "list[Entry]":
        return [
            (self.plan(key), self.plan(value), position in new.optional)
            for position, (key, value) in enumerate(new.entries)
        ]

    def _binding(self, loop: Loop) -> Runner:
        initial = self.plan(loop.initial)
        slot = self._push(loop.accumulator)
        result = self.plan(loop.result)
        self._pop(loop.accumulator)

        def run(evaluation: Evaluation) -> Any:
            evaluation.locals[slot] = initial(evaluation)
            return result(evaluation)

        return run

    def _loop(self, loop: Loop) -> Runner:
        iterated, initial = self.plan(loop.range), self.plan(loop.initial)
        accumulator = self._push(loop.accumulator)
        self._accumulators.add(accumulator)
        variable = self._push(loop.variable)
        second = self._push(loop.second_variable) if loop.second_variable else None
        condition, step = self.plan(loop.condition), self.plan(loop.step)
        self._pop(loop.variable)
        if loop.second_variable:
            self._pop(loop.second_variable)
        result = self.plan(loop.result)
        self._pop(loop.accumulator)
        return fold(
            iterated,
            initial,
            None if loop.condition == _TRUE else condition,
            step,
            result,
            slots=(accumulator, variable, second),
            builds=isinstance(loop.initial, NewList | NewMap),
        )

    def _push(self, name: str) -> int:
        slot = self.slots
        self.slots += 1
        self._scopes.setdefault(name, []).append(slot)
        return slot

    def _pop(self, name: str) -> None:
        self._scopes[name].pop()


Entry = tuple[Runner, Runner, bool]
_TRUE: Final = Literal(True)


def _evaluated(entries: list[Entry], evaluation: Evaluation) -> Any:
    for key, value, optional in entries:
        name, content = key(evaluation), value(evaluation)
        if not isinstance(name, str | int):
            raise CELError(f"unsupported key type: {type_name(name)}")
        if not optional:
            yield name, content
        elif _optional(content).has_value:
            yield name, content.content


def _optional(value: Any) -> Optional:
    if isinstance(value, Optional):
        return value
    raise CELError(f"cannot initialize optional list element from non-optional value {value}")


def _dotted(expression: Expression) -> str | None:
    """Return `a.b.c` if an expression is nothing but names."""
    names: list[str] = []
    while isinstance(expression, Select) and not expression.presence_only:
        names.append(expression.field)
        expression = expression.operand
    if not isinstance(expression, Identifier):
        return None
    return ".".join((expression.name, *names[::-1]))


def _local(slot: int) -> Runner:
    def run(evaluation: Evaluation) -> Any:
        evaluation.cost += 1
        return evaluation.locals[slot]

    return run


def _accumulator(slot: int) -> Runner:
    def run(evaluation: Evaluation) -> Any:
        evaluation.cost += 1
        value = evaluation.locals[slot]
        if type(value) is Failed:
            raise value.error
        return value

    return run


def _variable(name: str) -> Runner:
    def run(evaluation: Evaluation) -> Any:
        evaluation.cost += 1
        return evaluation.variables[name]

    return run


def _binary(operator: Callable[[Evaluation, Any, Any], Any], left: Runner, right: Runner) -> Runner:
    return lambda evaluation: operator(evaluation, left(evaluation), right(evaluation))


def _function(call: Callable[[Evaluation, list[Any]], Any], arguments: list[Runner]) -> Runner:
    return lambda evaluation: call(evaluation, [argument(evaluation) for argument in arguments])


def _boolean(runner: Runner, evaluation: Evaluation) -> bool | CELError:
    """Return a side of a logical operator, or its error."""
    try:
        value = runner(evaluation)
    except CELError as error:
        return error
    return value if type(value) is bool else CELError(OVERLOAD)


def _logical(decisive: bool) -> Callable[[Runner, Runner], Runner]:
    """Return `||`, which is decided by a true side, or `&&`, decided by a false one."""

    def plan(left: Runner, right: Runner) -> Runner:
        def run(evaluation: Evaluation) -> Any:
            first = _boolean(left, evaluation)
            if first is decisive:
                return decisive
            second = _boolean(right, evaluation)
            if second is decisive:
                return decisive
            for side in (first, second):
                if isinstance(side, CELError):
                    raise side
            return not decisive

        return run

    return plan


def _conditional(condition: Runner, first: Runner, second: Runner) -> Runner:
    def run(evaluation: Evaluation) -> Any:
        value = condition(evaluation)
        if value is True:
            return first(evaluation)
        if value is False:
            return second(evaluation)
        raise CELError(OVERLOAD)

    return run


def _not_strictly_false(operand: Runner) -> Runner:
    def run(evaluation: Evaluation) -> Any:
        evaluation.cost += 1
        try:
            return operand(evaluation) is not False
        except CELError:
            return True

    return run


def _or(alternative_is_optional: bool) -> Callable[[Runner, Runner], Runner]:
    """Return `or` or `orValue`, which evaluate the alternative only if it is needed."""

    def plan(left: Runner, right: Runner) -> Runner:
        def run(evaluation: Evaluation) -> Any:
            evaluation.cost += 1
            value = left(evaluation)
            if type(value) is not Optional:
                raise CELError(OVERLOAD)
            if not value.has_value:
                return right(evaluation)
            return value if alternative_is_optional else value.content

        return run

    return plan


def _optional_part(operand: Runner, key: Runner) -> Runner:
    """Return `a.?b` or `a[?b]`."""

    def run(evaluation: Evaluation) -> Any:
        evaluation.cost += 1
        value, wanted = operand(evaluation), key(evaluation)
        if type(value) is Optional:
            if not value.has_value:
                return EMPTY
            value = value.content
        return operators.find(value, wanted)

    return run


_SPECIAL: Final[dict[str, Callable[..., Runner]]] = {
    "_&&_": _logical(decisive=False),
    "_||_": _logical(decisive=True),
    "_?_:_": _conditional,
    "@not_strictly_false": _not_strictly_false,
    "or": _or(alternative_is_optional=True),
    "orValue": _or(alternative_is_optional=False),
    "_?._": _optional_part,
    "_[?_]": _optional_part,
}
