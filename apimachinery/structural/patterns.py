"""Regular expressions of schemas (`pattern`): RE2, whose matching time is linear in the text.

The authors of definitions write the patterns, and they run on text that any client sends. Python's
`re` differs in details, and a malicious pattern could make it run for exponential time.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from apimachinery.extras import name_missing_extra


class InvalidPattern(ValueError):
    """A pattern is not a valid RE2 regular expression."""


def find_all(pattern: str, text: str) -> list[str]:
    """Return all matches of a pattern in a text, from left to right; raise InvalidPattern."""
    return [match.group(0) for match in _compile(pattern).finditer(text)]


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Return a function that searches a text for the pattern; raise InvalidPattern."""
    search = _compile(pattern).search
    return lambda text: search(text) is not None


@lru_cache(maxsize=1024)  # schemas repeat themselves, and are compiled in every version
def _compile(pattern: str) -> Any:
    with name_missing_extra():
        import re2
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0]
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidPattern(f"error parsing regexp: {text}") from None
