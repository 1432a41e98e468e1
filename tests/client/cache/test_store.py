"""Store: objects and indices under one consistent view."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.informer import IndexExists, IndexFailed, Store, UnknownIndex, object_key
from tests.client.informer.server import Gadget, gadget


def by_node(obj: Gadget) -> list[str]:
    return [obj.spec.node] if obj.spec.node else []


def test_indices_follow_every_write() -> None:
    """Objects and indices change together."""
    store = Store({"node": by_node})

    store.add(gadget("a", node="n1", version=1))
    store.add(gadget("b", node="n1", version=2))
    store.update(gadget("a", node="n2", version=3))

    assert store.index_keys("node", "n1") == ["default/b"]
    assert [obj.metadata.name for obj in store.by_index("node", "n2")] == ["a"]


def test_a_value_without_objects_is_forgotten() -> None:
    """Index values come and go; an empty set of one must not stay in memory."""
    store = Store({"node": by_node})
    store.add(gadget("a", node="n1"))

    store.update(gadget("a", node="n2"))
    assert store.index_values("node") == ["n2"]
    store.delete(gadget("a", node="n2"))

    assert store.index_values("node") == []


def test_an_index_function_may_return_many_values_or_none() -> None:
    store: Store[Gadget] = Store({"labels": lambda obj: obj.metadata.labels})
    store.add(gadget("a", labels={"x": "1", "y": "2"}))
    store.add(gadget("b", labels={"y": "2"}))
    store.add(gadget("c"))

    assert store.index_keys("labels", "y") == ["default/a", "default/b"]


def test_a_failing_index_function_is_an_error_and_changes_nothing() -> None:
    """An error of an index function is fatal: the cache would lie."""
    store: Store[Gadget] = Store({"even": lambda obj: [str(100 // obj.spec.size)]})
    store.add(gadget("a", size=10, version=1))

    with pytest.raises(IndexFailed, match=r"for key 'default/a' on index 'even': .*by zero"):
        store.update(gadget("a", size=0, version=2))

    assert store.index_keys("even", "10") == ["default/a"]
    kept = store.get("default/a")
    assert kept is not None
    assert kept.spec.size == 10
    assert store.resource_version == "1"


def test_a_list_that_cannot_be_indexed_changes_nothing() -> None:
    store: Store[Gadget] = Store({"even": lambda obj: [str(100 // obj.spec.size)]})
    store.replace([gadget("a", size=10)], "1")

    with pytest.raises(IndexFailed, match="default/c"):
        store.replace([gadget("b", size=5), gadget("c", size=0)], "2")

    assert (store.keys(), store.index_values("even")) == (["default/a"], ["10"])
    assert store.resource_version == "1"


def test_an_index_that_cannot_be_made_is_not_there() -> None:
    store: Store[Gadget] = Store()
    store.add(gadget("a", size=0))

    with pytest.raises(IndexFailed, match="default/a"):
        store.add_index("even", lambda obj: [str(100 // obj.spec.size)])

    assert not store.has_index("even")
    store.update(gadget("a", size=0))


def test_index_names_are_unique() -> None:
    store = Store({"node": by_node})

    with pytest.raises(IndexExists, match="'node'"):
        store.add_index("node", by_node)


def test_an_index_can_be_added_to_a_full_store() -> None:
    """Indexers may be added after the start."""
    store: Store[Gadget] = Store()
    store.add(gadget("a", node="n1"))

    store.add_index("node", by_node)

    assert store.index_keys("node", "n1") == ["default/a"]


def test_an_unknown_index_is_an_error() -> None:
    with pytest.raises(UnknownIndex, match="'node' does not exist"):
        Store[Gadget]().by_index("node", "n1")


def test_what_was_read_does_not_change_afterwards() -> None:
    """Every read is from one snapshot."""
    store: Store[Gadget] = Store()
    store.add(gadget("a"))
    before = store.objects()

    store.replace([gadget("b")], "9")

    assert [obj.metadata.name for obj in before] == ["a"]


def test_the_version_is_set_by_lists_writes_and_bookmarks() -> None:
    store: Store[Gadget] = Store()
    assert store.resource_version == ""

    store.replace([gadget("a", version=3)], "5")
    assert store.resource_version == "5"
    store.add(gadget("b", version=6))
    assert store.resource_version == "6"
    store.delete(gadget("b", version=7))
    assert store.resource_version == "7"
    store.bookmark("9")
    assert store.resource_version == "9"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "n1", "n2", None, "list"]))))
def test_indices_are_always_what_the_objects_say(writes: list[tuple[str, str | None]]) -> None:
    store = Store({"node": by_node})
    for name, node in writes:
        if node == "list":
            store.replace([gadget(name, node="n1"), gadget("c", node=name)], "9")
        elif node is None:
            store.remove(f"default/{name}")
        else:
            store.add(gadget(name, node=node))

    expected: dict[str, set[str]] = {}
    for obj in store.objects():
        for value in by_node(obj):
            expected.setdefault(value, set()).add(object_key(obj))
    found = {value: set(store.index_keys("node", value)) for value in store.index_values("node")}
    assert found == expected
