"""Parser of label selectors, and the error and operators that both kinds of selectors share.

    selector ::= [ term { "," term } ]
    term     ::= "!" KEY | KEY | KEY op VALUE | KEY ("in" | "notin") "(" values ")"
    op       ::= "=" | "==" | "!=" | ">" | "<"

`in` and `notin` are keywords only where an operator is allowed, so both can be keys and values.
Whitespace between tokens is ignored. A VALUE may be empty, also in a set. The syntax of keys and
values is checked in `label_selector`, except that a bad key is reported here, before any error
that follows it.
"""

import re
from enum import StrEnum
from typing import Final, NamedTuple

from apimachinery.fieldpath import Path, invalid, printable
from apimachinery.names import is_qualified_name

MAX_LENGTH: Final = 32768
"""The longest selector accepted, in characters: more than most proxies allow for a URL."""


class InvalidSelector(ValueError):
    """A malformed selector, or one with impossible requirements.

    *reason* is Kubernetes' message; *position* is the index in *text* of the error, or None if no
    text was parsed.
    """

    def __init__(self, reason: str, *, text: str = "", position: int | None = None) -> None:
        self.reason = reason = printable(reason)
        self.text = text
        self.position = position
        super().__init__(reason if position is None else f"{reason} (at position {position})")


class Operator(StrEnum):
    """The operator of a requirement; the values are those of Kubernetes' messages."""

    IN = "in"
    NOT_IN = "notin"
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    NOT_EQUALS = "!="
    GREATER_THAN = "gt"
    LESS_THAN = "lt"
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"


class Term(NamedTuple):
    """One term of a selector; values are sorted and unique."""

    key: str
    operator: Operator
    values: tuple[str, ...]
    position: int


def parse_terms(text: str) -> list[Term]:
    """Parse a label selector into its terms; raises InvalidSelector."""
    check_length(text)
    return _Parser(text).selector()


def check_length(text: str) -> None:
    """Raise InvalidSelector if *text* is longer than MAX_LENGTH."""
    if len(text) > MAX_LENGTH:
        reason = f"selectors must be no more than {MAX_LENGTH} characters"
        raise InvalidSelector(reason, text=text, position=MAX_LENGTH)


class _Kind(StrEnum):
    END = ""
    IDENTIFIER = "identifier"
    KEYWORD = "keyword"  # `in` or `notin`, which may also be an identifier
    SYMBOL = "symbol"


class _Token(NamedTuple):
    kind: _Kind
    text: str
    position: int

    @property
    def is_end(self) -> bool:
        return self.kind is _Kind.END

    @property
    def is_identifier(self) -> bool:
        return self.kind is _Kind.IDENTIFIER or self.kind is _Kind.KEYWORD

    @property
    def starts_term(self) -> bool:
        return self.is_identifier or self.text == "!"

    @property
    def ends_term(self) -> bool:
        return self.is_end or self.text == ","


_TOKEN: Final = re.compile(r"[ \t\r\n]*+(?:(==|!=|[=!(),<>])|([^=!(),<> \t\r\n]++))")
_BINARY_OPERATORS: Final = {
    "in": Operator.IN,
    "notin": Operator.NOT_IN,
    "=": Operator.EQUALS,
    "==": Operator.DOUBLE_EQUALS,
    "!=": Operator.NOT_EQUALS,
    ">": Operator.GREATER_THAN,
    "<": Operator.LESS_THAN,
}


def _tokens(text: str) -> list[_Token]:
    tokens = []
    position = 0
    while match := _TOKEN.match(text, position):
        symbol, word = match.groups()
        if symbol is not None:
            tokens.append(_Token(_Kind.SYMBOL, symbol, match.start(1)))
        else:
            kind = _Kind.KEYWORD if word in ("in", "notin") else _Kind.IDENTIFIER
            tokens.append(_Token(kind, word, match.start(2)))
        position = match.end()
    tokens.append(_Token(_Kind.END, "", len(text)))
    return tokens


