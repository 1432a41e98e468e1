"""Versions are ordered by stability and number, not by alphabet."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.version import compare, is_kube_version, sort_versions

VERSIONS = st.from_regex(r"v[0-9]{1,3}((alpha|beta)[0-9]{1,2})?", fullmatch=True) | st.text(
    max_size=8
)


def test_stable_comes_before_beta_before_alpha_before_odd_names() -> None:
    versions = ["foo1", "v1alpha1", "v2", "v1beta2", "v10", "v11alpha2", "v3beta1", "foo10", "v1"]

    assert sort_versions(versions) == [
        "v10",
        "v2",
        "v1",
        "v3beta1",
        "v1beta2",
        "v11alpha2",
        "v1alpha1",
        "foo1",
        "foo10",
    ]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("v2", "v1", 1),
        ("v10", "v2", 1),
        ("v1", "v1beta1", 1),
        ("v1beta10", "v1beta2", 1),
        ("v2alpha1", "v1beta1", -1),
        ("v1", "v1", 0),
        ("v1", "banana", 1),
        ("apple", "banana", 1),
        ("v1", "V1", 1),
    ],
)
def test_versions_compare(left: str, right: str, expected: int) -> None:
    assert compare(left, right) == expected
    assert compare(right, left) == -expected


@pytest.mark.parametrize("version", ["v1", "v12beta3", "v1alpha1"])
def test_conventional_names_are_recognised(version: str) -> None:
    assert is_kube_version(version)


@pytest.mark.parametrize(
    "version", ["", "v", "1", "v1gamma1", "v1beta", "v1\n", "v-1", "v1.2", "v٣", "v" + "9" * 20]
)
def test_other_names_are_not(version: str) -> None:
    assert not is_kube_version(version)


def test_a_number_too_long_for_any_integer_is_an_odd_name() -> None:
    assert sort_versions(["v" + "9" * 10_000, "v1"])[0] == "v1"


@given(st.lists(VERSIONS, max_size=6))
def test_the_order_does_not_depend_on_where_one_starts(versions: list[str]) -> None:
    expected = sort_versions(versions)

    shuffled = sort_versions(reversed(versions))

    assert [compare(a, b) for a, b in zip(expected, shuffled, strict=True)] == [0] * len(versions)
    assert all(compare(a, b) >= 0 for a, b in pairwise(expected))
