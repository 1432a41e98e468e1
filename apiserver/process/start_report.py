"""Start report: the result of a check of what a configuration would serve.

Apart from the check, which imports everything that is served: the master only reads the report.
"""

from collections.abc import Sequence
from dataclasses import dataclass


class StartRefused(Exception):
    """A start or a reload that would fail; the message has one line per problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class StartReport:
    """The result of a check; it is sent from one process to another."""

    served: tuple[str, ...] = ()
    """The served group versions, for people."""
    problems: tuple[str, ...] = ()
    store_problem: str = ""
    """Why the store could not be read; the stored objects are not checked then."""
