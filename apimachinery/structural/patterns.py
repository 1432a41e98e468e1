"""Regular expressions as schemas mean them: RE2, which is linear in the text it looks at.

A pattern comes from whoever may define resources and runs on what anybody sends. Python's own
engine would differ in details and could be made to take forever.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from apimachinery.extras import name_missing_extra


class InvalidPattern(ValueError):
    """A text that is not a regular expression."""


def find_all(pattern: str, text: str) -> list[str]:
    """Every match of a pattern in a text, from left to right, or InvalidPattern."""
    return [found.group(0) for found in _compiled(pattern).finditer(text)]


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Whether a text matches somewhere, or InvalidPattern."""
    search = _compiled(pattern).search
    return lambda text: search(text) is not None


@lru_cache(maxsize=1024)  # schemas repeat themselves, and are compiled in every version
def _compiled(pattern: str) -> Any:
    with name_missing_extra():
        import re2
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        why = error.args[0]
        text = why.decode(errors="replace") if isinstance(why, bytes) else str(why)
        raise InvalidPattern(f"error parsing regexp: {text}") from None
