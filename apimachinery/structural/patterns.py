"""Regular expressions of schemas (`pattern`): RE2, whose matching time is linear in the text.

The authors of definitions write the patterns, and they run on text that any client sends. Python's
`re` differs in details, and a malicious pattern could make it run for exponential time.

A match cannot be interrupted, and with a malicious pattern it takes time in proportion to the
length of the text times the size of the compiled pattern, so that product is limited.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from apimachinery.extras import name_missing_extra

MAX_WORK: Final = 10_000_000
"""The maximum of the length of a text times the size of its pattern: 45 ms at most."""
_SMALL_PROGRAM: Final = 16
"""The size of patterns that take the same short time for every character."""
_MAX_MEMORY: Final = 2 * 1024 * 1024
"""The maximum size of a compiled pattern in bytes, which takes up to 30 ms to compile."""


class InvalidPattern(ValueError):
    """A pattern is not a valid RE2 regular expression."""


def find_all(pattern: str, text: str) -> list[str]:
    """Return all matches of a pattern in a text, from left to right; raise InvalidPattern."""
    return [match.group(0) for match in _compile(pattern).finditer(text)]


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Return a function that searches a text for the pattern; raise InvalidPattern."""
    search = _compile(pattern).search
    return lambda text: search(text) is not None


def longest_text(pattern: str) -> int | None:
    """Return the length up to which texts are matched, None if any; raise InvalidPattern."""
    size = program_size(pattern)
    return None if size <= _SMALL_PROGRAM else MAX_WORK // size


def program_size(pattern: str) -> int:
    """Return the number of instructions of a compiled pattern; raise InvalidPattern."""
    return int(_compile(pattern).programsize)


@lru_cache(maxsize=1024)  # schemas repeat themselves, and are compiled in every version
def _compile(pattern: str) -> Any:
    with name_missing_extra():
        import re2
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidPattern(f"error parsing regexp: {_in_go_words(text)}") from None


def _in_go_words(reason: str) -> str:
    """Return an error of RE2 as Go's regular expressions report it, which are RE2's as well."""
    text, _, part = reason.partition(": ")
    return f"{_GO_WORDS.get(text, text)}: `{part}`"


_GO_WORDS: Final = {
    "bad repetition operator": "invalid nested repetition operator",
    "invalid named capture group": "invalid named capture",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "pattern too large - compile failed": "expression too large",
    "trailing \\": "trailing backslash at end of expression",
}
