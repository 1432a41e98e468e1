"""The grammar of label selectors, from text to terms, and what selectors of both kinds share.

    selector ::= [ term { "," term } ]
    term     ::= "!" KEY | KEY | KEY op VALUE | KEY ("in" | "notin") "(" values ")"
    op       ::= "=" | "==" | "!=" | ">" | "<"

`in` and `notin` are words only where an operator can stand, so both can be keys and values.
Space is free between tokens. An empty VALUE is one, also within a set. What a key or a value may
consist of is checked in `label_selector`, except that a bad key is told before anything that
follows it.
"""

import re
from enum import StrEnum
from typing import Final, NamedTuple

from apimachinery.fieldpath import Path, invalid, printable
from apimachinery.names import is_qualified_name

MAX_LENGTH: Final = 32768
"""The longest selector that is read, in characters: more than most proxies let a URL be."""


class InvalidSelector(ValueError):
    """A selector that cannot be understood or that asks for what cannot be.

    *reason* is Kubernetes' message; *position* is the character of *text* where it went wrong,
    and None when no text was read.
    """

    def __init__(self, reason: str, *, text: str = "", position: int | None = None) -> None:
        self.reason = reason = printable(reason)
        self.text = text
        self.position = position
        super().__init__(reason if position is None else f"{reason} (at position {position})")


class Operator(StrEnum):
    """How a term compares; the values are the names Kubernetes' messages use."""

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
    """One term as written: values without repetition, in order."""

    key: str
    operator: Operator
    values: tuple[str, ...]
    position: int


def parse_terms(text: str) -> list[Term]:
    """Split a label selector into its terms."""
    check_length(text)
    return _Parser(text).selector()


def check_length(text: str) -> None:
    """Refuse a text too long to be an honest selector."""
    if len(text) > MAX_LENGTH:
        reason = f"selectors must be no more than {MAX_LENGTH} characters"
        raise InvalidSelector(reason, text=text, position=MAX_LENGTH)


class _Kind(StrEnum):
    END = ""
    IDENTIFIER = "identifier"
    WORD = "word"  # `in` or `notin`, which may also be an identifier
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
        return self.kind is _Kind.IDENTIFIER or self.kind is _Kind.WORD

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
    while found := _TOKEN.match(text, position):
        symbol, word = found.groups()
        if symbol is not None:
            tokens.append(_Token(_Kind.SYMBOL, symbol, found.start(1)))
        else:
            kind = _Kind.WORD if word in ("in", "notin") else _Kind.IDENTIFIER
            tokens.append(_Token(kind, word, found.start(2)))
        position = found.end()
    tokens.append(_Token(_Kind.END, "", len(text)))
    return tokens


class _Parser:
    """Reads tokens left to right; the end token is looked at but never passed."""

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
            raise self.found(self.ahead, ", expected: !, identifier, or 'end of string'", prefix="")
        terms = [self.term()]
        while not self.ahead.is_end:
            comma = self.take()
            if comma.text != ",":
                raise self.found(comma, ", expected: ',' or 'end of string'", prefix="")
            if not self.ahead.starts_term:
                raise self.found(self.ahead, ", expected: identifier after ','", prefix="")
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
            raise self.found(token, ", expected: identifier")
        if errors := is_qualified_name(token.text):
            raise self.error(token, str(invalid(Path(), token.text, "; ".join(errors))))
        return token.text

    def operator(self) -> Operator:
        token = self.take()
        operator = _BINARY_OPERATORS.get(token.text)
        if operator is None:
            raise self.found(token, f", expected: {', '.join(_BINARY_OPERATORS.values())}")
        return operator

    def value(self) -> str:
        if self.ahead.ends_term:
            return ""
        token = self.take()
        if not token.is_identifier:
            raise self.found(token, ", expected: identifier")
        return token.text

    def value_set(self) -> set[str]:
        token = self.take()
        if token.text != "(":
            raise self.found(token, " expected: '('")
        if self.ahead.text == ")":
            self.take()
            return {""}
        if not self.ahead.is_identifier and self.ahead.text != ",":
            raise self.found(self.ahead, ", expected: ',', ')' or identifier")
        values = self.values()
        self.take()
        return values

    def values(self) -> set[str]:
        """Read up to the closing parenthesis, which stays ahead."""
        values: set[str] = set()
        while self.ahead.text != ")" or not values:
            token = self.take()
            if token.is_identifier:
                values.add(token.text)
                if self.ahead.text not in (",", ")"):
                    raise self.found(self.ahead, ", expected: ',' or ')'")
            elif token.text == ",":
                self.empty_values(values)
            else:
                raise self.found(token, ", expected: ',', or identifier")
        return values

    def empty_values(self, values: set[str]) -> None:
        """Add the empty value that a comma at an end of the set, or beside another, stands for."""
        if not values or self.ahead.text == ")":
            values.add("")
        if self.ahead.text == ",":
            self.take()
            values.add("")
            # Two commas before the parenthesis are refused: the original does not expect it there.
            if self.ahead.text == ")":
                raise self.found(self.ahead, ", expected: ',', or identifier")

    def found(
        self, token: _Token, expected: str, *, prefix: str = "unable to parse requirement: "
    ) -> InvalidSelector:
        reason = f"{prefix}found '{token.text}'{expected}"
        return InvalidSelector(reason, text=self.text, position=token.position)

    def error(self, token: _Token, reason: str) -> InvalidSelector:
        reason = f"unable to parse requirement: {reason}"
        return InvalidSelector(reason, text=self.text, position=token.position)
