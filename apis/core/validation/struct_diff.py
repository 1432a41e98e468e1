"""Unified diffs of two objects, for errors about changes that are not allowed.

Kubernetes shows the difference between the JSON forms of its internal structs.
"""

import difflib
import json
from typing import Any, Final

from apimachinery.model.model import Model
from apis.core.validation.internal_form import internal_form

_CONTEXT: Final = 3
# Matching lines takes more than linear time: larger changes are shown without looking for parts
# that both have in common.
_MATCHED_LINES: Final = 3000
_MATCHED_CHANGE: Final = 300
_SHOWN_LINES: Final = 2000


def struct_diff(old: Model, new: Model) -> str:
    """Return the lines that differ, with three lines of context, and no header."""
    before, after = _lines(internal_form(old)), _lines(internal_form(new))
    start, end = _common_ends(before, after)
    longest = max(len(before), len(after))
    changed = longest - start - end
    if longest <= _MATCHED_LINES and changed <= _MATCHED_CHANGE:
        diff = difflib.unified_diff(before, after, n=_CONTEXT)
        return "".join(list(diff)[2:])
    return "".join(_whole_change(before, after, start, end)[:_SHOWN_LINES])


def _lines(value: Any) -> list[str]:
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return [f"{line}\n" for line in text.split("\n")]


def _common_ends(before: list[str], after: list[str]) -> tuple[int, int]:
    """Return how many lines at the start and at the end are the same."""
    shortest = min(len(before), len(after))
    start = 0
    while start < shortest and before[start] == after[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start, end


def _whole_change(before: list[str], after: list[str], start: int, end: int) -> list[str]:
    first = max(start - _CONTEXT, 0)
    removed, added = before[start : len(before) - end], after[start : len(after) - end]
    tail = before[len(before) - end :][:_CONTEXT]
    common = start - first + len(tail)
    return [
        f"@@ -{first + 1},{common + len(removed)} +{first + 1},{common + len(added)} @@\n",
        *(f" {line}" for line in before[first:start]),
        *(f"-{line}" for line in removed),
        *(f"+{line}" for line in added),
        *(f" {line}" for line in tail),
    ]
