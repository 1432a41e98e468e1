"""Keys of objects, and resourceVersions compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.cache.resource_versions import compare, has_reached
from client.informer import InvalidKey, InvalidResourceVersion, join_key, object_key, split_key
from tests.client.informer.server import gadget


def test_a_key_is_namespace_and_name_or_the_name_alone() -> None:
    assert object_key(gadget("a", namespace="x")) == "x/a"
    assert object_key(gadget("a", namespace="")) == "a"
    assert split_key("x/a") == ("x", "a")
    assert split_key("a") == ("", "a")
    assert join_key("", "a") == "a"


def test_a_key_has_at_most_one_slash() -> None:
    with pytest.raises(InvalidKey, match="unexpected key format: 'a/b/c'"):
        split_key("a/b/c")


def test_an_object_without_a_name_has_no_key() -> None:
    with pytest.raises(InvalidKey, match="has no name"):
        object_key(gadget(""))


def test_the_uid_is_no_part_of_the_identity() -> None:
    one, other = gadget("a"), gadget("a")
    one.metadata.uid, other.metadata.uid = "1", "2"

    assert object_key(one) == object_key(other)


@given(st.integers(1, 10**30), st.integers(1, 10**30))
def test_versions_compare_as_the_numbers_they_are(one: int, other: int) -> None:
    assert compare(str(one), str(other)) == (one > other) - (one < other)


@pytest.mark.parametrize("text", ["", "0", "01", "-1", "1.0", "a", "\u0661", " 1"])
def test_what_is_no_version_cannot_be_compared(text: str) -> None:
    with pytest.raises(InvalidResourceVersion, match="not well formed"):
        compare(text, "1")
    with pytest.raises(InvalidResourceVersion, match="not well formed"):
        compare("1", text)


def test_a_cache_without_a_version_has_reached_nothing() -> None:
    assert not has_reached("", "1")
    assert has_reached("10", "9")
