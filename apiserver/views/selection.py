"""Selection: translate the selectors of a request for the watch cache."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from apimachinery.errors import BadRequest
from apimachinery.meta import options
from apimachinery.schema import GroupVersionKind
from apimachinery.scheme import Scheme
from apimachinery.selectors import field_selector as fields
from apimachinery.selectors import label_selector as labels
from apimachinery.selectors.parser import Operator
from apiserver.storage.cache.entry import EntrySelection, EqualityTerm

_NAME, _NAMESPACE = "metadata.name", "metadata.namespace"
_EQUALITIES: Final = (Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.IN)
MOST_VALUES: Final = 16
"""The number of values of a set up to which a selection is indexed by each of them."""


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
        terms=_label_terms(selectors.labels),
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
    if selector.empty:
        return selection
    terms = (*selection.terms, *_field_terms(selector))
    return replace(selection, fields=selector.matches, terms=terms)


def _label_terms(selector: labels.Selector) -> tuple[EqualityTerm, ...]:
    return tuple(
        EqualityTerm(requirement.key, requirement.values)
        for requirement in selector.requirements
        if requirement.operator in _EQUALITIES and len(requirement.values) <= MOST_VALUES
    )


def _field_terms(selector: fields.FieldSelector) -> tuple[EqualityTerm, ...]:
    return tuple(
        EqualityTerm(requirement.field, (requirement.value,), is_field=True)
        for requirement in selector.requirements
        if requirement.operator is Operator.EQUALS
    )


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
