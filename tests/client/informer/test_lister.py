"""Lister: reading the cache."""

import pytest

from apimachinery.errors import NotFound
from apimachinery.meta.types import LabelSelector
from apimachinery.schema import GroupResource
from apimachinery.selectors import InvalidSelector
from apimachinery.selectors import label_selector as labels
from client.cache.store import namespace_of
from client.informer import Lister, Store
from tests.client.informer.server import Gadget, gadget

GADGETS = GroupResource("example.io", "gadgets")


def lister(*objects: Gadget, indexed: bool = True) -> Lister[Gadget]:
    store: Store[Gadget] = Store({"namespace": namespace_of} if indexed else {})
    for obj in objects:
        store.add(obj)
    return Lister(store, GADGETS)


def names(found: object) -> list[str]:
    return [obj.metadata.name for obj in found]  # type: ignore[attr-defined]


def test_get_finds_an_object_of_a_namespace_or_of_none() -> None:
    found = lister(gadget("a", namespace="x"), gadget("b", namespace=""))

    assert found.namespace("x").get("a").metadata.namespace == "x"
    assert found.get("b").metadata.name == "b"


def test_what_is_not_there_is_not_found_by_the_name_of_the_resource() -> None:
    with pytest.raises(NotFound, match=r'gadgets\.example\.io "a" not found'):
        lister(gadget("a", namespace="x")).namespace("y").get("a")
    with pytest.raises(NotFound, match=r'gadgets\.example\.io "a" not found'):
        lister().get("a")


@pytest.mark.parametrize(
    "selector",
    [
        "app=web",
        {"app": "web"},
        labels.parse("app in (web)"),
        LabelSelector(match_labels={"app": "web"}),
    ],
)
def test_list_selects_by_labels_in_any_form(selector: labels.Selector) -> None:
    found = lister(gadget("a", labels={"app": "web"}), gadget("b", labels={"app": "db"}))

    assert names(found.list(selector)) == ["a"]
    assert names(found.namespace("default").list(selector)) == ["a"]
    assert names(found.list()) == ["a", "b"]


def test_a_selector_of_nothing_scans_nothing() -> None:
    class Untouchable(Store[Gadget]):
        def objects(self) -> list[Gadget]:
            raise AssertionError("scanned")

        def by_index(self, name: str, value: str) -> list[Gadget]:
            raise AssertionError("scanned")

    found = Lister(Untouchable(), GADGETS)

    assert list(found.list(labels.nothing())) == []
    assert list(found.namespace("x").list(labels.nothing())) == []


@pytest.mark.parametrize("indexed", [True, False])
def test_a_namespace_is_found_by_its_index_or_by_a_scan(indexed: bool) -> None:
    found = lister(gadget("a", namespace="x"), gadget("b", namespace="y"), indexed=indexed)

    assert names(found.namespace("x").list()) == ["a"]
    assert names(found.namespace("z").list()) == []


def test_other_indices_can_be_read_too() -> None:
    assert names(lister(gadget("a")).by_index("namespace", "default")) == ["a"]


def test_a_bad_selector_is_refused() -> None:
    with pytest.raises(InvalidSelector):
        lister().list("a in b")
