"""Matchers of label selectors: functions compiled for requirements, called for every object.

A few requirements are checked one after the other. Many are merged by key first, so that matching
costs time in proportion to the labels of an object, not to the length of the selector.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

from apimachinery.scalars.intstr import parse_integer
from apimachinery.selectors.parser import Operator

LabelMatcher: TypeAlias = Callable[[Mapping[str, str]], bool]

FEW: Final = 8
"""The number of requirements up to which merging them is not worth it."""


class LabelCondition(Protocol):
    """The attributes of a requirement, which is defined in a higher layer."""

    @property
    def key(self) -> str: ...
    @property
    def operator(self) -> Operator: ...
    @property
    def values(self) -> tuple[str, ...]: ...


def match_all(conditions: Sequence[LabelCondition]) -> LabelMatcher:
    """Return a function that tells whether labels meet every one of *conditions*."""
    if not conditions:
        return _always
    if len(conditions) == 1:
        return match_one(conditions[0])
    if len(conditions) > FEW:
        return _Merged(conditions).matches
    if all(condition.operator in _EQUALITIES for condition in conditions):
        return _all_equal(tuple((condition.key, condition.values[0]) for condition in conditions))
    return _all_of(tuple(map(match_one, conditions)))


def match_one(condition: LabelCondition) -> LabelMatcher:
    """Return a function that tells whether labels meet *condition*."""
    key, values = condition.key, condition.values
    match condition.operator:
        case Operator.EXISTS:
            return lambda labels: key in labels
        case Operator.DOES_NOT_EXIST:
            return lambda labels: key not in labels
        case Operator.GREATER_THAN | Operator.LESS_THAN:
            return _ordered(key, values[0], greater=condition.operator is Operator.GREATER_THAN)
        case Operator.NOT_IN | Operator.NOT_EQUALS:
            return _differs(key, values)
        case _:
            return _equals(key, values)


def match_none(labels: Mapping[str, str]) -> bool:
    """Match no labels at all."""
    return False


_EQUALITIES: Final = (Operator.EQUALS, Operator.DOUBLE_EQUALS)


class _Merged:
    """Many requirements, with what they say about each key taken together."""

    def __init__(self, conditions: Iterable[LabelCondition]) -> None:
        self._present: set[str] = set()
        self._absent: set[str] = set()
        self._allowed: dict[str, set[str]] = {}
        self._excluded: dict[str, set[str]] = {}
        self._above: dict[str, int] = {}
        self._below: dict[str, int] = {}
        for condition in conditions:
            self._add(condition.key, condition.operator, condition.values)

    def matches(self, labels: Mapping[str, str]) -> bool:
        return (
            self._present <= labels.keys()
            and self._absent.isdisjoint(labels)
            and all(labels.get(key) in values for key, values in self._allowed.items())
            and not any(
                labels[key] in self._excluded[key] for key in self._excluded.keys() & labels.keys()
            )
            and self._in_order(labels)
        )

    def _add(self, key: str, operator: Operator, values: tuple[str, ...]) -> None:
        match operator:
            case Operator.EXISTS:
                self._present.add(key)
            case Operator.DOES_NOT_EXIST:
                self._absent.add(key)
            case Operator.GREATER_THAN:
                bound = parse_integer(values[0]) or 0
                self._above[key] = max(bound, self._above.get(key, bound))
            case Operator.LESS_THAN:
                bound = parse_integer(values[0]) or 0
                self._below[key] = min(bound, self._below.get(key, bound))
            case Operator.NOT_IN | Operator.NOT_EQUALS:
                self._excluded.setdefault(key, set()).update(values)
            case _:
                self._allowed.setdefault(key, set(values)).intersection_update(values)

    def _in_order(self, labels: Mapping[str, str]) -> bool:
        for key, bound in self._above.items():
            number = parse_integer(labels.get(key, ""))
            if number is None or number <= bound:
                return False
        for key, bound in self._below.items():
            number = parse_integer(labels.get(key, ""))
            if number is None or number >= bound:
                return False
        return True


def _equals(key: str, values: tuple[str, ...]) -> LabelMatcher:
    if len(values) == 1:
        (value,) = values
        return lambda labels: labels.get(key) == value
    allowed = frozenset(values)
    return lambda labels: labels.get(key) in allowed


def _differs(key: str, values: tuple[str, ...]) -> LabelMatcher:
    if len(values) == 1:
        (value,) = values
        return lambda labels: labels.get(key) != value
    excluded = frozenset(values)
    return lambda labels: labels.get(key) not in excluded


def _ordered(key: str, value: str, *, greater: bool) -> LabelMatcher:
    bound = parse_integer(value) or 0

    def matches(labels: Mapping[str, str]) -> bool:
        number = parse_integer(labels.get(key, ""))
        return number is not None and (number > bound if greater else number < bound)

    return matches


def _all_equal(pairs: tuple[tuple[str, str], ...]) -> LabelMatcher:
    def matches(labels: Mapping[str, str]) -> bool:
        get = labels.get
        for key, value in pairs:  # noqa: SIM110  # all() takes 1.5 times as long
            if get(key) != value:
                return False
        return True

    return matches


def _all_of(matchers: tuple[LabelMatcher, ...]) -> LabelMatcher:
    def matches(labels: Mapping[str, str]) -> bool:
        for matcher in matchers:  # noqa: SIM110  # all() takes 1.5 times as long
            if not matcher(labels):
                return False
        return True

    return matches


def _always(labels: Mapping[str, str]) -> bool:
    return True
