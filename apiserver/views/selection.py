"""Selection: translate the selectors of a request for the watch cache."""

from collections.abc import Iterable
from dataclasses import replace

from apimachinery.errors import BadRequest
from apimachinery.meta import options
from apimachinery.schema import GroupVersionKind
from apimachinery.scheme import Scheme
from apimachinery.selectors import field_selector as fields
from apiserver.storage.cache.entry import EntrySelection

_NAME, _NAMESPACE = "metadata.name", "metadata.namespace"


def select(
    scheme: Scheme,
    kind: GroupVersionKind,
    selectors: options.ObjectSelector,
    *,
    namespaced: bool = True,
    namespace: str | None = None,
    name: str | None = None,
    field_labels: Iterable[str] = (),
) -> EntrySelection:
    """Return the objects that the selectors and the path of a request select.

    *namespace* None selects all namespaces. A name or namespace that a field selector requires is
    removed from it, because the cache looks it up by key; the keys of cluster-scoped resources have
    no namespace. *field_labels* are the labels of the resource, for kinds whose labels are not in
    the scheme. Raises BadRequest for field labels that the version of *kind* does not support.
    """
    selection = EntrySelection(
        namespace=namespace or None,
        name=name or None,
        labels=None if selectors.labels.empty else selectors.labels.matches,
    )
    if selectors.fields.empty:
        return selection
    try:
        internal = selectors.fields.transform(
            lambda label, value: scheme.convert_field_label(
                kind, label, value, unregistered=field_labels
            )
        )
    except ValueError as error:
        raise BadRequest(str(error)) from None
    return _by_key(selection, internal, namespaced=namespaced)


def _by_key(
    selection: EntrySelection, selector: fields.FieldSelector, *, namespaced: bool
) -> EntrySelection:
    name = _key_part(selector.requires_exact_match(_NAME), selection.name)
    namespace = _key_part(selector.requires_exact_match(_NAMESPACE), selection.namespace)
    if name is not None:
        selection = replace(selection, name=name)
        selector = _without(selector, fields.from_set({_NAME: name}))
    if namespace is not None and namespaced:
        selection = replace(selection, namespace=namespace)
        selector = _without(selector, fields.from_set({_NAMESPACE: namespace}))
    return selection if selector.empty else replace(selection, fields=selector.matches)


def _key_part(required: str | None, in_path: str | None) -> str | None:
    """Return the required value if a key can contain it and the path does not contradict it."""
    if not required or "/" in required or in_path not in (None, required):
        return None
    return required


def _without(
    selector: fields.FieldSelector, satisfied: fields.FieldSelector
) -> fields.FieldSelector:
    return fields.FieldSelector(
        requirement
        for requirement in selector.requirements
        if requirement not in satisfied.requirements
    )
