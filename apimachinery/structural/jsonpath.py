"""JSONPath of printer columns: find the values of a cell in an object.

Supports the subset of JSONPath that definitions use: members (`.spec.a`, `['a.b']`, `.a\\.b`),
items (`[0]`, `[-1]`, `[*]`, `[0:2]`, `[0:8:2]`), unions (`[0,2]`, `['a','b']`), any depth (`..a`)
and filters with one comparison (`[?(@.type=="Ready")]`).
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

Find = Callable[[Any], list[Any]]
"""Returns every value at a path; empty if a step of the path is missing."""
_Step = Callable[[Any], Iterator[Any]]


class InvalidJSONPath(ValueError):
    """A malformed path, or one that uses an unsupported feature."""


_NAME: Final = re.compile(r"\.((?:\\.|[^.\[\\])+)")
_QUOTED: Final = re.compile(r"""\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]""")
_NAMES: Final = re.compile(
    r"""\[\s*((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    (?:\s*,\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))+)\s*\]""",
    re.VERBOSE,
)
_NAME_IN_UNION: Final = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")
_INDEX: Final = re.compile(r"\[\s*(-?[0-9]{1,9}(?:\s*,\s*-?[0-9]{1,9})*)\s*\]")
_SLICE: Final = re.compile(
    r"\[\s*(-?[0-9]{1,9})?\s*:\s*(-?[0-9]{1,9})?\s*(?::\s*([0-9]{1,9})\s*)?\]"
)
_ANY_DEPTH: Final = re.compile(r"\.(?=\.[^.*])")
_WILDCARD: Final = re.compile(r"\[\s*\*\s*\]|\.\*")
_FILTER: Final = re.compile(
    r"""\[\s*\?\s*\(\s*@((?:\.[^\s=!<>)\[]+|\['[^']*'\])*)\s*
    (?:(==|!=|<=|>=|<|>)\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s)]+)\s*)?\)\s*\]""",
    re.VERBOSE,
)


def parse_path(text: str) -> Find:
    """Return the function that finds the values at a path; raise InvalidJSONPath."""
    steps: list[_Step] = []
    position = 0
    if len(_ANY_DEPTH.findall(text)) > 1:
        raise InvalidJSONPath("has more than one `..`")  # the values of all would multiply
    while position < len(text):
        for pattern, build_step in _STEPS:
            match = pattern.match(text, position)
            if match is not None:
                steps.append(build_step(match))
                position = match.end()
                break
        else:
            if text[position:] != ".":
                raise InvalidJSONPath(f"is not a supported JSONPath at {text[position:]!r}")
            position = len(text)
    return lambda value: _find(value, steps)


def path_steps(text: str) -> tuple[str, ...]:
    """Return the names in a path of names only (`.spec.a['b.c']`); raise InvalidJSONPath."""
    steps: list[str] = []
    position = 0
    while position < len(text):
        match = _NAME.match(text, position) or _QUOTED.match(text, position)
        if match is None:
            raise InvalidJSONPath(f"is not a path of names at {text[position:]!r}")
        steps.append(_unescape(next(part for part in match.groups() if part is not None)))
        position = match.end()
    return tuple(steps)


def _find(value: Any, steps: list[_Step]) -> list[Any]:
    values = [value]
    for step in steps:
        values = [below for parent in values for below in step(parent)]
        if not values:
            break
    return values


def _member(name: str) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]
        elif isinstance(value, list):
            yield from (item[name] for item in value if isinstance(item, dict) and name in item)

    return step


def _members(match: re.Match[str]) -> _Step:
    names = [_unescape(one or other) for one, other in _NAME_IN_UNION.findall(match[1])]
    # No value is found twice: the values of several unions would multiply.
    steps = [_member(name) for name in dict.fromkeys(names)]
    return lambda value: (found for step in steps for found in step(value))


def _index(match: re.Match[str]) -> _Step:
    positions = [int(part) for part in match[1].split(",")]

    def step(value: Any) -> Iterator[Any]:
        if not isinstance(value, list):
            return
        count = len(value)
        present = (position % count for position in positions if -count <= position < count)
        for position in dict.fromkeys(present):
            yield value[position]

    return step


def _slice(match: re.Match[str]) -> _Step:
    start, end, stride = (int(part) if part else None for part in match.groups())
    if stride == 0:
        raise InvalidJSONPath(f"has a slice without steps: {match[0]!r}")
    return lambda value: iter(value[start:end:stride] if isinstance(value, list) else ())


def _any_depth(_: re.Match[str]) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        pending = [value]
        while pending:
            found = pending.pop()
            if isinstance(found, dict):
                # Not lists: a member of a list is that of its items, which come by themselves.
                yield found
                pending.extend(reversed(found.values()))
            elif isinstance(found, list):
                pending.extend(reversed(found))

    return step


def _all(_: re.Match[str]) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, list):
            yield from value

    return step


def _filter(match: re.Match[str]) -> _Step:
    path, operator, operand = match.groups()
    find = parse_path(path)
    comparison = _COMPARISONS[operator] if operator else None
    literal = _literal(operand) if operator else None

    def step(value: Any) -> Iterator[Any]:
        for item in value if isinstance(value, list) else ():
            values = find(item)
            if values and (comparison is None or _compare(comparison, values[0], literal)):
                yield item

    return step


def _compare(comparison: Callable[[Any, Any], bool], value: Any, literal: Any) -> bool:
    try:
        return isinstance(value, bool) == isinstance(literal, bool) and comparison(value, literal)
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
        return _unescape(text[1:-1])
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else float(text)
    except ValueError:
        raise InvalidJSONPath(
            f"has a filter with {text!r}: not a string, number or boolean"
        ) from None


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


_STEPS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Step]], ...]] = (
    (_WILDCARD, _all),
    (_ANY_DEPTH, _any_depth),
    (_NAME, lambda match: _member(_unescape(match[1]))),
    (_QUOTED, lambda match: _member(_unescape(match[1] or match[2] or ""))),
    (_NAMES, _members),
    (_INDEX, _index),
    (_SLICE, _slice),
    (_FILTER, _filter),
)
