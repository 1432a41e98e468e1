"""Programs: compiled expressions about `self`, and about `oldSelf` where there is a past.

The work is done by CEL's own implementation (`cel_expr_python`, in C++).
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings

from apimachinery.cel.library import extension

_OLD, _HAS_OLD = "__old__", "__has_old__"
# An optional cannot be handed over, so the expression makes its own.
_OPTIONAL: Final = (
    f"cel.bind(oldSelf, {_HAS_OLD} ? optional.of({_OLD}) : optional.none(), (\n%s\n))"
)


class InvalidExpression(ValueError):
    """An expression that does not compile, or not to the type that is needed."""


class EvaluationError(Exception):
    """An expression that has no value for the given data."""


class Program:
    """One expression; *result* is the type it must have: "bool" or "string"."""

    def __init__(self, text: str, *, result: str, optional_old: bool = False) -> None:
        self.optional_old = optional_old
        """Whether `oldSelf` is an optional, so that it can be asked of something new, too."""
        self.uses_old = optional_old
        """Whether it is about a change."""
        if optional_old:
            self._expression = _compiled(_OPTIONAL % text, _environment(past=True))
        else:
            try:
                self._expression = _compiled(text, _environment(past=False))
            except InvalidExpression:
                self._expression = _compiled(text, _environment(past=True))
                self.uses_old = True
        found = self._expression.return_type()
        if found not in (_RESULTS[result], cel.Type.DYN):
            raise InvalidExpression(f"must evaluate to a {result}")
        self._result = _RESULTS[result]

    def evaluate(self, value: Any, old: Any = None, *, has_old: bool = False) -> Any:
        """The value of the expression, or EvaluationError."""
        data: Mapping[str, Any] = {"self": value}
        if self.optional_old:
            data = {"self": value, _OLD: old, _HAS_OLD: has_old}
        elif self.uses_old:
            data = {"self": value, "oldSelf": old}
        try:
            found = self._expression.eval(data=data)
        except RuntimeError as error:  # it would take more than 10,000 steps through lists
            raise EvaluationError(str(error).removesuffix(" [INTERNAL]")) from None
        kind = found.type()
        if kind == cel.Type.ERROR:
            raise EvaluationError(_told(str(found.value())))
        if kind != self._result:
            raise EvaluationError(f"the value is of type {kind.name()}")
        return found.value()


def _told(error: str) -> str:
    """An error as Kubernetes tells it, where its evaluator has other words than ours."""
    missing = _NO_KEY.fullmatch(error)
    return f"no such key: {missing['key']}" if missing else error


_NO_KEY: Final = re.compile(r'NOT_FOUND: Key not found in map : "?(?P<key>.*?)"?')
_RESULTS: Final = {"bool": cel.Type.BOOL, "string": cel.Type.STRING}


def _compiled(text: str, environment: Any) -> Any:
    try:
        return environment.compile(text)
    except RuntimeError as error:
        why = str(error).removeprefix("INVALID_ARGUMENT: ").removesuffix(" [INVALID_ARGUMENT]")
        raise InvalidExpression(f"compilation failed: {why}") from None


@cache
def _environment(*, past: bool) -> Any:
    """What expressions can speak of; made once, and never changed."""
    variables = {"self": cel.Type.DYN}
    if past:
        variables |= {"oldSelf": cel.Type.DYN, _OLD: cel.Type.DYN, _HAS_OLD: cel.Type.BOOL}
    extensions = (
        ext_optional.ExtOptional(),
        ext_strings.ExtStrings(),
        ext_bindings.ExtBindings(),
        ext_math.ExtMath(),
        extension(),
    )
    return cel.NewEnv(variables=variables, extensions=extensions)
