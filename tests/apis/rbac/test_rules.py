"""What rules allow and cover, against the definition written out in the plainest way."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apis.rbac.rules import ATOMS_MAX, CompiledRules, TooManyRules, describe, resource_keys
from apis.rbac.v1 import PolicyRule
from tests.apis.rbac.making import paths, rule

WORDS = st.sampled_from(["a", "b", "*"])
RESOURCES = st.sampled_from(["pods", "pods/status", "pods/*", "*/status", "gadgets/status", "*"])
PATHS = st.sampled_from(["/a", "/a/b", "/a/*", "/ab*", "/*", "*", "/a**"])


def some(words: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(words, min_size=1, max_size=2)


RESOURCE_RULES = st.builds(
    PolicyRule,
    verbs=some(WORDS),
    api_groups=some(WORDS),
    resources=some(RESOURCES),
    resource_names=st.lists(st.sampled_from(["x", "y"]), max_size=2),
)
PATH_RULES = st.builds(PolicyRule, verbs=some(WORDS), non_resource_urls=some(PATHS))
RULES = st.lists(RESOURCE_RULES | PATH_RULES, max_size=4)


def allows(each: PolicyRule, verb: str, group: str, resource: str, part: str, name: str) -> bool:
    whole = f"{resource}/{part}" if part else resource
    return (
        ("*" in each.verbs or verb in each.verbs)
        and ("*" in each.api_groups or group in each.api_groups)
        and any(
            own in ("*", whole) or (part and own == f"*/{part}") for own in each.resources
        )
        and (not each.resource_names or name in each.resource_names)
    )  # fmt: skip


def allows_path(each: PolicyRule, verb: str, path: str) -> bool:
    return ("*" in each.verbs or verb in each.verbs) and any(
        own == path or (own.endswith("*") and path.startswith(own.rstrip("*")))
        for own in each.non_resource_urls
    )


@given(
    RULES,
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["pods", "gadgets"]),
    st.sampled_from(["", "status", "scale"]),
    st.sampled_from(["", "x", "z"]),
)
def test_resources(
    rules: list[PolicyRule], verb: str, group: str, resource: str, part: str, name: str
) -> None:
    compiled = CompiledRules(rules)

    found = compiled.allows_resource(resource_keys(resource, part), verb, group, name)

    assert found == any(allows(each, verb, group, resource, part, name) for each in rules)


@given(RULES, st.sampled_from(["a", "c"]), st.sampled_from(["/", "/a", "/a/", "/a/b", "/abc", ""]))
def test_paths(rules: list[PolicyRule], verb: str, path: str) -> None:
    expected = any(allows_path(each, verb, path) for each in rules)

    assert CompiledRules(rules).allows_path(path, verb) == expected


@given(RULES)
def test_whoever_has_rules_has_those_rules(rules: list[PolicyRule]) -> None:
    assert CompiledRules(rules).missing(rules) == []


@given(RULES, RULES)
def test_nothing_is_covered_that_is_not_allowed(
    held: list[PolicyRule], wanted: list[PolicyRule]
) -> None:
    """What is missing is missing, and the rest is all somebody could do with *wanted*."""
    have = CompiledRules(held)
    missing = CompiledRules(have.missing(wanted))

    for verb, group, resource, part, name in product(
        "abc", "abc", ("pods", "gadgets"), ("", "status", "*"), ("", "x", "z")
    ):
        asked = resource_keys(resource, part), verb, group, name
        if CompiledRules(wanted).allows_resource(*asked) and not missing.allows_resource(*asked):
            assert have.allows_resource(*asked)
    for verb, path in product("abc", ("/", "/a", "/a/b", "/abc")):
        if CompiledRules(wanted).allows_path(path, verb) and not missing.allows_path(path, verb):
            assert have.allows_path(path, verb)


@pytest.mark.parametrize(
    ("held", "wanted", "covered"),
    [
        (rule("*", "*", groups="*"), rule("get", "pods"), True),
        (rule("*", "*", groups="*"), rule("*", "*", groups="*"), True),
        (rule("get", "pods"), rule("*", "pods"), False),
        (rule("get", "pods"), rule("get", "pods", groups="apps"), False),
        (rule("get", "pods"), rule("get", "pods", names="a"), True),
        (rule("get", "pods", names="a"), rule("get", "pods"), False),
        (rule("get", "pods", names="a"), rule("get", "pods", names="a b"), False),
        (rule("get", "*/scale"), rule("get", "pods/scale"), True),
        (rule("get", "pods"), rule("get", "pods/scale"), False),
        (rule("get", "pods/*"), rule("get", "pods/scale"), False),
        (paths("get", "/a/*"), paths("get", "/a/b"), True),
        (paths("get", "/a/b"), paths("get", "/a/*"), False),
        (rule("*", "*", groups="*"), paths("get", "/a"), False),
    ],
)
def test_covering(held: PolicyRule, wanted: PolicyRule, covered: bool) -> None:
    assert (CompiledRules([held]).missing([wanted]) == []) is covered


def test_what_is_missing_is_told_by_resource_as_kubernetes_does() -> None:
    wanted = [
        rule("get list", "pods secrets"),
        rule("get", "pods", groups="apps", names="a"),
        paths("get", "/x"),
    ]

    missing = CompiledRules([rule("get", "pods")]).missing(wanted)

    assert describe(missing) == [
        '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
        '{APIGroups:["apps"], Resources:["pods"], ResourceNames:["a"], Verbs:["get"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
    ]


def test_a_huge_rule_is_compiled_and_compared_without_being_multiplied_out() -> None:
    many = [f"w{number}" for number in range(3000)]
    huge = PolicyRule(verbs=many, api_groups=many, resources=many)

    assert CompiledRules([huge]).allows_resource(resource_keys("w7", ""), "w8", "w9", "")
    assert CompiledRules([rule("*", "*", groups="*")]).missing([huge]) == []
    with pytest.raises(TooManyRules):
        CompiledRules([rule("get", "pods")]).missing([huge])
    assert len(many) ** 3 > ATOMS_MAX