class _Parser:
    """A recursive-descent parser; the end token is never consumed."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.position = 0

    @property
    def ahead(self) -> _Token:
        return self.tokens[self.position]

    def take(self) -> _Token:
        token = self.tokens[self.position]
        if not token.is_end:
            self.position += 1
        return token

    def selector(self) -> list[Term]:
        if self.ahead.is_end:
            return []
        if not self.ahead.starts_term:
            raise self.unexpected(
                self.ahead, ", expected: !, identifier, or 'end of string'", prefix=""
            )
        terms = [self.term()]
        while not self.ahead.is_end:
            comma = self.take()
            if comma.text != ",":
                raise self.unexpected(comma, ", expected: ',' or 'end of string'", prefix="")
            if not self.ahead.starts_term:
                raise self.unexpected(self.ahead, ", expected: identifier after ','", prefix="")
            terms.append(self.term())
        return terms

    def term(self) -> Term:
        start = self.ahead.position
        negated = self.ahead.text == "!"
        if negated:
            self.take()
        key = self.key()
        if negated:
            return Term(key, Operator.DOES_NOT_EXIST, (), start)
        if self.ahead.ends_term:
            return Term(key, Operator.EXISTS, (), start)
        operator = self.operator()
        is_set = operator is Operator.IN or operator is Operator.NOT_IN
        values = self.value_set() if is_set else {self.value()}
        return Term(key, operator, tuple(sorted(values)), start)

    def key(self) -> str:
        token = self.take()
        if not token.is_identifier:
            raise self.unexpected(token, ", expected: identifier")
        if errors := is_qualified_name(token.text):
            raise self.error(token, str(invalid(Path(), token.text, "; ".join(errors))))
        return token.text

    def operator(self) -> Operator:
        token = self.take()
        operator = _BINARY_OPERATORS.get(token.text)
        if operator is None:
            raise self.unexpected(token, f", expected: {', '.join(_BINARY_OPERATORS.values())}")
        return operator

    def value(self) -> str:
        if self.ahead.ends_term:
            return ""
        token = self.take()
        if not token.is_identifier:
            raise self.unexpected(token, ", expected: identifier")
        return token.text

    def value_set(self) -> set[str]:
        token = self.take()
        if token.text != "(":
            raise self.unexpected(token, " expected: '('")
        if self.ahead.text == ")":
            self.take()
            return {""}
        if not self.ahead.is_identifier and self.ahead.text != ",":
            raise self.unexpected(self.ahead, ", expected: ',', ')' or identifier")
        values = self.values()
        self.take()
        return values

    def values(self) -> set[str]:
        """Parse the values up to the closing parenthesis, which is not consumed."""
        values: set[str] = set()
        while self.ahead.text != ")" or not values:
            token = self.take()
            if token.is_identifier:
                values.add(token.text)
                if self.ahead.text not in (",", ")"):
                    raise self.unexpected(self.ahead, ", expected: ',' or ')'")
            elif token.text == ",":
                self.empty_values(values)
            else:
                raise self.unexpected(token, ", expected: ',', or identifier")
        return values

    def empty_values(self, values: set[str]) -> None:
        """Add the empty value before a leading comma, after a trailing one or between two."""
        if not values or self.ahead.text == ")":
            values.add("")
        if self.ahead.text == ",":
            self.take()
            values.add("")
            # Kubernetes' parser rejects two commas before the closing parenthesis.
            if self.ahead.text == ")":
                raise self.unexpected(self.ahead, ", expected: ',', or identifier")

    def unexpected(
        self, token: _Token, expected: str, *, prefix: str = "unable to parse requirement: "
    ) -> InvalidSelector:
        reason = f"{prefix}found '{token.text}'{expected}"
        return InvalidSelector(reason, text=self.text, position=token.position)

    def error(self, token: _Token, reason: str) -> InvalidSelector:
        reason = f"unable to parse requirement: {reason}"
        return InvalidSelector(reason, text=self.text, position=token.position)
