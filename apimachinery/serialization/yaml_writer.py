"""YAML writer: encode JSON values as block-style YAML, as Kubernetes does.

Strings are plain where every parser reads them back as the same string, a literal block if they
have several lines, and double-quoted otherwise. PyYAML's writer would do, except that it encodes a
whole document in one call, which blocks all other threads.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

MAX_SIMPLE_KEY: Final = 1000
"""Longer keys have the form `? key`, because parsers do not look any further for the colon."""

_INDENT: Final = "  "

_SURELY_PLAIN: Final = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_INDICATORS: Final = frozenset(" ,[]{}#&*!|>'\"%@`")
"""Characters with which a plain scalar does not begin."""
_NOT_A_STRING: Final = re.compile(
    r"""
    ~ | = | << | (?i: null | true | false | yes | no | on | off | y | n )
    | [-+]? \.? [0-9] [0-9_,.]* (?: [eE][-+]?[0-9]+ )?             # numbers
    | [-+]? 0 (?: [bB][01_]+ | [oO]?[0-7_]+ | [xX][0-9a-fA-F_]+ )
    | [-+]? [0-9][0-9_]* (?: :[0-5]?[0-9] )+ (?: \.[0-9_]* )?      # base 60
    | [-+]? \. (?i: inf | nan )
    | [0-9]{4}-[0-9][0-9]?-[0-9][0-9]? (?: (?: [Tt] | [ \t]+ ) .* )?   # dates and times
    """,
    re.VERBOSE,
)
"""Plain scalars that some parser of YAML 1.1 or 1.2 reads as something else than a string."""
_UNPRINTABLE: Final = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_LITERAL: Final = re.compile(r"[^\s].*", re.DOTALL)
"""A text whose indentation is that of its first line; others would have to state theirs."""


def dump_yaml(value: Any) -> bytes:
    """Encode a JSON value; the keys of objects are sorted."""
    return "".join(_lines(value, "")).encode("utf-8", "surrogatepass")


def _lines(value: Any, indent: str) -> Iterator[str]:
    """Yield the lines of a value that begins on a line of its own."""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            yield from _member(key, value[key], indent)
    elif isinstance(value, list | tuple) and value:
        for item in value:
            yield from _item(item, indent)
    else:
        yield f"{indent}{_scalar(value, indent + _INDENT)}\n"


def _member(key: str, value: Any, indent: str) -> Iterator[str]:
    name = _key(key)
    if len(name) > MAX_SIMPLE_KEY:
        yield f"{indent}? {name}\n{indent}:"
    else:
        yield f"{indent}{name}:"
    if isinstance(value, dict) and value:
        yield "\n"
        yield from _lines(value, indent + _INDENT)
    elif isinstance(value, list | tuple) and value:
        # The dashes stand below the key, as in everything that kubectl prints.
        yield "\n"
        yield from _lines(value, indent)
    else:
        yield f" {_scalar(value, indent + _INDENT)}\n"


def _item(item: Any, indent: str) -> Iterator[str]:
    """Yield the lines of an item; the first of a collection follows the dash."""
    inner = indent + _INDENT
    if isinstance(item, dict | list | tuple) and item:
        lines = _lines(item, inner)
        yield f"{indent}- {next(lines)[len(inner) :]}"
        yield from lines
    else:
        yield f"{indent}- {_scalar(item, inner)}\n"


def _key(key: str) -> str:
    return key if _is_plain(key) else _quote(key)


def _scalar(value: Any, indent: str) -> str:
    if isinstance(value, str):
        return _text(value, indent)
    if isinstance(value, dict):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    text = json.dumps(value)
    if isinstance(value, float) and "." not in text:
        # Without a point it is a string to parsers of YAML 1.1.
        return text.replace("e", ".0e")
    return text


def _text(text: str, indent: str) -> str:
    if _is_plain(text):
        return text
    if "\n" in text and _LITERAL.match(text) and not _UNPRINTABLE.search(text):
        return _literal(text, indent)
    return _quote(text)


def _is_plain(text: str) -> bool:
    if _SURELY_PLAIN.fullmatch(text):
        return len(text) > _LONGEST_WORD or not _NOT_A_STRING.fullmatch(text)
    return (
        _has_plain_ends(text)
        and not any(mark in text for mark in (": ", " #", "\n", "\t"))
        and not _NOT_A_STRING.fullmatch(text)
        and not _UNPRINTABLE.search(text)
    )


_LONGEST_WORD: Final = len("false")


def _has_plain_ends(text: str) -> bool:
    if not text or text[0] in _INDICATORS or text[-1] in " :" or text.startswith(("---", "...")):
        return False
    # These begin a plain scalar only if they cannot be an item, a key or a value.
    return text[0] not in "-?:" or text[1:2] not in ("", " ")


def _literal(text: str, indent: str) -> str:
    """Return a literal block, whose indicator says how many line breaks end the text."""
    body = text.rstrip("\n")
    breaks = len(text) - len(body)
    indicator = {0: "|-", 1: "|"}.get(breaks, "|+")
    lines = [f"{indent}{line}" if line else "" for line in body.split("\n")]
    return "\n".join((indicator, *lines, *[""] * (breaks - 1)))


def _quote(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNPRINTABLE.sub(_escape, quoted)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
