"""How long a rule in CEL may take: a bound that is estimated before anybody can send anything.

Expressions have no loops but comprehensions (`all`, `exists`, `map`, `filter`), so what a rule can
cost is how deep these are nested in it, and how long the lists are that the schema allows. A rule
that could take too long is refused where it is defined, as in Kubernetes; the estimate is coarser.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

LIMIT: Final = 10_000_000
"""Steps of one rule, for one object."""
UNBOUNDED: Final = 3 * 1024 * 1024 // 2
"""Items that fit into the largest body: a digit and a comma each."""

_TOKEN: Final = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.(?:all|exists|exists_one|map|filter)\s*\(|[()]"""
)
_ADVICE: Final = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays,"
    " maps, and strings are declared)"
)


def excess(rule: str, schema: Mapping[str, Any], *, times: int) -> str:
    """What is wrong with a rule that may take too long, empty if it may not.

    *times* is how often the rule is asked for one object.
    """
    depth = nesting(rule)
    estimate = min(times * max(longest(schema), 1) ** depth, UNBOUNDED ** max(depth, 1))
    if estimate <= LIMIT:
        return ""
    factor = estimate / LIMIT
    shown = "more than 100x" if factor > 100 else f"{factor:.1f}x"
    return f"estimated rule cost exceeds budget by factor of {shown} {_ADVICE}"


def nesting(rule: str) -> int:
    """How deep comprehensions stand within each other."""
    deepest, inside = 0, 0
    brackets: list[bool] = []
    for found in _TOKEN.finditer(rule):
        token = found[0]
        if token == ")":
            if brackets:
                inside -= brackets.pop()
        elif token.endswith("("):
            brackets.append(token != "(")
            inside += brackets[-1]
            deepest = max(deepest, inside)
    return deepest


def longest(schema: Mapping[str, Any]) -> int:
    """The most items that any list or map can have, at or below a place of a schema."""
    found = size(schema) or 0
    for part in _parts(schema):
        found = max(found, longest(part))
    return found


def size(schema: Mapping[str, Any]) -> int | None:
    """The most items or entries a list or map can have; None for anything else."""
    if schema.get("type") == "array":
        return int(schema.get("maxItems", UNBOUNDED))
    if schema.get("additionalProperties") or schema.get("x-kubernetes-preserve-unknown-fields"):
        return int(schema.get("maxProperties", UNBOUNDED))
    return None


def _parts(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    below = [*(schema.get("properties") or {}).values()]
    below += [schema.get("items"), schema.get("additionalProperties")]
    return [part for part in below if isinstance(part, Mapping)]
