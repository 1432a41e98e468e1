"""From the selectors of a request, in the words of its version, to what the cache selects by."""

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
) -> EntrySelection:
    """Which objects are meant by the selectors and the path of a request, or BadRequest.

    *namespace* None is all of them. A name and a namespace that a field selector fixes are taken
    out of it: the cache finds those by key. What is not *namespaced* has no namespace in its key.
    """
    found = EntrySelection(
        namespace=namespace or None,
        name=name or None,
        labels=None if selectors.labels.empty else selectors.labels.matches,
    )
    if selectors.fields.empty:
        return found
    try:
        wanted = selectors.fields.transform(
            lambda label, value: scheme.convert_field_label(kind, label, value)
        )
    except ValueError as error:
        raise BadRequest(str(error)) from None
    return _by_key(found, wanted, namespaced=namespaced)


def _by_key(
    selection: EntrySelection, wanted: fields.FieldSelector, *, namespaced: bool
) -> EntrySelection:
    name = _in_key(wanted.requires_exact_match(_NAME), selection.name)
    namespace = _in_key(wanted.requires_exact_match(_NAMESPACE), selection.namespace)
    if name is not None:
        selection = replace(selection, name=name)
        wanted = _without(wanted, fields.from_set({_NAME: name}))
    if namespace is not None and namespaced:
        selection = replace(selection, namespace=namespace)
        wanted = _without(wanted, fields.from_set({_NAMESPACE: namespace}))
    return selection if wanted.empty else replace(selection, fields=wanted.matches)


def _in_key(wanted: str | None, given: str | None) -> str | None:
    """The value to look for by key, if there can be such a key and nothing speaks against it."""
    if not wanted or "/" in wanted or given not in (None, wanted):
        return None
    return wanted


def _without(wanted: fields.FieldSelector, known: fields.FieldSelector) -> fields.FieldSelector:
    return fields.FieldSelector(
        each for each in wanted.requirements if each not in known.requirements
    )
