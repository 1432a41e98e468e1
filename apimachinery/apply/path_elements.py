"""Path elements: the steps of a path from an object to one of its fields.

An element *is* its serialized form, a short string. There are four kinds:

    f:name                   the field (or map entry) called name
    k:{"name":"x","port":80} the list item with these keys, in the order of their names
    v:"x"                    the item of a set with this value
    i:0                      the item at this index

Numbers and strings are written in one canonical way, that of Go's JSON encoder. Equal elements are
therefore equal strings: sets of elements are plain Python sets, and decoding FieldsV1 is cheap.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

from apimachinery.apply.apply_errors import InvalidFieldSet
from apimachinery.fieldpath import quote

Element = str
Path = tuple[Element, ...]

SORTED_AT_ONCE = 20_000
"""Elements that are sorted in one call."""

# Longer elements are not cached, or clients could fill the cache with megabytes.
_CACHEABLE = 256
_INDEX = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_JSON_ESCAPES = (
    {code: f"\\u{code:04x}" for code in (*range(32), ord("<"), ord(">"), ord("&"), 0x2028, 0x2029)}
    | {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
    | {ord('"'): '\\"', ord("\\"): "\\\\"}
)  # fmt: skip
_ESCAPED = re.compile(f"[{re.escape(''.join(map(chr, _JSON_ESCAPES)))}]")


class UnsupportedValue(ValueError):
    """A value cannot identify a list item: only finite scalars can."""


def field(name: str) -> Element:
    return f"f:{name}"


def index(position: int) -> Element:
    return f"i:{position}"


def value(item: Any) -> Element:
    """Return the element of an item in a list of type set."""
    return "v:" + scalar_text(item)


def key(keys: Mapping[str, Any]) -> Element:
    """Return the element of the list item with these key fields."""
    pairs = [f"{_string_text(name)}:{scalar_text(keys[name])}" for name in sorted(keys)]
    return f"k:{{{','.join(pairs)}}}"


def scalar_text(item: Any) -> str:
    """Return the scalar as canonical JSON, so that equal values have equal texts."""
    if isinstance(item, str):
        return _string_text(item)
    if item is None:
        return "null"
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int) and -(2**63) <= item < 2**64:
        return str(item)
    if isinstance(item, float) and math.isfinite(item):
        return _float_text(item)
    raise UnsupportedValue(f"{_type_name(item)} cannot identify a list item")


def parse(text: str) -> Element | None:
    """Parse an element into canonical form; return None for an unknown kind of element.

    Unknown kinds may come from newer servers and are skipped. Raises InvalidFieldSet if the
    element is malformed.
    """
    if text.startswith("f:"):
        return text
    return _parse_cached(text) if len(text) <= _CACHEABLE else _parse(text)


def ordered(elements: Iterable[Element]) -> list[Element]:
    """Sort elements: field names first, then keys, values and indexes, each in their own order."""
    result = _sorted_in_steps(list(elements))
    # "f:" sorts first as text as well: if the last element is a field, all are, and in order.
    if result and not result[-1].startswith("f:"):
        result.sort(key=_sort_key)
    return result


def _sorted_in_steps(elements: list[Element]) -> list[Element]:
    """Sort in calls of a few milliseconds, because no other thread runs during one."""
    if len(elements) <= SORTED_AT_ONCE:
        return sorted(elements)
    steps = range(0, len(elements), SORTED_AT_ONCE)
    joined = [each for start in steps for each in sorted(elements[start : start + SORTED_AT_ONCE])]
    joined.sort()  # it has parts that are in order, which only have to be merged
    return joined


def element_text(element: Element) -> str:
    """Return the element as messages show it: `.name`, `[name="x"]`, `[="x"]`, `[0]`."""
    kind, content = element[:2], element[2:]
    if kind == "f:":
        return "." + content
    if kind == "i:":
        return f"[{content}]"
    if kind == "v:":
        return f"[={_display_text(orjson.loads(content))}]"
    pairs = orjson.loads(content).items()
    return f"[{','.join(f'{name}={_display_text(item)}' for name, item in pairs)}]"


def path_text(path: Iterable[Element]) -> str:
    """Return the path as messages show it: `.spec.containers[name="x"].image`."""
    return "".join(map(element_text, path))


def _parse(text: str) -> Element | None:
    if len(text) < 2:
        raise InvalidFieldSet(f"{quote(text)}: key must be 2 characters long")
    if text[1] != ":":
        raise InvalidFieldSet(f"{quote(text)}: missing colon")
    parser = _PARSERS.get(text[0])
    try:
        return None if parser is None else parser(text[2:])
    except UnsupportedValue as error:
        raise InvalidFieldSet(f"{quote(text)}: {error}") from None


_parse_cached = lru_cache(maxsize=4096)(_parse)


def _parse_value(content: str) -> Element:
    return value(_loads(content))


def _parse_key(content: str) -> Element:
    keys = _loads(content)
    if not isinstance(keys, dict):
        raise UnsupportedValue(f"expected a JSON object, got {_type_name(keys)}")
    return key(keys)


def _parse_index(content: str) -> Element:
    if not _INDEX.fullmatch(content):
        raise UnsupportedValue("expected an integer")
    return index(int(content))


_PARSERS: Mapping[str, Callable[[str], Element]] = {
    "v": _parse_value,
    "k": _parse_key,
    "i": _parse_index,
}


def _loads(content: str) -> Any:
    try:
        return orjson.loads(content)
    except (orjson.JSONDecodeError, UnicodeEncodeError) as error:
        raise UnsupportedValue(f"not JSON: {error}") from None


def _sort_key(element: Element) -> tuple[int, Any]:
    if element.startswith("f:"):
        return (0, element)
    return _item_sort_key_cached(element) if len(element) <= _CACHEABLE else _item_sort_key(element)


def _item_sort_key(element: Element) -> tuple[int, Any]:
    kind, content = element[0], element[2:]
    if kind == "k":
        keys = orjson.loads(content).items()
        return (1, tuple((name, _value_sort_key(item)) for name, item in keys))
    if kind == "v":
        return (2, _value_sort_key(orjson.loads(content)))
    return (3, int(content))


_item_sort_key_cached = lru_cache(maxsize=4096)(_item_sort_key)


def _value_sort_key(item: Any) -> tuple[int, Any]:
    if isinstance(item, bool):
        return (2, item)
    if isinstance(item, str):
        return (1, item)
    return (3, 0) if item is None else (0, item)


def _string_text(text: str) -> str:
    # Searching first is ten times faster than translating, and few strings need escapes.
    return f'"{text.translate(_JSON_ESCAPES) if _ESCAPED.search(text) else text}"'


def _float_text(number: float) -> str:
    size = abs(number)
    if number.is_integer() and size < 1e21:
        return str(int(number))
    if 1e-6 <= size < 1e21:
        return format(Decimal(repr(number)), "f")
    return repr(number)


def _display_text(item: Any) -> str:
    if isinstance(item, str):
        return quote(item)
    return scalar_text(item)


def _type_name(item: Any) -> str:
    if isinstance(item, dict | list):
        return "a map" if isinstance(item, dict) else "a list"
    # Do not print the number: Python refuses to format very long integers.
    return "a number out of range" if isinstance(item, int | float) else type(item).__name__
