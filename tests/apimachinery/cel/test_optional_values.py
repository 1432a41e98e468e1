"""Optional values never reach a function in Python: the CEL library would end the process."""

from typing import Any

import pytest

from apimachinery.cel.program import InvalidExpression, Program


@pytest.mark.parametrize(
    "text",
    [
        "[optional.of(1)].indexOf(1) == 0",
        "[self].indexOf(optional.of(1)) == 0",
        "[optional.of(1)].sum() == 1",
        "[optional.none()].isSorted()",
        "sets.contains([optional.of(1)], [1])",
        "[self.?a].min() == 1",
        "[1].map(x, optional.of(x)).indexOf(1) == 0",
        "[optional.of(1)].all(x, [x].indexOf(1) == 0)",
        "[{'a': self.?a}].indexOf(1) == 0",
        "cel.bind(x, optional.of(1), [x].indexOf(1) == 0)",
        "[optional.of(optional.of(1)).value()].indexOf(1) == 0",
        "dyn([optional.of(1)]).hasValue()",
    ],
)
def test_an_expression_that_may_pass_one_is_refused(text: str) -> None:
    with pytest.raises(InvalidExpression, match="optional values must not be passed"):
        Program(text, result="bool")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("self.?a.orValue([]).sum() == 3", {"a": [1, 2]}),
        ("self.?a.?b.orValue([1]).indexOf(1) == 0", {}),
        ("self.?a.hasValue() && [1, 2].sum() == 3", {"a": 1}),
        ("[?self.?a, ?self.?b].sum() == 1", {"a": 1}),
        ("self.?a.optMap(x, x + 1).value() in [2] && [1].isSorted()", {"a": 1}),
        ("sets.contains(self.a, [self.?b.orValue(1)])", {"a": [1]}),
        ("self.a.indexOf('b') == 1", {"a": "ab"}),
    ],
)
def test_values_that_were_optional_are_passed(text: str, value: Any) -> None:
    assert Program(text, result="bool").evaluate(value) is True


def test_an_optional_old_value_can_be_used_by_its_content() -> None:
    text = "!oldSelf.hasValue() || [oldSelf.value()].indexOf(self) == 0"

    program = Program(text, result="bool", optional_old=True)

    assert program.evaluate(1, 1, has_old=True) is True
    with pytest.raises(InvalidExpression):
        Program("[oldSelf].indexOf(self) == 0", result="bool", optional_old=True)
