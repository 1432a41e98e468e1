r"""Field selectors: equalities on the few fields a resource offers, such as `status.phase!=Failed`.

The grammar is smaller than that of labels and differs in detail: no sets, no existence, no space
around tokens; a field an object does not have is an empty one; and in values `\`, `,` and `=` are
written with a backslash before them, while a field name has no escapes and ends at the first
operator. Which fields exist is not known here: `transform` lets the resource decide.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias, final

from apimachinery.selectors.parser import InvalidSelector, Operator, check_length

Matcher: TypeAlias = Callable[[Mapping[str, str]], bool]
Transform: TypeAlias = Callable[[str, str], tuple[str, str]]
"""From a field and a value as the client wrote them to those the resource knows."""

# A backslash takes the next character with it, so that an escaped comma does not end a term.
_TERM: Final = re.compile(r"(?:[^\\,]++|\\.|\\\Z)*+", re.DOTALL)
_OPERATOR: Final = re.compile(r"!=|==|=")
_ESCAPED: Final = re.compile(r"\\(.?)|([,=])", re.DOTALL)
_ESCAPES: Final = str.maketrans({"\\": "\\\\", ",": "\\,", "=": "\\="})


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One field that must, or must not, have one value."""

    field: str
    operator: Operator
    value: str

    def __post_init__(self) -> None:
        if self.operator is Operator.DOUBLE_EQUALS:
            object.__setattr__(self, "operator", Operator.EQUALS)
        if not self._is_writable():
            reason = f"invalid selector: no field selector can be written for {self.field!r}"
            raise InvalidSelector(f"{reason} with operator {str(self.operator)!r}")

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Tell whether *fields* meet this condition."""
        return (fields.get(self.field, "") == self.value) is (self.operator is Operator.EQUALS)

    def __str__(self) -> str:
        return f"{self.field}{self.operator}{escape(self.value)}"

    def _is_writable(self) -> bool:
        if self.operator not in (Operator.EQUALS, Operator.NOT_EQUALS):
            return False
        text = f"{self.field}{self.operator}"
        term, found = _TERM.match(text), _OPERATOR.search(text)
        whole, end = len(text), len(self.field)
        return bool(term and term.end() == whole and found and found.span() == (end, whole))


@final
class FieldSelector:
    """All of its requirements, sorted by their text; without any it selects every object."""

    __slots__ = ("matches", "requirements")
    matches: Matcher
    """Tell whether fields meet every requirement."""
    requirements: tuple[FieldRequirement, ...]

    def __init__(self, requirements: Iterable[FieldRequirement] = ()) -> None:
        ordered = tuple(sorted(requirements, key=str))
        _set(self, "requirements", ordered)
        _set(self, "matches", _compile(ordered))

    @property
    def empty(self) -> bool:
        """Whether every object is selected."""
        return not self.requirements

    def add(self, *requirements: FieldRequirement) -> "FieldSelector":
        """Return a selector with further requirements."""
        return FieldSelector((*self.requirements, *requirements))

    def requires_exact_match(self, field: str) -> str | None:
        """Return the value *field* must have, if the selector says so."""
        for requirement in self.requirements:
            if requirement.field == field and requirement.operator is Operator.EQUALS:
                return requirement.value
        return None

    def transform(self, function: Transform) -> "FieldSelector":
        """Return the selector with every field and value passed through *function*.

        A requirement that comes back with an empty field and an empty value is dropped. What
        *function* raises for a field it does not know is the caller's.
        """
        return FieldSelector(_transformed(self.requirements, function))

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))

    def __repr__(self) -> str:
        return f"<Selector {str(self)!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FieldSelector):
            return NotImplemented
        return self.requirements == other.requirements

    def __hash__(self) -> int:
        return hash(self.requirements)

    def __copy__(self) -> "FieldSelector":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "FieldSelector":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return FieldSelector, (self.requirements,)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"selectors cannot be changed: {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"selectors cannot be changed: {name}")


def parse(text: str) -> FieldSelector:
    """Read a selector such as `metadata.name=web,status.phase!=Failed`; empty terms are skipped."""
    check_length(text)
    return FieldSelector(_parse(text))


def everything() -> FieldSelector:
    return FieldSelector()


def from_set(fields: Mapping[str, str] | None) -> FieldSelector:
    """Select the objects that have all of *fields*; without any, everything."""
    items = (fields or {}).items()
    return FieldSelector(FieldRequirement(field, Operator.EQUALS, value) for field, value in items)


def escape(value: str) -> str:
    """Write *value* so that it can stand in a selector."""
    return value.translate(_ESCAPES)


_set = object.__setattr__


def _parse(text: str) -> Iterator[FieldRequirement]:
    position = 0
    while position <= len(text):
        found = _TERM.match(text, position)
        term = found[0] if found else ""
        if term:
            yield _requirement(text, term, position)
        position += len(term) + 1


def _requirement(text: str, term: str, position: int) -> FieldRequirement:
    found = _OPERATOR.search(term)
    if found is None:
        reason = f"invalid selector: '{text}'; can't understand '{term}'"
        raise InvalidSelector(reason, text=text, position=position)
    value = _unescape(text, term[found.end() :], position + found.end())
    return FieldRequirement(term[: found.start()], Operator(found[0]), value)


def _unescape(text: str, value: str, position: int) -> str:
    def plain(found: re.Match[str]) -> str:
        escaped, bare = found.groups()
        if bare is not None:
            # Kubernetes prints the number of the character.
            reason = f"unescaped character in value: {ord(bare)}"
        elif escaped and escaped in "\\,=":
            return escaped
        else:
            reason = f"invalid escape sequence: {found[0]}"
        reason = f"invalid field selector: {reason}"
        raise InvalidSelector(reason, text=text, position=position + found.start())

    return _ESCAPED.sub(plain, value)


def _transformed(
    requirements: Iterable[FieldRequirement], function: Transform
) -> Iterator[FieldRequirement]:
    for requirement in requirements:
        field, value = function(requirement.field, requirement.value)
        if field or value:
            yield FieldRequirement(field, requirement.operator, value)


def _compile(requirements: tuple[FieldRequirement, ...]) -> Matcher:
    if not requirements:
        return _always
    if len(requirements) == 1:
        return _matcher(requirements[0])
    matchers = tuple(map(_matcher, requirements))

    def matches(fields: Mapping[str, str]) -> bool:
        for matcher in matchers:  # noqa: SIM110  # all() takes half as long again
            if not matcher(fields):
                return False
        return True

    return matches


def _matcher(requirement: FieldRequirement) -> Matcher:
    field, value = requirement.field, requirement.value
    if requirement.operator is Operator.EQUALS:
        return lambda fields: fields.get(field, "") == value
    return lambda fields: fields.get(field, "") != value


def _always(fields: Mapping[str, str]) -> bool:
    return True
