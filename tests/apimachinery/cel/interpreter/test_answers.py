"""Expressions and their values or errors, as Kubernetes' API server answers them.

Each line of `answers.jsonl` is an expression, whether it has a value or an error, and that value as
`format` shows it, or the error. The expressions see one ConfigMap.
"""

import json
from pathlib import Path

import pytest

from apimachinery.cel.interpreter.planned_expression import PlannedExpression

ANSWERS = [
    json.loads(line) for line in (Path(__file__).parent / "answers.jsonl").read_text().splitlines()
]
OBJECT = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "x", "labels": {"a": "b"}},
    "data": {"k": "v", "n": "12"},
}


@pytest.mark.parametrize(("text", "kind", "answer"), ANSWERS)
def test_expressions_are_answered_as_by_kubernetes(
    text: str, kind: str, answer: str | None
) -> None:
    variables = {"object": OBJECT}

    shown = PlannedExpression(f"'%s'.format([dyn({text})])", {"object"}).evaluate(variables)

    if kind == "error":
        assert shown.error == answer
    elif answer is None:  # a value that `format` cannot show
        assert PlannedExpression(text, {"object"}).evaluate(variables).error is None
    else:
        assert (shown.value or "").strip() == answer, shown.error
