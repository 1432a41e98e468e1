"""JSON paths of printer columns: where in an object a cell is.

The part of JSONPath that definitions use: members (`.spec.a`, `['a.b']`, `.a\\.b`), items (`[0]`,
`[-1]`, `[*]`, `[0:2]`) and filters by one comparison (`[?(@.type=="Ready")]`).
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

Find = Callable[[Any], list[Any]]
"""Every value at a path; none if something on the way is missing."""
_Step = Callable[[Any], Iterator[Any]]


class InvalidJSONPath(ValueError):
    """A text that is not a path, or uses what is not supported here."""


_NAME: Final = re.compile(r"\.((?:\\.|[^.\[\\])+)")
_QUOTED: Final = re.compile(r"""\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]""")
_INDEX: Final = re.compile(r"\[\s*(-?[0-9]{1,9})\s*\]")
_SLICE: Final = re.compile(r"\[\s*(-?[0-9]{1,9})?\s*:\s*(-?[0-9]{1,9})?\s*\]")
_ALL: Final = re.compile(r"\[\s*\*\s*\]|\.\*")
_FILTER: Final = re.compile(
    r"""\[\s*\?\s*\(\s*@((?:\.[^\s=!<>)\[]+|\['[^']*'\])*)\s*
    (?:(==|!=|<=|>=|<|>)\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s)]+)\s*)?\)\s*\]""",
    re.VERBOSE,
)


def parse_path(text: str) -> Find:
    """The function that finds the values at a path, or InvalidJSONPath."""
    steps: list[_Step] = []
    position = 0
    while position < len(text):
        for pattern, make in _FORMS:
            found = pattern.match(text, position)
            if found is not None:
                steps.append(make(found))
                position = found.end()
                break
        else:
            if text[position:] != ".":
                raise InvalidJSONPath(f"is not a path that is understood at {text[position:]!r}")
            position = len(text)
    return lambda value: _found(value, steps)


def path_steps(text: str) -> tuple[str, ...]:
    """The names in a path that has nothing else (`.spec.a['b.c']`), or InvalidJSONPath."""
    steps: list[str] = []
    position = 0
    while position < len(text):
        found = _NAME.match(text, position) or _QUOTED.match(text, position)
        if found is None:
            raise InvalidJSONPath(f"is not a path of names at {text[position:]!r}")
        steps.append(_unescaped(next(part for part in found.groups() if part is not None)))
        position = found.end()
    return tuple(steps)


def _found(value: Any, steps: list[_Step]) -> list[Any]:
    values = [value]
    for step in steps:
        values = [below for one in values for below in step(one)]
        if not values:
            break
    return values


def _member(name: str) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]
        elif isinstance(value, list):
            yield from (one[name] for one in value if isinstance(one, dict) and name in one)

    return step


def _index(position: int) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= position < len(value):
            yield value[position]

    return step


def _slice(found: re.Match[str]) -> _Step:
    start, end = (int(part) if part else None for part in found.groups())
    return lambda value: iter(value[start:end] if isinstance(value, list) else ())


def _every(_: re.Match[str]) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, list):
            yield from value

    return step


def _filter(found: re.Match[str]) -> _Step:
    where, operator, wanted = found.groups()
    find = parse_path(where)
    holds = _COMPARISONS[operator] if operator else None
    literal = _literal(wanted) if operator else None

    def step(value: Any) -> Iterator[Any]:
        for one in value if isinstance(value, list) else ():
            values = find(one)
            if values and (holds is None or _compared(holds, values[0], literal)):
                yield one

    return step


def _compared(holds: Callable[[Any, Any], bool], value: Any, literal: Any) -> bool:
    try:
        return isinstance(value, bool) == isinstance(literal, bool) and holds(value, literal)
    except TypeError:
        return False


_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": lambda a, b: bool(a == b),
    "!=": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    ">": lambda a, b: bool(a > b),
    "<=": lambda a, b: bool(a <= b),
    ">=": lambda a, b: bool(a >= b),
}


def _literal(text: str) -> Any:
    if text[0] in "'\"":
        return _unescaped(text[1:-1])
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else float(text)
    except ValueError:
        raise InvalidJSONPath(f"has a filter by {text!r}, which is no value") from None


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Step]], ...]] = (
    (_ALL, _every),
    (_NAME, lambda found: _member(_unescaped(found[1]))),
    (_QUOTED, lambda found: _member(_unescaped(found[1] or found[2] or ""))),
    (_INDEX, lambda found: _index(int(found[1]))),
    (_SLICE, _slice),
    (_FILTER, _filter),
)
