"""Go's view of JSON: invalid bytes in strings are replaced, and syntax errors are worded its way.

Kubernetes passes the words of Go's decoder on to clients, and some clients look for them. Parsing
itself is left to faster code: this module reads a document again after it was refused.
"""

import re
from typing import Final

_SPACE: Final = b" \t\r\n"
_LITERALS: Final = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_NUMBER: Final = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_NUMBER_START: Final = re.compile(rb"-?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][-+]?)?")
_SPACES: Final = re.compile(rb"[ \t\r\n]*")
_PLAIN: Final = re.compile(rb'[^"\\\x00-\x1f]+')
_ESCAPE: Final = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_ESCAPED_BYTE: Final = re.compile("[\udc80-\udcff]")
_STRUCT: Final = (
    r'struct { APIVersion string "json:\"apiVersion,omitempty\"";'
    r' Kind string "json:\"kind,omitempty\"" }'
)
_TYPES: Final = {"[": "array", '"': "string", "t": "bool", "f": "bool"}
_END: Final = "unexpected end of JSON input"


def with_valid_utf8(data: bytes) -> bytes:
    """Replace each byte that is no UTF-8 by U+FFFD, as Go's decoder does in strings."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return _ESCAPED_BYTE.sub("\ufffd", data.decode("utf-8", "surrogateescape")).encode()
    return data


def parse_error(data: bytes) -> str:
    """Return why Go cannot read the kind of a document; empty if it can."""
    error = _Scanner(data).error()
    start = data.lstrip(_SPACE)[:1].decode("latin-1")
    if error or start in ("{", "n"):
        return error
    return f"json: cannot unmarshal {_TYPES.get(start, 'number')} into Go value of type {_STRUCT}"


def syntax_error(data: bytes) -> str:
    """Return Go's message about the first syntax error; empty if there is none."""
    return _Scanner(data).error()


class _SyntaxProblem(Exception):
    """The first error of a document."""


class _Scanner:
    """Reads a document until its first syntax error, one token after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def error(self) -> str:
        try:
            self._read()
        except _SyntaxProblem as problem:
            return str(problem)
        return ""

    def _read(self) -> None:
        open_containers: list[int] = []
        while True:
            opened = self._value()
            if opened:
                open_containers.append(opened)
            elif not self._after_value(open_containers):
                break
        if self._next() is not None:
            self._fail("after top-level value")

    def _value(self) -> int:
        """Read a scalar, or the beginning of a container whose first value follows: return it."""
        byte = self._require()
        if byte == ord("{"):
            self._position += 1
            if self._require() != ord("}"):
                self._key()
                return byte
        elif byte == ord("["):
            self._position += 1
            if self._require() != ord("]"):
                return byte
        else:
            self._scalar(byte)
            return 0
        self._position += 1
        return 0

    def _after_value(self, open_containers: list[int]) -> bool:
        """Read up to the next value of the containers; return False after the last one."""
        while open_containers:
            in_object = open_containers[-1] == ord("{")
            byte = self._require()
            if byte == ord(","):
                self._position += 1
                if in_object:
                    self._key()
                return True
            if byte != ord("}" if in_object else "]"):
                self._fail("after object key:value pair" if in_object else "after array element")
            self._position += 1
            open_containers.pop()
        return False

    def _key(self) -> None:
        if self._require() != ord('"'):
            self._fail("looking for beginning of object key string")
        self._string()
        if self._require() != ord(":"):
            self._fail("after object key")
        self._position += 1

    def _scalar(self, byte: int) -> None:
        if byte == ord('"'):
            self._string()
        elif byte in _LITERALS:
            self._literal(_LITERALS[byte])
        elif byte == ord("-") or chr(byte) in "0123456789":
            self._number()
        else:
            self._fail("looking for beginning of value")

    def _string(self) -> None:
        self._position += 1
        while (byte := self._at()) != ord('"'):
            if byte == ord("\\"):
                self._escape()
            elif byte < 0x20:
                self._fail("in string")
            else:
                self._take(_PLAIN)
        self._position += 1

    def _escape(self) -> None:
        if _ESCAPE.match(self._data, self._position):
            self._take(_ESCAPE)
            return
        is_unicode = self._data[self._position + 1 : self._position + 2] == b"u"
        length = 6 if is_unicode else 2
        sequence = self._data[self._position : self._position + length]
        if len(sequence) < length:
            raise _SyntaxProblem(_END)
        text = sequence.decode("utf-8", "replace")
        raise _SyntaxProblem(f"invalid escape sequence `{text}` in string")

    def _literal(self, word: bytes) -> None:
        for expected in word:
            if self._at() != expected:
                self._fail(f"in literal {word.decode()} (expecting {_quoted(expected)})")
            self._position += 1

    def _number(self) -> None:
        started = _NUMBER_START.match(self._data, self._position)
        whole = _NUMBER.match(self._data, self._position)
        if whole is None or (started is not None and started.end() > whole.end()):
            self._position = started.end() if started is not None else self._position
            self._fail("in numeric literal")
        else:
            self._position = whole.end()

    def _take(self, pattern: re.Pattern[bytes]) -> None:
        found = pattern.match(self._data, self._position)
        if found is not None:
            self._position = found.end()

    def _next(self) -> int | None:
        """Skip spaces; return the next byte, None at the end."""
        self._take(_SPACES)
        return self._data[self._position] if self._position < len(self._data) else None

    def _require(self) -> int:
        byte = self._next()
        if byte is None:
            raise _SyntaxProblem(_END)
        return byte

    def _at(self) -> int:
        if self._position >= len(self._data):
            raise _SyntaxProblem(_END)
        return self._data[self._position]

    def _fail(self, where: str) -> None:
        raise _SyntaxProblem(f"invalid character {_quoted(self._at())} {where}")


def _quoted(byte: int) -> str:
    """Quote a character as Go's decoder does."""
    special = {ord("'"): r"\'", ord('"'): '"', ord("\\"): r"\\", 0x7F: r"\x7f"}
    escapes = {7: r"\a", 8: r"\b", 9: r"\t", 10: r"\n", 11: r"\v", 12: r"\f", 13: r"\r"}
    if byte in special:
        return f"'{special[byte]}'"
    if byte in escapes:
        return f"'{escapes[byte]}'"
    return f"'{chr(byte)}'" if 0x20 <= byte < 0x7F else f"'\\x{byte:02x}'"
