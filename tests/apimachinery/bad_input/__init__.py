"""What people and programs send that is wrong: how it is read, and what must be said about it.

Each table is for one reader. A row is an input, the class that must be raised (exactly that one),
and a part of the message that names the place or the rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Row = tuple[Any, type[Exception], str]

MILLION = 1_000_000
SURROGATE = "\ud800"
RIGHT_TO_LEFT = "\u202e"


@dataclass(frozen=True)
class Table:
    """Wrong inputs of one reader."""

    name: str
    read: Callable[[Any], object]
    rows: Sequence[Row]
