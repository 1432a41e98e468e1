"""Loops: comprehensions such as `all`, `exists`, `map` and `filter`.

The accumulator may hold an error: `all` goes on after one, and is false if any later item is.
"""

from collections.abc import Callable, Iterable
from typing import Any

from apimachinery.cel.interpreter.evaluation import Evaluation
from apimachinery.cel.interpreter.values import CELError, type_name

Runner = Callable[[Evaluation], Any]


class Failed:
    """The accumulator of a loop of which a step has failed."""

    __slots__ = ("error",)

    def __init__(self, error: CELError) -> None:
        self.error = error


def fold(
    iterated: Runner,
    initial: Runner,
    condition: Runner | None,
    step: Runner,
    result: Runner,
    *,
    slots: tuple[int, int, int | None],
    builds: bool,
) -> Runner:
    """Return the function of a loop; *builds* says that its result is a list or map."""
    accumulator, variable, second = slots

    def run(evaluation: Evaluation) -> Any:
        values, held = iterated(evaluation), evaluation.locals
        value = initial(evaluation)
        held[accumulator] = value.copy() if builds else value
        for key, item in _entries(values) if second is not None else _items(values):
            held[variable] = key
            if second is not None:
                held[second] = item
            evaluation.spend(0)
            if condition is not None and condition(evaluation) is False:
                break
            try:
                held[accumulator] = step(evaluation)
            except CELError as error:
                if builds:
                    raise
                held[accumulator] = Failed(error)
        return result(evaluation)

    return run


def growing_list(accumulator: int, item: Runner, *, cost: int) -> Runner:
    """Return the step of a loop that appends to its list, which only the loop can see."""

    def run(evaluation: Evaluation) -> Any:
        value = item(evaluation)
        evaluation.cost += cost
        items = evaluation.locals[accumulator]
        items.append(value)
        return items

    return run


def _items(values: Any) -> Iterable[tuple[Any, None]]:
    """Return the items of a list or the keys of a map."""
    if isinstance(values, list | dict):
        return ((value, None) for value in values)
    raise _not_iterable(values)


def _entries(values: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(values, list):
        return enumerate(values)
    if isinstance(values, dict):
        return values.items()
    raise _not_iterable(values)


def _not_iterable(value: Any) -> CELError:
    name = type_name(value).rpartition(".")[2].removesuffix("_type").capitalize()
    return CELError(f"got 'types.{name}', expected iterable type")
