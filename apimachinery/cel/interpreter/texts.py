"""Texts: the functions of strings, and regular expressions."""

from collections.abc import Iterator
from typing import Any

from apimachinery.cel.interpreter.evaluation import CostExceeded
from apimachinery.cel.interpreter.overloads import (
    Overload,
    matching,
    overload,
    pattern_cost,
    reading,
    traversal,
)
from apimachinery.cel.interpreter.text_format import format_cost, format_text
from apimachinery.cel.interpreter.values import OVERLOAD, CELError
from apimachinery.structural.patterns import (
    InvalidPattern,
    compile_pattern,
    find_all,
    longest_text,
)

_REPLACEMENTS_PER_COST = 10
_UPPER = str.maketrans("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def overloads() -> Iterator[Overload]:
    """Yield the functions of texts."""
    yield overload("startsWith", "string string", str.startswith, _second)
    yield overload("endsWith", "string string", str.endswith, _second)
    yield overload("contains", "string string", lambda text, part: part in text, _searching)
    yield overload("charAt", "string int", _char_at)
    yield overload("indexOf", "string string", str.find, _searching)
    yield overload("indexOf", "string string int", _index_from, _searching)
    yield overload("lastIndexOf", "string string", str.rfind, _searching)
    yield overload("lastIndexOf", "string string int", _last_index_from, _searching)
    yield overload("lowerAscii", "string", lambda text: text.translate(_LOWER), reading())
    yield overload("upperAscii", "string", lambda text: text.translate(_UPPER), reading())
    yield overload("trim", "string", str.strip, reading())
    yield overload("replace", "string string string", str.replace, _replacing)
    yield overload("replace", "string string string int", str.replace, _replacing)
    yield overload("split", "string string", _split, reading(2))
    yield overload("split", "string string int", _split, reading(2))
    yield overload("substring", "string int", _substring, reading())
    yield overload("substring", "string int int", _substring, reading())
    yield overload("join", "list", lambda items: _join(items, ""), _joining)
    yield overload("join", "list string", _join, _joining)
    yield overload("strings.quote", "string", _quote, reading())
    yield overload("format", "string list", format_text, format_cost)
    yield overload("matches", "string string", _matches, matching)
    yield overload("find", "string string", _find, matching)
    yield overload("findAll", "string string", _find_all, matching)
    yield overload("findAll", "string string int", _find_all, matching)
    yield overload(
        "jsonpatch.escapeKey",
        "string",
        lambda text: text.replace("~", "~0").replace("/", "~1"),
        reading(),
    )


def _second(text: str, part: str) -> int:
    return traversal(len(part))


def _searching(text: str, part: str, *others: int) -> int:
    # Python compares at each character of the text, for some texts and parts.
    return max(1, traversal(len(text)) * traversal(len(part)))


def _char_at(text: str, position: int) -> str:
    if position == len(text):
        return ""
    if 0 <= position < len(text):
        return text[position]
    raise CELError(f"index out of range: {position}")


def _index_from(text: str, part: str, start: int) -> int:
    if start < 0:
        raise CELError(f"index out of range: {start}")
    return text.find(part, start) if part or start <= len(text) else -1


def _last_index_from(text: str, part: str, start: int) -> int:
    if start < 0:
        raise CELError(f"index out of range: {start}")
    return text.rfind(part, 0, min(start, len(text)) + len(part))


def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if start < 0 or start > len(text):
        raise CELError(f"index out of range: {start}")
    if end is not None and start > end:
        raise CELError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= last <= len(text):
        raise CELError(f"index out of range: {last}")
    return text[start:last]


def _replacing(text: str, old: str, new: str, limit: int = -1) -> int:
    count = text.count(old) if old else len(text) + 1
    if limit >= 0:
        count = min(count, limit)
    longer = max(0, count * (len(new) - len(old)))
    return traversal(len(text), 2) + traversal(longer) + count // _REPLACEMENTS_PER_COST


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if 0 < limit < len(text):
        return [*text[: limit - 1], text[limit - 1 :]]
    return list(text)


def _joining(items: list[Any], separator: str = "") -> int:
    length = sum(len(item) for item in items if isinstance(item, str))
    return len(items) // 10 + traversal(length + len(separator) * len(items), 2)


def _join(items: list[Any], separator: str) -> str:
    for item in items:
        if type(item) is not str:
            raise CELError(f"{OVERLOAD}: join(list, string)")
    return separator.join(items)


def _quote(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(character, character) for character in text) + '"'


_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


def _check_work(text: str, pattern: str) -> None:
    """Raise CostExceeded if matching would take long, which the length of a pattern hides."""
    longest = longest_text(pattern)
    if longest is not None and len(text) > longest:
        raise CostExceeded


def _matches(text: str, pattern: str) -> bool:
    try:
        _check_work(text, pattern)
        return compile_pattern(pattern)(text)
    except InvalidPattern as error:
        raise CELError(str(error)) from None


def _find(text: str, pattern: str) -> str:
    return next(iter(_find_all(text, pattern)), "")


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    try:
        _check_work(text, pattern)
        found = find_all(pattern, text)
    except InvalidPattern as error:
        raise CELError(f"Illegal regex: {error}") from None
    return found[:limit] if limit >= 0 else found


def pattern_length_cost(text: str, length: int) -> int:
    """Return the cost of matching a text against a pattern of a known length."""
    return traversal(len(text) + 1) * pattern_cost(length)
