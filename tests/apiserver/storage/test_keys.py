"""The layout of keys in the store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apiserver.storage.keys import (
    InvalidStorageKey,
    ObjectKey,
    ResourceKeys,
    after_prefix,
    object_name,
    parse,
    resource_prefix,
)

SEGMENT = st.text(min_size=1, max_size=12).filter(lambda text: "/" not in text)
GROUP = st.just("") | SEGMENT.filter(lambda group: group != "core")

PODS = ResourceKeys("", "pods")
NODES = ResourceKeys("", "nodes", namespaced=False)


def test_keys_look_as_documented() -> None:
    gadgets = ResourceKeys("gadgets.example.io", "gadgets")

    assert PODS.prefix == "/registry/core/pods/"
    assert PODS.namespace_prefix("default") == "/registry/core/pods/default/"
    assert PODS.object_key("a", namespace="default") == "/registry/core/pods/default/a"
    assert NODES.object_key("a") == "/registry/core/nodes/a"
    assert (
        gadgets.object_key("lamp", namespace="x") == "/registry/gadgets.example.io/gadgets/x/lamp"
    )


@given(GROUP, SEGMENT, SEGMENT, SEGMENT)
def test_what_is_put_together_can_be_taken_apart(
    group: str, resource: str, namespace: str, name: str
) -> None:
    keys = ResourceKeys(group, resource)
    key = keys.object_key(name, namespace=namespace)

    assert parse(key) == ObjectKey(group, resource, namespace, name)
    assert keys.split(key) == (namespace, name)
    assert resource_prefix(key) == keys.prefix


@given(GROUP, SEGMENT, SEGMENT)
def test_cluster_scoped_keys_can_be_taken_apart(group: str, resource: str, name: str) -> None:
    keys = ResourceKeys(group, resource, namespaced=False)
    key = keys.object_key(name)

    assert parse(key) == ObjectKey(group, resource, "", name)
    assert keys.split(key) == ("", name)
    assert resource_prefix(key) == keys.prefix


@given(st.text(max_size=30) | st.text(max_size=30).map("/registry/".__add__))
def test_any_text_is_a_key_or_refused(text: str) -> None:
    try:
        key = parse(text)
    except InvalidStorageKey as error:
        assert repr(text) in str(error)
    else:
        keys = ResourceKeys(key.group, key.resource, namespaced=bool(key.namespace))
        assert keys.object_key(key.name, namespace=key.namespace) == text
    assert text.startswith(resource_prefix(text))


@given(SEGMENT, SEGMENT, SEGMENT)
def test_a_prefix_ends_before_its_neighbours(one: str, other: str, name: str) -> None:
    prefix = PODS.namespace_prefix(one)
    key = PODS.object_key(name, namespace=other)

    assert (prefix <= key < after_prefix(prefix)) == key.startswith(prefix) == (one == other)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/registry/",
        "/registry/core/pods/",
        "/registry/core/pods/a",
        "/registry/core/pods//a",
        "/registry/core/pods/default/",
        "/registry/core/pods/default/a/b",
        "/registry/core/podtemplates/default/a",
        "/elsewhere/core/pods/default/a",
    ],
)
def test_a_key_of_something_else_is_not_split(key: str) -> None:
    with pytest.raises(InvalidStorageKey, match="is not an object of '/registry/core/pods/'"):
        PODS.split(key)


@pytest.mark.parametrize("part", ["", "a/b", "/"])
def test_parts_that_would_make_another_key_are_refused(part: str) -> None:
    with pytest.raises(InvalidStorageKey, match="namespace"):
        PODS.namespace_prefix(part)
    with pytest.raises(InvalidStorageKey, match="name"):
        PODS.object_key(part, namespace="default")
    with pytest.raises(InvalidStorageKey, match="name"):
        NODES.object_key(part)
    with pytest.raises(InvalidStorageKey, match="resource"):
        ResourceKeys("apps", part)


def test_a_group_named_like_the_core_group_is_refused() -> None:
    with pytest.raises(InvalidStorageKey, match="'core'"):
        ResourceKeys("core", "pods")


def test_scope_and_namespace_must_agree() -> None:
    with pytest.raises(InvalidStorageKey, match="namespace ''"):
        PODS.object_key("a")
    with pytest.raises(InvalidStorageKey, match="is cluster-scoped, got namespace 'default'"):
        NODES.object_key("a", namespace="default")
    with pytest.raises(InvalidStorageKey, match="'nodes' is cluster-scoped"):
        NODES.namespace_prefix("default")


def test_an_object_is_named_without_its_resource() -> None:
    assert object_name("/registry/core/pods/default/a") == "default/a"
    assert object_name("/registry/core/nodes/a") == "a"
