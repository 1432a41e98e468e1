"""CEL programs: compiled expressions over `self` and, in transition rules, `oldSelf`.

`cel_expr_python`, the C++ implementation of CEL, compiles and evaluates the expressions.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, Final

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings

from apimachinery.cel.checked_expression import (
    Expression,
    Loop,
    identifiers,
    read_expression,
)
from apimachinery.cel.definition_costs import definition_cost
from apimachinery.cel.evaluation_costs import CONVERTED, evaluation_cost
from apimachinery.cel.library import extension
from apimachinery.cel.optional_values import passes_optionals
from apimachinery.cel.read_fields import fields_weight, read_fields
from apimachinery.cel.value_bounds import SCALAR, Bound, DeclaredBound, cut

MAX_LENGTH: Final = 16_384
"""The maximum length of an expression: compiling it takes about 2 µs per character."""

_OLD, _HAS_OLD = "__old__", "__has_old__"
# Optional values cannot be passed to an expression, so the expression builds the optional itself.
_OPTIONAL: Final = (
    f"cel.bind(oldSelf, {_HAS_OLD} ? optional.of({_OLD}) : optional.none(), (\n%s\n))"
)


class InvalidExpression(ValueError):
    """An expression does not compile, or has the wrong result type."""


class EvaluationError(Exception):
    """Evaluating an expression failed, such as on a missing key."""


@lru_cache(maxsize=2048)  # versions of a resource repeat the rules of others
def compile_program(text: str, *, result: str, optional_old: bool = False) -> "Program":
    """Return the program of an expression, which any number of rules may share."""
    return Program(text, result=result, optional_old=optional_old)


class Program:
    """A compiled expression; *result* is its required type, "bool" or "string".

    Raises InvalidExpression if the expression does not compile to that type.
    """

    def __init__(self, text: str, *, result: str, optional_old: bool = False) -> None:
        if len(text) > MAX_LENGTH:
            raise InvalidExpression(f"must not be longer than {MAX_LENGTH} characters")
        self.text = text
        self.optional_old = optional_old
        """Whether `oldSelf` is an optional, so that the rule is evaluated on create as well."""
        mentions_old = optional_old or "oldSelf" in text
        self._expression = _compile(
            _OPTIONAL % text if optional_old else text, _environment(has_old=mentions_old)
        )
        actual = self._expression.return_type()
        if actual not in (_RESULTS[result], cel.Type.DYN):
            raise InvalidExpression(f"must evaluate to a {result}")
        self._result = _RESULTS[result]
        self._tree = read_expression(self._expression.serialize())
        if passes_optionals(self._tree):
            raise InvalidExpression("optional values must not be passed to functions of lists")
        self.uses_old = optional_old or "oldSelf" in identifiers(self._tree)
        """Whether the expression uses `oldSelf`."""
        self.reads = read_fields(self._tree, "self")
        """The fields of `self` that the expression reads; None if it reads the whole value."""
        self.reads_old = read_fields(self._tree, _OLD if optional_old else "oldSelf")
        """The fields of `oldSelf` that the expression reads."""

    @property
    def names_old(self) -> bool:
        """Whether the expression itself has the name `oldSelf`."""
        return "oldSelf" in identifiers(self._own_tree)

    def definition_cost(self, root: DeclaredBound) -> int:
        """Return Kubernetes' estimate of one evaluation on a value with the bound *root*."""
        return definition_cost(self._own_tree, root)

    @property
    def _own_tree(self) -> Expression:
        """The tree without the binding of the optional, which Kubernetes has not."""
        tree = self._tree
        return tree.result if self.optional_old and isinstance(tree, Loop) else tree

    def evaluation_cost(self, value: Bound, old: Bound) -> int:
        """Return the maximum cost of one evaluation on values that have been selected."""
        variables = {"self": value, "oldSelf": old, _OLD: old, _HAS_OLD: SCALAR}
        converted = CONVERTED * fields_weight(value, self.reads)
        if self.uses_old:
            converted += CONVERTED * fields_weight(old, self.reads_old)
        return cut(converted + evaluation_cost(self._tree, variables))

    def evaluate(self, value: Any, old: Any = None, *, has_old: bool = False) -> Any:
        """Return the value of the expression; raise EvaluationError if it has none."""
        data: Mapping[str, Any] = {"self": value}
        if self.optional_old:
            data = {"self": value, _OLD: old, _HAS_OLD: has_old}
        elif self.uses_old:
            data = {"self": value, "oldSelf": old}
        try:
            result = self._expression.eval(data=data)
        except RuntimeError as error:  # the budget of 10,000 list iterations is exceeded
            raise EvaluationError(str(error).removesuffix(" [INTERNAL]")) from None
        kind = result.type()
        if kind == cel.Type.ERROR:
            raise EvaluationError(_kubernetes_message(str(result.value())))
        if kind != self._result:
            raise EvaluationError(f"the value is of type {kind.name()}")
        return result.value()


def _kubernetes_message(error: str) -> str:
    """Return an error in the words of Kubernetes, where those of our CEL library differ."""
    missing = _NO_KEY.fullmatch(error)
    return f"no such key: {missing['key']}" if missing else error


_NO_KEY: Final = re.compile(r'NOT_FOUND: Key not found in map : "?(?P<key>.*?)"?')
_RESULTS: Final = {"bool": cel.Type.BOOL, "string": cel.Type.STRING}


def _compile(text: str, environment: Any) -> Any:
    try:
        return environment.compile(text)
    except RuntimeError as error:
        reason = str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
        raise InvalidExpression(f"compilation failed: {reason}") from None


@cache
def _environment(*, has_old: bool) -> Any:
    """Return the variables and functions of expressions; built once and immutable."""
    variables = {"self": cel.Type.DYN}
    if has_old:
        variables |= {"oldSelf": cel.Type.DYN, _OLD: cel.Type.DYN, _HAS_OLD: cel.Type.BOOL}
    extensions = (
        ext_optional.ExtOptional(),
        ext_strings.ExtStrings(),
        ext_bindings.ExtBindings(),
        ext_math.ExtMath(),
        extension(),
    )
    return cel.NewEnv(variables=variables, extensions=extensions)
