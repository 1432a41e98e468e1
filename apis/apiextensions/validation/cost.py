"""Cost estimation of CEL rules, at the time they are defined.

The only loops in CEL are comprehensions (`all`, `exists`, `map`, `filter`), so the cost of a rule
depends on how deeply they nest and on the maximum length of the lists in the schema. A rule that
could be too expensive is rejected with its definition, as in Kubernetes, whose estimate is finer.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

LIMIT: Final = 10_000_000
"""The maximum cost of one rule, for one object."""
UNBOUNDED: Final = 3 * 1024 * 1024 // 2
"""The maximum number of items in the largest body: a digit and a comma each."""

_TOKEN: Final = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.(?:all|exists|exists_one|map|filter)\s*\(|[()]"""
)
_ADVICE: Final = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays,"
    " maps, and strings are declared)"
)


def excess(rule: str, schema: Mapping[str, Any], *, times: int) -> str:
    """Return the error message for a rule that is too expensive, or an empty string.

    *times* is how often the rule is evaluated per object.
    """
    depth = nesting(rule)
    estimate = min(times * max(longest(schema), 1) ** depth, UNBOUNDED ** max(depth, 1))
    if estimate <= LIMIT:
        return ""
    factor = estimate / LIMIT
    display = "more than 100x" if factor > 100 else f"{factor:.1f}x"
    return f"estimated rule cost exceeds budget by factor of {display} {_ADVICE}"


def nesting(rule: str) -> int:
    """Return how deeply comprehensions nest."""
    deepest, inside = 0, 0
    brackets: list[bool] = []
    for match in _TOKEN.finditer(rule):
        token = match[0]
        if token == ")":
            if brackets:
                inside -= brackets.pop()
        elif token.endswith("("):
            brackets.append(token != "(")
            inside += brackets[-1]
            deepest = max(deepest, inside)
    return deepest


def longest(schema: Mapping[str, Any]) -> int:
    """Return the maximum number of items of any list or map within *schema*."""
    items = size(schema) or 0
    for part in _parts(schema):
        items = max(items, longest(part))
    return items


def size(schema: Mapping[str, Any]) -> int | None:
    """Return the maximum number of items of a list or map; None for other types."""
    if schema.get("type") == "array":
        return int(schema.get("maxItems", UNBOUNDED))
    if schema.get("additionalProperties") or schema.get("x-kubernetes-preserve-unknown-fields"):
        return int(schema.get("maxProperties", UNBOUNDED))
    return None


def _parts(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    below = [*(schema.get("properties") or {}).values()]
    below += [schema.get("items"), schema.get("additionalProperties")]
    return [part for part in below if isinstance(part, Mapping)]
