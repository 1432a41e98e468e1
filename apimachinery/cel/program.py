"""CEL programs: compiled expressions over `self` and, in transition rules, `oldSelf`.

`cel_expr_python`, the C++ implementation of CEL, compiles and evaluates the expressions.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings

from apimachinery.cel.library import extension

_OLD, _HAS_OLD = "__old__", "__has_old__"
# Optional values cannot be passed to an expression, so the expression builds the optional itself.
_OPTIONAL: Final = (
    f"cel.bind(oldSelf, {_HAS_OLD} ? optional.of({_OLD}) : optional.none(), (\n%s\n))"
)


class InvalidExpression(ValueError):
    """An expression does not compile, or has the wrong result type."""


class EvaluationError(Exception):
    """Evaluating an expression failed, such as on a missing key."""


class Program:
    """A compiled expression; *result* is its required type, "bool" or "string".

    Raises InvalidExpression if the expression does not compile to that type.
    """

    def __init__(self, text: str, *, result: str, optional_old: bool = False) -> None:
        self.optional_old = optional_old
        """Whether `oldSelf` is an optional, so that the rule is evaluated on create as well."""
        self.uses_old = optional_old
        """Whether the expression uses `oldSelf`."""
        if optional_old:
            self._expression = _compile(_OPTIONAL % text, _environment(has_old=True))
        else:
            try:
                self._expression = _compile(text, _environment(has_old=False))
            except InvalidExpression:
                self._expression = _compile(text, _environment(has_old=True))
                self.uses_old = True
        actual = self._expression.return_type()
        if actual not in (_RESULTS[result], cel.Type.DYN):
            raise InvalidExpression(f"must evaluate to a {result}")
        self._result = _RESULTS[result]

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
