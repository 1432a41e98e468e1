"""JSONPath of printer columns."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.structural.jsonpath import InvalidJSONPath, parse_path, path_steps

DOCUMENT: dict[str, Any] = {
    "spec": {"a": 1, "b.c": 2, "list": [{"n": "x", "v": 1}, {"n": "y", "v": 2}]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Live"}]},
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.a", [1]),
        (".spec.none", []),
        (r".spec.b\.c", [2]),
        (".spec['b.c']", [2]),
        (".spec.list[0].n", ["x"]),
        (".spec.list[-1].n", ["y"]),
        (".spec.list[7].n", []),
        (".spec.list[*].v", [1, 2]),
        (".spec.list[0:1].v", [1]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type == 'Ready')].status", ["True"]),
        (".status.conditions[?(@.status)].type", ["Ready"]),
        (".spec.list[?(@.v>1)].n", ["y"]),
        (".", [DOCUMENT]),
        (".spec.list[0,1,-1].n", ["x", "y"]),
        (".spec.list[0:2:2].n", ["x"]),
        (".spec['a','b.c','a']", [1, 2]),
        ("..type", ["Ready", "Live"]),
        (".spec..n", ["x", "y"]),
    ],
)
def test_paths_lead_to_values(path: str, found: list[Any]) -> None:
    assert parse_path(path)(DOCUMENT) == found


@pytest.mark.parametrize(
    "path",
    ["spec", ".a[", ".a[?(@.b=]", "..a..b", ".a[?(@.b==c)]", "{.a}", ".a[0:1:0]", "..", ".a[,]"],
)
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidJSONPath):
        parse_path(path)


def test_a_path_of_names_is_taken_apart() -> None:
    assert path_steps(".spec.a['b.c']") == ("spec", "a", "b.c")


@given(st.text(".[]?@()'\"ab*=0:-\\", max_size=12))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    try:
        find = parse_path(text)
    except InvalidJSONPath:
        return
    find(DOCUMENT)
