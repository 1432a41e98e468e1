"""Warnings of a server: deprecated versions, unknown fields, what admission thinks.

They come as `Warning: 299 - "text"` headers beside an answer that is otherwise a success, and go
to a handler: a function of one warning. The usual one logs each text once.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

log = logging.getLogger("apimachinery.client.warnings")

MISCELLANEOUS: Final = 299
"""The only code that Kubernetes uses."""
_REMEMBERED: Final = 1000

_WARNING: Final = re.compile(
    r"\s*(\d{3})\s+(\S+)\s+\"((?:[^\"\\]|\\.)*)\"(?:\s+\"[^\"]*\")?\s*(?:,|$)", re.ASCII | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class ServerWarning:
    """One warning, and who gave it (`-` when nobody said)."""

    text: str
    code: int = MISCELLANEOUS
    agent: str = "-"


WarningHandler: TypeAlias = Callable[[ServerWarning], None]


def parse_warnings(headers: Iterable[str]) -> Iterator[ServerWarning]:
    """The warnings in some Warning headers; what is malformed is passed over."""
    for header in headers:
        position = 0
        while found := _WARNING.match(header, position):
            code, agent, text = found.groups()
            yield ServerWarning(re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL), int(code), agent)
            position = found.end()


class WarningLogger:
    """Logs every text once."""

    def __init__(self) -> None:
        self._seen: dict[str, None] = {}

    def __call__(self, warning: ServerWarning) -> None:
        if warning.code != MISCELLANEOUS or not warning.text or warning.text in self._seen:
            return
        if len(self._seen) >= _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        self._seen[warning.text] = None
        log.warning("%s", warning.text)


def ignore_warnings(_: ServerWarning) -> None:
    """A handler that does nothing."""
