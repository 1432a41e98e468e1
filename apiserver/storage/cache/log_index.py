"""Log index: finds the event logs that a change may concern, without a look at the others.

Logs are indexed by namespace and name, and those with a selector also by one of its equality terms,
such as `spec.nodeName=node-7` or `app=web`. A change concerns a log if the object had the value
before the change or has it after. Only selectors without such a term are matched on every change.
"""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from apiserver.storage.cache.entry import Entry, EntrySelection, EqualityTerm, Selectable
from apiserver.storage.cache.event_log import EventLog
from apiserver.storage.cache.window import Transition

Logs: TypeAlias = dict[EventLog, None]


class LogIndex:
    """The logs of one resource by their selections."""

    def __init__(self) -> None:
        self._places: dict[tuple[str | None, str | None], _Place] = {}

    def add(self, log: EventLog) -> None:
        selection = log.selection
        self._places.setdefault((selection.namespace, selection.name), _Place()).add(log)

    def remove(self, log: EventLog) -> None:
        selection = log.selection
        place = self._places[selection.namespace, selection.name]
        place.remove(log)
        if not place:
            del self._places[selection.namespace, selection.name]

    def candidates(self, transition: Transition) -> Iterator[EventLog]:
        """Yield each log once whose watchers may have to be notified of a change."""
        places = self._places
        namespace, name = transition.namespace, transition.name
        for key in ((None, None), (namespace, None), (namespace, name), (None, name)):
            if key in places:
                yield from places[key].candidates(transition.old, transition.new)


class _Place:
    """The logs of one namespace and name."""

    def __init__(self) -> None:
        self._scanned: Logs = {}
        """Logs without an equality term."""
        self._labels = _ValueIndex()
        self._fields = _ValueIndex()
        self._terms: dict[EventLog, EqualityTerm] = {}
        """The term by which each other log is indexed."""

    def __bool__(self) -> bool:
        return bool(self._scanned or self._terms)

    def add(self, log: EventLog) -> None:
        term = self._best_term(log.selection)
        if term is None:
            self._scanned[log] = None
        else:
            self._terms[log] = term
            self._index_of(term).add(term, log)

    def remove(self, log: EventLog) -> None:
        term = self._terms.pop(log, None)
        if term is None:
            del self._scanned[log]
        else:
            self._index_of(term).remove(term, log)

    def candidates(self, old: Entry | None, new: Entry | None) -> Iterator[EventLog]:
        yield from self._scanned
        if not self._terms:
            return
        found: Logs = {}
        if new is not None:
            self._labels.collect(new.labels, found)
            self._fields.collect_fields(new.fields, found)
        if old is not None and (new is None or old.labels is not new.labels):
            self._labels.collect(old.labels, found)
        if old is not None and (new is None or old.fields is not new.fields):
            self._fields.collect_fields(old.fields, found)
        yield from found

    def _best_term(self, selection: EntrySelection) -> EqualityTerm | None:
        """Return the term that the fewest logs share: one that is common finds too many."""
        return min(
            selection.terms,
            key=lambda term: (len(term.values), self._index_of(term).count(term)),
            default=None,
        )

    def _index_of(self, term: EqualityTerm) -> "_ValueIndex":
        return self._fields if term.is_field else self._labels


class _ValueIndex:
    """Logs by a label or field and its value."""

    def __init__(self) -> None:
        self._keys: dict[str, dict[str, Logs]] = {}

    def add(self, term: EqualityTerm, log: EventLog) -> None:
        values = self._keys.setdefault(term.key, {})
        for value in term.values:
            values.setdefault(value, {})[log] = None

    def remove(self, term: EqualityTerm, log: EventLog) -> None:
        values = self._keys[term.key]
        for value in term.values:
            del values[value][log]
            if not values[value]:
                del values[value]
        if not values:
            del self._keys[term.key]

    def count(self, term: EqualityTerm) -> int:
        values: Mapping[str, Logs] = self._keys.get(term.key, {})
        return sum(len(values.get(value, ())) for value in term.values)

    def collect(self, labels: Selectable, found: Logs) -> None:
        """Add the logs that require one of *labels* to *found*."""
        # An object has few labels; the selectors of all watchers may have many keys.
        for key in labels if len(labels) < len(self._keys) else self._keys:
            if key in self._keys and key in labels:
                found.update(self._keys[key].get(labels[key], {}))

    def collect_fields(self, fields: Selectable, found: Logs) -> None:
        """Add the logs that require one of *fields*; one that is missing is empty."""
        for key, values in self._keys.items():
            found.update(values.get(fields.get(key, ""), {}))
