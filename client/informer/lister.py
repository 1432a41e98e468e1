"""Lister: get and list objects from an informer's cache, without requests."""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from apimachinery.errors import NotFound
from apimachinery.meta.types import LabelSelector, Object
from apimachinery.schema import GroupResource
from apimachinery.selectors import label_selector as label_selectors
from client.cache.keys import join_key
from client.cache.store import NAMESPACE, Store
from client.interface import Labels

T = TypeVar("T", bound=Object)


class Lister(Generic[T]):
    """Reads the cached objects of all namespaces; they are shared and must not be modified."""

    def __init__(self, store: Store[T], resource: GroupResource) -> None:
        self._store = store
        self._resource = resource

    def get(self, name: str) -> T:
        """Return a cluster-scoped object. Raises NotFound if it does not exist."""
        return _require(self._store.get(name), self._resource, name)

    def list(self, labels: Labels = "") -> Sequence[T]:
        """Return the objects of all namespaces that match *labels*."""
        selector = selector_of(labels)
        return selected(self._store.objects(), selector) if selector.selectable else []

    def by_index(self, name: str, value: str) -> Sequence[T]:
        """Return the objects that an index of the informer has under *value*."""
        return self._store.by_index(name, value)

    def namespace(self, namespace: str) -> "NamespaceLister[T]":
        return NamespaceLister(self._store, self._resource, namespace)


class NamespaceLister(Generic[T]):
    """Reads the cached objects of one namespace."""

    def __init__(self, store: Store[T], resource: GroupResource, namespace: str) -> None:
        self._store = store
        self._resource = resource
        self._namespace = namespace

    def get(self, name: str) -> T:
        """Return an object. Raises NotFound if it does not exist."""
        obj = self._store.get(join_key(self._namespace, name))
        return _require(obj, self._resource, name)

    def list(self, labels: Labels = "") -> Sequence[T]:
        """Return the objects that match *labels*."""
        selector = selector_of(labels)
        if not selector.selectable:
            return []
        if self._store.has_index(NAMESPACE):
            return selected(self._store.by_index(NAMESPACE, self._namespace), selector)
        objects = self._store.objects()
        in_namespace = (obj for obj in objects if obj.metadata.namespace == self._namespace)
        return selected(in_namespace, selector)


def selector_of(labels: Labels) -> label_selectors.Selector:
    """Return the label selector in any of its forms. Raises InvalidSelector if it is malformed."""
    if isinstance(labels, label_selectors.Selector):
        return labels
    if isinstance(labels, str):
        return label_selectors.parse(labels)
    if isinstance(labels, LabelSelector):
        return label_selectors.from_label_selector(labels)
    return label_selectors.from_set(labels)


def selected(objects: Iterable[T], selector: label_selectors.Selector) -> Sequence[T]:
    if selector.empty:
        return [*objects]
    matches = selector.matches
    return [obj for obj in objects if matches(obj.metadata.labels)]


def _require(obj: T | None, resource: GroupResource, name: str) -> T:
    if obj is None:
        raise NotFound.of(resource, name)
    return obj
