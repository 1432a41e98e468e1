"""Label selectors: requirements on the labels of objects, compiled once and matched often.

A selector is an immutable, hashable value, equal to any selector with the same requirements. It can
be created from text, from the API type `LabelSelector` or from a set of labels. Its `matches` is a
function compiled for its requirements, because a watch calls it for every event.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, NoReturn, Protocol, final

from apimachinery.fieldpath import FieldErrors, Path, invalid, quote, to_aggregate_message
from apimachinery.names import is_label_value, is_qualified_name
from apimachinery.scalars.intstr import parse_integer
from apimachinery.selectors.label_matchers import LabelMatcher, match_all, match_none, match_one
from apimachinery.selectors.parser import InvalidSelector, Operator, Term, parse_terms


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label; *values* are sorted and unique. Raises InvalidSelector."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(sorted(set(self.values))))
        if errors := list(_errors(self)):
            raise InvalidSelector(to_aggregate_message(errors))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether *labels* meet the requirement."""
        return match_one(self)(labels)

    def __str__(self) -> str:
        if self.operator is Operator.DOES_NOT_EXIST:
            return f"!{self.key}"
        if self.operator is Operator.EXISTS:
            return self.key
        values = ",".join(self.values)
        if self.operator in _SETS:
            return f"{self.key} {self.operator} ({values})"
        return f"{self.key}{_SYMBOLS.get(self.operator, self.operator)}{values}"


@final
class Selector:
    """Requirements that must all be met, sorted by key; without any it selects every object.

    The selector that selects nothing has no requirements either, but is not `selectable`; it has
    no text form and prints as the empty string.
    """

    __slots__ = ("matches", "requirements", "selectable")
    matches: LabelMatcher
    """Returns whether labels meet every requirement."""
    requirements: tuple[Requirement, ...]
    selectable: bool

    def __init__(
        self, requirements: Iterable[Requirement] = (), *, selectable: bool = True
    ) -> None:
        ordered = tuple(sorted(requirements, key=attrgetter("key"))) if selectable else ()
        _set(self, "requirements", ordered)
        _set(self, "selectable", selectable)
        _set(self, "matches", match_all(ordered) if selectable else match_none)

    @property
    def empty(self) -> bool:
        """Whether the selector selects every object."""
        return self.selectable and not self.requirements

    def add(self, *requirements: Requirement) -> "Selector":
        """Return a selector with additional requirements; `nothing()` stays the same."""
        return Selector((*self.requirements, *requirements), selectable=self.selectable)

    def requires_exact_match(self, key: str) -> str | None:
        """Return the only value that the first requirement on *key* allows, if there is one."""
        for requirement in self.requirements:
            if requirement.key == key:
                exact = requirement.operator in _EXACT and len(requirement.values) == 1
                return requirement.values[0] if exact else None
        return None

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return f"<Selector {str(self)!r}>" if self.selectable else "<Selector of nothing>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selector):
            return NotImplemented
        return self.requirements == other.requirements and self.selectable == other.selectable

    def __hash__(self) -> int:
        return hash((self.requirements, self.selectable))

    def __copy__(self) -> "Selector":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Selector":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Selector, (self.requirements,)) if self.selectable else (nothing, ())

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"selectors cannot be changed: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"selectors cannot be changed: {name}")


class LabelSelectorRequirementLike(Protocol):
    """The attributes of the API type `LabelSelectorRequirement`."""

    @property
    def key(self) -> str: ...
    @property
    def operator(self) -> str: ...
    @property
    def values(self) -> Sequence[str] | None: ...


class LabelSelectorLike(Protocol):
    """The attributes of the API type `LabelSelector`, which is defined in a higher layer."""

    @property
    def match_labels(self) -> Mapping[str, str] | None: ...
    @property
    def match_expressions(self) -> Sequence[LabelSelectorRequirementLike] | None: ...


def parse(text: str) -> Selector:
    """Parse a selector such as `app=web,tier in (a,b),!canary`; empty text selects everything.

    Raises InvalidSelector.
    """
    return Selector(_requirement(term, text) for term in parse_terms(text))


def everything() -> Selector:
    return Selector()


def nothing() -> Selector:
    return Selector(selectable=False)


def from_set(labels: Mapping[str, str] | None) -> Selector:
    """Return a selector of the objects that have all of *labels*; without any, of everything."""
    return Selector(_equalities(labels))


def from_label_selector(selector: LabelSelectorLike | None) -> Selector:
    """Compile the API type: None selects nothing, an empty selector everything."""
    if selector is None:
        return nothing()
    expressions = map(_expression, selector.match_expressions or ())
    return Selector((*_equalities(selector.match_labels), *expressions))


def try_label_selector(selector: LabelSelectorLike | None) -> Selector | None:
    """Compile the API type; return None if one of its requirements is invalid."""
    try:
        return from_label_selector(selector)
    except InvalidSelector:
        return None


def format_label_selector(selector: LabelSelectorLike | None) -> str:
    """Return a selector as tables show it: `<none>` without requirements, `<error>` if invalid."""
    try:
        return str(from_label_selector(selector)) or "<none>"
    except InvalidSelector:
        return "<error>"


_set = object.__setattr__

_SETS: Final = (Operator.IN, Operator.NOT_IN)
_EQUALITIES: Final = (Operator.EQUALS, Operator.DOUBLE_EQUALS)
_EXACT: Final = (*_EQUALITIES, Operator.IN)
_SYMBOLS: Final = {Operator.GREATER_THAN: ">", Operator.LESS_THAN: "<"}
_API_OPERATORS: Final = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}


def _requirement(term: Term, text: str) -> Requirement:
    try:
        return Requirement(term.key, term.operator, term.values)
    except InvalidSelector as error:
        reason = f"unable to parse requirement: {error.reason}"
        raise InvalidSelector(reason, text=text, position=term.position) from None


def _equalities(labels: Mapping[str, str] | None) -> list[Requirement]:
    return [Requirement(key, Operator.EQUALS, (value,)) for key, value in (labels or {}).items()]


def _expression(expression: LabelSelectorRequirementLike) -> Requirement:
    operator = _API_OPERATORS.get(expression.operator)
    if operator is None:
        name = quote(expression.operator)
        raise InvalidSelector(f"{name} is not a valid label selector operator")
    return Requirement(expression.key, operator, tuple(expression.values or ()))


def _errors(requirement: Requirement) -> FieldErrors:
    key, values = requirement.key, requirement.values
    if errors := is_qualified_name(key):
        yield invalid(Path("key"), key, "; ".join(errors))
    if rule := _count_rule(requirement.operator, len(values)):
        yield invalid(Path("values"), values, rule)
    for index, value in enumerate(values):
        if requirement.operator in _SYMBOLS and parse_integer(value) is None:
            rule = "for 'Gt', 'Lt' operators, the value must be an integer"
            yield invalid(Path("values").index(index), value, rule)
        if errors := is_label_value(value):
            yield invalid(Path("values").index(index).key(key), value, "; ".join(errors))


def _count_rule(operator: Operator, count: int) -> str:
    """Return the rule that the number of values breaks, or an empty string."""
    match operator:
        case Operator.IN | Operator.NOT_IN:
            return "" if count else "for 'in', 'notin' operators, values set can't be empty"
        case Operator.EXISTS | Operator.DOES_NOT_EXIST:
            return "values set must be empty for exists and does not exist" if count else ""
        case Operator.GREATER_THAN | Operator.LESS_THAN:
            rule = "for 'Gt', 'Lt' operators, exactly one value is required"
            return "" if count == 1 else rule
        case _:
            return "" if count == 1 else "exact-match compatibility requires one single value"
