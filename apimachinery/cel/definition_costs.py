"""Definition costs: Kubernetes' estimate of a rule, by which a definition is accepted or refused.

Sizes come from the limits in the schema. The estimate follows that of Kubernetes closely, even
where that is too low, because a rule that Kubernetes accepts must not be refused here; what an
evaluation may really cost is bounded by `evaluation_costs`.
"""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Final

from apimachinery.cel.checked_expression import Call, Expression, Identifier, Literal, Select
from apimachinery.cel.cost_model import CostModel, traversal
from apimachinery.cel.value_bounds import (
    LARGEST,
    SCALAR,
    UNKNOWN,
    Bound,
    ComputedBound,
    DeclaredBound,
    cut,
    union,
)

_CONSTANT_FUNCTIONS: Final = ("math.", "format.")
_KEY: Final = ComputedBound("string", 0)
Estimate = Callable[[list[Bound], Call], tuple[int, Bound]]


def definition_cost(expression: Expression, root: DeclaredBound) -> int:
    """Return the estimated cost of evaluating a rule once, on a value with the bound *root*."""
    return DefinitionCosts(root).cost(expression)


class DefinitionCosts(CostModel):
    """Estimates the expressions of a schema."""

    def __init__(
        self, root: DeclaredBound, variables: tuple[str, ...] = ("self", "oldSelf")
    ) -> None:
        super().__init__(dict.fromkeys(variables, root))
        self._root = root

    def call(self, arguments: list[Bound], call: Call) -> tuple[int, Bound]:
        estimate = _FUNCTIONS.get(call.function)
        if estimate is None:
            return 1, SCALAR if call.function.startswith(_CONSTANT_FUNCTIONS) else UNKNOWN
        return estimate(arguments, call)

    def loop_element(self, iterated: Bound) -> Bound:
        if iterated.kind == "map":
            return _KEY
        if isinstance(iterated, DeclaredBound):
            return iterated.element()
        # The items of a list that an expression has built count as large as `self`.
        return ComputedBound(iterated.element().kind, self._root.size)

    def accumulator(self, initial: Bound, count: int) -> Bound:
        return initial

    def presence(self, cost: int, operand: Expression) -> int:
        while isinstance(operand, Select):
            operand = operand.operand
        return 0 if isinstance(operand, Identifier) else cost


