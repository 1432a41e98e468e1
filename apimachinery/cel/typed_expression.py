"""Typed expressions: CEL over declared variables, checked for their result type.

They are compiled when an object that contains them is written. The messages are those of
Kubernetes, so the wording of our CEL library is adapted where it differs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

from apimachinery.cel.checked_expression import (
    Expression,
    Literal,
    NewMap,
    descendants,
    read_expression,
    read_parsed_expression,
)
from apimachinery.cel.declared_types import Messages, message_pool, native_type, type_text
from apimachinery.cel.program import MAX_LENGTH, InvalidExpression
from apimachinery.cel.typed_library import OPAQUE_TYPES, typed_extension

ANY: Final = "any"
"""The result type of expressions that may have any."""


@dataclass(frozen=True, slots=True)
class TypedExpression:
    """A checked expression."""

    result: str
    """Its type in CEL's notation."""
    tree: Expression


class TypedEnvironment:
    """The variables of expressions and the messages that they consist of."""

    def __init__(
        self, variables: Mapping[str, str], messages: Messages, *, has_bindings: bool = False
    ) -> None:
        extensions = [ext_optional.ExtOptional(), ext_strings.ExtStrings(), typed_extension()]
        if has_bindings:
            extensions.append(ext_bindings.ExtBindings())
        self._environment = cel.NewEnv(
            descriptor_pool=message_pool({**{name: {} for name in OPAQUE_TYPES}, **messages}),
            variables={name: native_type(text) for name, text in variables.items()},
            extensions=extensions,
        )

    def compile(self, text: str, results: Sequence[str]) -> TypedExpression:
        """Check an expression; raise InvalidExpression if its type is none of *results*."""
        compiled = _compile(self._environment, text)
        actual = type_text(compiled.return_type())
        if actual not in results and ANY not in results:
            if len(results) == 1:
                raise InvalidExpression(f"must evaluate to {results[0]} but got {actual}")
            raise InvalidExpression(
                f"must evaluate to one of [{' '.join(results)}] but got {actual}"
            )
        return TypedExpression(actual, read_expression(compiled.serialize()))

    def message_fields(self, text: str) -> Iterable[tuple[str, str]]:
        """Yield the message and name of each field that an expression sets in a new message."""
        compiled = _compile(self._environment, text, disable_check=True)
        for part in descendants(read_parsed_expression(compiled.serialize())):
            if isinstance(part, NewMap) and part.message:
                yield part.message, ""
                for key, _ in part.entries:
                    if isinstance(key, Literal):
                        yield part.message, str(key.value)


def _compile(environment: Any, text: str, *, disable_check: bool = False) -> Any:
    if len(text) > MAX_LENGTH:
        raise InvalidExpression(f"must not be longer than {MAX_LENGTH} characters")
    try:
        return environment.compile(text, disable_check=disable_check)
    except RuntimeError as error:
        reason = str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
        raise InvalidExpression(f"compilation failed: {_reworded(reason, text)}") from None


_UNDEFINED: Final = re.compile(r"(undefined field '[^']*') not found in struct '[^']*'")
_NO_SELECTION: Final = re.compile(
    r"expression of type '([^']*)' cannot be the operand of a select operation"
)
_NO_OVERLOAD: Final = re.compile(
    r"(?P<head>ERROR: <input>:(?P<line>\d+):(?P<column>\d+): found no matching overload for"
    r" '(?P<name>\w+)' applied to )'\((?P<target>[^,)(]*(?:\([^)]*\))?)(?:, )?(?P<rest>[^']*)\)'"
)
_UNDECLARED: Final = re.compile(
    r"ERROR: <input>:(?P<line>\d+):(?P<column>\d+): undeclared reference to '(?P<name>[\w.]+)'"
    r" \(in container ''\)\n \| (?P<source>.*)\n \| \.*\^"
)


def _reworded(reason: str, text: str) -> str:
    """Return an error of our CEL library in the words of Kubernetes' one."""
    lines = text.split("\n")

    def as_member(match: re.Match[str]) -> str:
        before = lines[int(match["line"]) - 1][: int(match["column"]) - 1]
        if not before.rstrip().endswith(f".{match['name']}"):
            return match[0]
        return f"{match['head']}'{match['target']}.({match['rest']})'"

    reason = reason.replace("\\u003F", "?")
    if not text:
        reason = reason.replace("<input>:1:1:", "<input>:1:0:")
    reason = _UNDEFINED.sub(r"\1", reason)
    reason = _NO_SELECTION.sub(r"type '\1' does not support field selection", reason)
    return _UNDECLARED.sub(_undeclared, _NO_OVERLOAD.sub(as_member, reason))


def _undeclared(match: re.Match[str]) -> str:
    """Return the error about an unknown name, of which only the first part is shown."""
    name, source, column = match["name"], match["source"], int(match["column"])
    parents = name.rpartition(".")[0]
    if parents and source[: column - 1].endswith(parents):
        column -= len(parents)
        name = name.partition(".")[0]
    elif source[column - 1 + len(name) :].startswith("{"):
        column += len(name)
    return (
        f"ERROR: <input>:{match['line']}:{column}: undeclared reference to '{name}'"
        f" (in container '')\n | {source}\n | {'.' * (column - 1)}^"
    )
