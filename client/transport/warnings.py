"""Server warnings: deprecated API versions, unknown fields, warnings of admission plugins.

A server sends them as `Warning: 299 - "text"` headers of a response that is otherwise a success.
The client passes each to a handler, a function of one warning; the default logs each text once.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

log = logging.getLogger("apimachinery.client.warnings")

MISCELLANEOUS: Final = 299
"""The only warning code that Kubernetes uses."""
_MAX_LOGGED_TEXTS: Final = 1000
"""Distinct texts kept to suppress repetitions; the oldest is then forgotten and logged again."""

_WARNING: Final = re.compile(
    r"\s*(\d{3})\s+(\S+)\s+\"((?:[^\"\\]|\\.)*)\"(?:\s+\"[^\"]*\")?\s*(?:,|$)", re.ASCII | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class ServerWarning:
    """One warning, with its code and agent (`-` if the server names none)."""

    text: str
    code: int = MISCELLANEOUS
    agent: str = "-"


WarningHandler: TypeAlias = Callable[[ServerWarning], None]


def parse_warnings(headers: Iterable[str]) -> Iterator[ServerWarning]:
    """Yield the warnings in the values of Warning headers; skip the rest of a malformed value."""
    for header in headers:
        position = 0
        while match := _WARNING.match(header, position):
            code, agent, text = match.groups()
            yield ServerWarning(re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL), int(code), agent)
            position = match.end()


class WarningLogger:
    """The default warning handler; logs each text once."""

    def __init__(self) -> None:
        self._logged: dict[str, None] = {}  # a set ordered by insertion

    def __call__(self, warning: ServerWarning) -> None:
        if warning.code != MISCELLANEOUS or not warning.text or warning.text in self._logged:
            return
        if len(self._logged) >= _MAX_LOGGED_TEXTS:
            del self._logged[next(iter(self._logged))]
        self._logged[warning.text] = None
        log.warning("%s", warning.text)
