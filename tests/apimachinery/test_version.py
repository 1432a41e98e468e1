"""Versions are ordered by stability and number, not by alphabet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.version import preference_key, sort_versions

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
    ("preferred", "other"),
    [
        ("v2", "v1"),
        ("v10", "v2"),
        ("v1", "v1beta1"),
        ("v1beta10", "v1beta2"),
        ("v1beta1", "v2alpha1"),
        ("v1", "banana"),
        ("apple", "banana"),
        ("v1", "V1"),
    ],
)
def test_one_version_is_preferred_to_another(preferred: str, other: str) -> None:
    assert sort_versions([other, preferred]) == [preferred, other]


@pytest.mark.parametrize(
    "version", ["", "v", "1", "v1gamma1", "v1beta", "v1\n", "v-1", "v1.2", "v٣", "v" + "9" * 20]
)
def test_names_outside_the_convention_come_last(version: str) -> None:
    assert sort_versions([version, "v1alpha1"]) == ["v1alpha1", version]


def test_a_number_too_long_for_any_integer_is_an_odd_name() -> None:
    assert sort_versions(["v" + "9" * 10_000, "v1"])[0] == "v1"


@given(st.lists(VERSIONS, max_size=6))
def test_the_order_does_not_depend_on_where_one_starts(versions: list[str]) -> None:
    backwards = sort_versions(reversed(versions))

    keys = [preference_key(version) for version in sort_versions(versions)]
    assert keys == [preference_key(version) for version in backwards] == sorted(keys)
