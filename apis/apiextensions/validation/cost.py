"""Costs of CEL rules when they are defined: the limits of Kubernetes, and its messages."""

from collections.abc import Mapping
from typing import Any, Final

from apimachinery.fieldpath import FieldErrors, Path, forbidden

RULE_LIMIT: Final = 10_000_000
"""The maximum cost of one rule, for all values of one object that it is evaluated on."""
TOTAL_LIMIT: Final = 100_000_000
"""The maximum cost of all rules of a schema."""

_MOST_EXPENSIVE: Final = 4
_ADVICE: Final = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays,"
    " maps, and strings are declared)"
)
_CONTRIBUTED: Final = (
    "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
)
_TOTAL: Final = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"


class RuleCosts:
    """The costs of all rules of a schema."""

    def __init__(self) -> None:
        self._total = 0
        self._expensive: list[tuple[int, Path]] = []

    def check(self, cost: int, name: str, path: Path) -> FieldErrors:
        """Add the cost of an expression; yield an error if it is too expensive by itself."""
        self._total += cost
        if cost >= TOTAL_LIMIT // 100:
            self._expensive.append((cost, path))
        if cost > RULE_LIMIT:
            yield forbidden(path, _excess(f"estimated {name} cost", cost, RULE_LIMIT))

    def check_total(self, path: Path) -> FieldErrors:
        """Yield the errors of rules that are too expensive together."""
        if self._total <= TOTAL_LIMIT:
            return
        expensive = sorted(self._expensive, key=lambda entry: -entry[0])
        for _, rule_path in expensive[:_MOST_EXPENSIVE]:
            yield forbidden(rule_path, _CONTRIBUTED)
        yield forbidden(path, _excess(_TOTAL, self._total, TOTAL_LIMIT))


def _excess(name: str, cost: int, limit: int) -> str:
    factor = cost / limit
    if factor > 100:
        text = "more than 100x"
    else:
        text = f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return f"{name} exceeds budget by factor of {text} {_ADVICE}"


def multiplicity(schema: Mapping[str, Any]) -> int | None:
    """Return how many values a list or map has at most, None if unlimited; 1 for other types."""
    if schema.get("type") == "array":
        limit = schema.get("maxItems")
    elif schema.get("type") == "object" and schema.get("additionalProperties") is not None:
        limit = schema.get("maxProperties")
    else:
        return 1
    return None if limit is None else max(int(limit), 0)