def _constant(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    return 1, SCALAR


def _equal(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    return traversal(min(bound.size for bound in arguments)), SCALAR


def _compare(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    if any(bound.kind in ("string", "bytes") for bound in arguments):
        return _equal(arguments, call)
    return _constant(arguments, call)


def _add(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    left, right = arguments
    kinds = {left.kind, right.kind}
    if kinds == {"scalar"}:
        return 1, SCALAR
    size = cut(left.size + right.size)
    if kinds == {"list"}:
        element = union(left.element(), right.element()) if left.size else right.element()
        return 1, ComputedBound("list", size, element=element)
    return traversal(size), ComputedBound(left.kind or right.kind, size)


def _index(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    container, key = arguments[0], call.arguments[1]
    if container.kind == "object" and isinstance(key, Literal) and isinstance(key.value, str):
        return 1, container.field(key.value)
    return 1, container.element()


def _contained(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    container = arguments[1]
    return (1 if container.kind == "map" else container.size), SCALAR


def _affix(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    return traversal(arguments[1].size), SCALAR


def _matches(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    text, pattern = arguments
    return cut(traversal(cut(text.size + 1)) * traversal(pattern.size, 0.25)), SCALAR


def _find(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    text = arguments[0]
    cost, _ = _matches(arguments[:2], call)
    kind: Bound = ComputedBound("string", text.size)
    if call.function == "findAll":
        kind = ComputedBound("list", text.size, element=ComputedBound("string", text.size))
    return cost, kind


def _contains(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    text, part = arguments
    return cut(traversal(text.size) * traversal(part.size)), SCALAR


def _read(factor: float = 0.1) -> Estimate:
    """A function that reads a text and returns a value of fixed size."""
    return lambda arguments, call: (traversal(arguments[0].size, factor), SCALAR)


def _rewrite(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    size = arguments[0].size
    return traversal(size), ComputedBound("string", size)


def _to_bytes(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    size = arguments[0].size
    return traversal(size), ComputedBound("bytes", 4 * size)


def _quote(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    size = arguments[0].size
    return traversal(size), ComputedBound("string", 2 * size + 2)


def replaced_size(text: int, old: int, new: int) -> int:
    """Return the maximum size of a text in which *old* characters or more are each replaced."""
    if old == 0:
        return cut((text + 1) * new + text)
    if new <= old:
        return text
    return cut(ceil(text / old) * new)


def _replace(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    text, old, new = arguments[:3]
    shortest = old.size if isinstance(call.arguments[1], Literal) else 0
    size = replaced_size(text.size, shortest, new.size)
    return traversal(text.size, 0.2), ComputedBound("string", size)


def _split(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    size = count = arguments[0].size
    limit = call.arguments[2] if len(call.arguments) > 2 else None
    if isinstance(limit, Literal) and isinstance(limit.value, int) and limit.value >= 0:
        count = limit.value
    element = ComputedBound("string", size)
    return traversal(size, 0.2), ComputedBound("list", count, element=element)


def joined_size(arguments: list[Bound]) -> int:
    """Return the maximum size of a list of texts that are joined."""
    texts = arguments[0]
    separator = arguments[1].size if len(arguments) > 1 else 0
    return cut(texts.size * (texts.element().size + separator))


def _join(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    size = joined_size(arguments)
    return traversal(size), ComputedBound("string", size)


def _scan(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    """A function that compares all items of a list, or searches a text."""
    values = arguments[0]
    if values.kind == "string":
        return traversal(values.size), SCALAR
    element = values.element()
    each = 1 + (traversal(element.size) if element.kind in ("string", "bytes") else 0)
    result = element if call.function in ("min", "max") else SCALAR
    return cut(values.size * each), result


def _sets(factor: int) -> Estimate:
    return lambda arguments, call: (
        cut(1 + factor * arguments[0].size * arguments[1].size),
        SCALAR,
    )


def _validate_format(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    return cut(traversal(arguments[1].size) * 32), ComputedBound("list", 10)


def _contains_network(base: int) -> Estimate:
    def estimate(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
        parsed = isinstance(call.arguments[1], Call)
        return base + (0 if parsed else traversal(arguments[1].size)), SCALAR

    return estimate


def _format(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    return traversal(arguments[0].size), ComputedBound("string", LARGEST)


def _same(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    """A function that returns its argument, such as `dyn`, or one of them (`orValue`)."""
    if not arguments:
        return 1, SCALAR
    result = arguments[0]
    for other in arguments[1:]:
        result = union(result, other)
    return 1, result


def _optional_field(arguments: list[Bound], call: Call) -> tuple[int, Bound]:
    key = call.arguments[1]
    if isinstance(key, Literal) and isinstance(key.value, str):
        return 1, arguments[0].field(key.value)
    return 1, arguments[0].element()


_FUNCTIONS: Final[Mapping[str, Estimate]] = {
    **dict.fromkeys(("_==_", "_!=_"), _equal),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _compare),
    "_+_": _add,
    "_[_]": _index,
    "_[?_]": _optional_field,
    "_?._": _optional_field,
    "@in": _contained,
    **dict.fromkeys(("startsWith", "endsWith"), _affix),
    "matches": _matches,
    **dict.fromkeys(("find", "findAll"), _find),
    "contains": _contains,
    "bytes": _to_bytes,
    "strings.quote": _quote,
    **dict.fromkeys(("lowerAscii", "upperAscii", "substring", "trim", "url", "reverse"), _rewrite),
    "replace": _replace,
    "split": _split,
    "join": _join,
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _scan),
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity"), _read()),
    "ip.isCanonical": _read(0.2),
    "containsIP": _contains_network(4),
    "containsCIDR": _contains_network(7),
    "validate": _validate_format,
    "format": _format,
    **dict.fromkeys(
        ("dyn", "optional.of", "optional.ofNonZeroValue", "or", "orValue", "value"), _same
    ),
    **dict.fromkeys(
        (
            *("_-_", "_*_", "_/_", "_%_", "-_", "!_", "@not_strictly_false", "size", "type"),
            *("int", "uint", "double", "bool", "timestamp", "duration", "hasValue"),
            *("optional.none", "isURL", "sign", "isInteger", "asInteger", "asApproximateFloat"),
            *("isLessThan", "isGreaterThan", "compareTo", "add", "sub", "masked", "family"),
            *("prefixLength", "isUnspecified", "isLoopback", "isLinkLocalMulticast"),
            *("isLinkLocalUnicast", "isGlobalUnicast", "charAt"),
            *("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek"),
            *("getDayOfYear", "getHours", "getMinutes", "getSeconds", "getMilliseconds"),
        ),
        _constant,
    ),
}
