"""Path elements: the steps from an object down to one of its fields.

An element *is* its serialized form, a short string. There are four kinds:

    f:name                   the field (or map entry) called name
    k:{"name":"x","port":80} the list item with these keys, in the order of their names
    v:"x"                    the item of a set with this value
    i:0                      the item at this index

Because equal elements have equal texts (numbers and strings are always written one way, that of
Go's JSON encoder), sets of them are plain Python sets, and reading FieldsV1 is hardly any work.
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

# Longer ones would let a client fill the cache with megabytes.
_CACHEABLE = 256
_INDEX = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_JSON_ESCAPES = (
    {code: f"\\u{code:04x}" for code in (*range(32), ord("<"), ord(">"), ord("&"), 0x2028, 0x2029)}
    | {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
    | {ord('"'): '\\"', ord("\\"): "\\\\"}
)  # fmt: skip
_ESCAPED = re.compile(f"[{re.escape(''.join(map(chr, _JSON_ESCAPES)))}]")


class UnsupportedValue(ValueError):
    """A value that cannot identify a list item: only finite scalars can."""


def field(name: str) -> Element:
    return f"f:{name}"


def index(position: int) -> Element:
    return f"i:{position}"


def value(item: Any) -> Element:
    """The element of a set's item."""
    return "v:" + scalar_text(item)


def key(keys: Mapping[str, Any]) -> Element:
    """The element of the item that *keys* identify."""
    pairs = [f"{_string_text(name)}:{scalar_text(keys[name])}" for name in sorted(keys)]
    return f"k:{{{','.join(pairs)}}}"


def scalar_text(item: Any) -> str:
    """The scalar as canonical JSON, in which equal values have equal texts."""
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
    """The element *text* stands for, in canonical form; None if it is of an unknown kind.

    An unknown kind is for a newer version to understand, and is passed over.
    """
    if text.startswith("f:"):
        return text
    return _parse_cached(text) if len(text) <= _CACHEABLE else _parse(text)


def ordered(elements: Iterable[Element]) -> list[Element]:
    """Field names first, then keys, values and indexes, each in their own order."""
    found = sorted(elements)
    # As texts, names come first too; if the last is one, all are, and they are in order.
    if found and not found[-1].startswith("f:"):
        found.sort(key=_order)
    return found


def element_text(element: Element) -> str:
    """The element as messages show it: `.name`, `[name="x"]`, `[="x"]`, `[0]`."""
    kind, content = element[:2], element[2:]
    if kind == "f:":
        return "." + content
    if kind == "i:":
        return f"[{content}]"
    if kind == "v:":
        return f"[={_shown(orjson.loads(content))}]"
    pairs = orjson.loads(content).items()
    return f"[{','.join(f'{name}={_shown(item)}' for name, item in pairs)}]"


def path_text(path: Iterable[Element]) -> str:
    """The path as messages show it: `.spec.containers[name="x"].image`."""
    return "".join(map(element_text, path))


def _parse(text: str) -> Element | None:
    if len(text) < 2:
        raise InvalidFieldSet(f"{quote(text)}: key must be 2 characters long")
    if text[1] != ":":
        raise InvalidFieldSet(f"{quote(text)}: missing colon")
    reader = _READERS.get(text[0])
    try:
        return None if reader is None else reader(text[2:])
    except UnsupportedValue as error:
        raise InvalidFieldSet(f"{quote(text)}: {error}") from None


_parse_cached = lru_cache(maxsize=4096)(_parse)


def _read_value(content: str) -> Element:
    return value(_loads(content))


def _read_key(content: str) -> Element:
    keys = _loads(content)
    if not isinstance(keys, dict):
        raise UnsupportedValue(f"expected a JSON object, got {_type_name(keys)}")
    return key(keys)


def _read_index(content: str) -> Element:
    if not _INDEX.fullmatch(content):
        raise UnsupportedValue("expected an integer")
    return index(int(content))


_READERS: Mapping[str, Callable[[str], Element]] = {
    "v": _read_value,
    "k": _read_key,
    "i": _read_index,
}


def _loads(content: str) -> Any:
    try:
        return orjson.loads(content)
    except (orjson.JSONDecodeError, UnicodeEncodeError) as error:
        raise UnsupportedValue(f"not JSON: {error}") from None


def _order(element: Element) -> tuple[int, Any]:
    if element.startswith("f:"):
        return (0, element)
    return _order_cached(element) if len(element) <= _CACHEABLE else _item_order(element)


def _item_order(element: Element) -> tuple[int, Any]:
    kind, content = element[0], element[2:]
    if kind == "k":
        keys = orjson.loads(content).items()
        return (1, tuple((name, _value_order(item)) for name, item in keys))
    if kind == "v":
        return (2, _value_order(orjson.loads(content)))
    return (3, int(content))


_order_cached = lru_cache(maxsize=4096)(_item_order)


def _value_order(item: Any) -> tuple[int, Any]:
    if isinstance(item, bool):
        return (2, item)
    if isinstance(item, str):
        return (1, item)
    return (3, 0) if item is None else (0, item)


def _string_text(text: str) -> str:
    # To translate a text takes ten times as long as to see that nothing in it has to be.
    return f'"{text.translate(_JSON_ESCAPES) if _ESCAPED.search(text) else text}"'


def _float_text(number: float) -> str:
    size = abs(number)
    if number.is_integer() and size < 1e21:
        return str(int(number))
    if 1e-6 <= size < 1e21:
        return format(Decimal(repr(number)), "f")
    return repr(number)


def _shown(item: Any) -> str:
    if isinstance(item, str):
        return quote(item)
    return scalar_text(item)


def _type_name(item: Any) -> str:
    if isinstance(item, dict | list):
        return "a map" if isinstance(item, dict) else "a list"
    # An integer can be too long to be printed.
    return "a number out of range" if isinstance(item, int | float) else type(item).__name__
