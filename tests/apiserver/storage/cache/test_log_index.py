"""Watches with selectors are indexed: an event costs nothing to those that it does not concern."""

from collections.abc import Iterable, Mapping
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apimachinery.meta.options import ObjectSelector
from apimachinery.scheme import Scheme
from apimachinery.selectors import field_selector, label_selector
from apimachinery.selectors.label_matchers import LabelMatcher
from apimachinery.watch import EventType
from apiserver.storage.cache.cache_limits import WatchLimits, WindowSize
from apiserver.storage.cache.entry import Entry, EntrySelection, EqualityTerm, make_entry
from apiserver.storage.cache.event_log import Watcher
from apiserver.storage.cache.fanout import Fanout
from apiserver.storage.cache.window import Transition, Window
from apiserver.storage.interface import Record
from apiserver.views.selection import select
from tests.apiserver.registry.world import NOTES_V1, add_notes
from tests.apiserver.storage.cache.cached import PODS, JsonView, value

FIELDS = ("spec.nodeName", "status.phase")
VIEW = JsonView()


@cache
def scheme_of_notes() -> Scheme:
    scheme = Scheme()
    add_notes(scheme)
    return scheme


def selection(
    labels: str = "", fields: str = "", namespace: str | None = None, name: str | None = None
) -> EntrySelection:
    selectors = ObjectSelector(label_selector.parse(labels), field_selector.parse(fields))
    return select(
        scheme_of_notes(),
        NOTES_V1.with_kind("Other"),
        selectors,
        namespace=namespace,
        name=name,
        field_labels=FIELDS,
    )


def entry(
    name: str,
    revision: int,
    *,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    fields: Mapping[str, str] | None = None,
    previous: Entry | None = None,
) -> Entry:
    content = value(labels=dict(labels or {}), **dict(fields or {}))
    key = PODS.object_key(name, namespace=namespace)
    return make_entry(Record(key, content, revision, 1), VIEW, previous=previous)


def transition(old: Entry | None, new: Entry | None, revision: int) -> Transition:
    last = new or old
    assert last is not None
    key = last.record.key
    return Transition(
        key, namespace=PODS.split(key)[0], old=old, new=new, revision=revision, observed=0.0
    )


class Watching:
    """The watchers of one resource, one for each selection."""

    def __init__(self, selections: Iterable[EntrySelection]) -> None:
        self.fanout = Fanout(VIEW, WatchLimits())
        self.window = Window(WindowSize())
        self.watchers = [
            self.fanout.attach(each, "v1", window=self.window, after=0, bookmarks=False)
            for each in selections
        ]

    def events(self, watcher: Watcher) -> list[tuple[EventType, str, int]]:
        """What waits for *watcher*."""
        return [
            (event.type, event.entry.record.key, event.revision)
            for run in watcher._take()
            for event in run.events
            if event.entry is not None
        ]


def expected(each: EntrySelection, changes: Iterable[Transition]) -> list[object]:
    """What a watcher is sent if its selection is matched with every change."""
    events: list[object] = []
    for change in changes:
        if each.namespace not in (None, change.namespace) or each.name not in (None, change.name):
            continue
        before = change.old is not None and each.matches(change.old)
        after = change.new is not None and each.matches(change.new)
        if after:
            kind = EventType.MODIFIED if before else EventType.ADDED
            events.append((kind, change.key, change.revision))
        elif before:
            events.append((EventType.DELETED, change.key, change.revision))
    return events


VALUES = st.sampled_from(["a", "b", "c"])
LABELS = st.dictionaries(st.sampled_from(["app", "tier", "zone"]), VALUES | st.just(""))
OBJECT_FIELDS = st.dictionaries(st.sampled_from(FIELDS), VALUES | st.just(""))
LABEL_REQUIREMENTS = st.builds(
    "{}{}".format,
    st.sampled_from(["app", "tier", "zone"]),
    st.sampled_from(["=a", "==b", "=", "!=a", " in (a,b)", " in (c)", " notin (a,b)", ""]),
) | st.just("!app")
FIELD_REQUIREMENTS = st.builds(
    "{}{}".format,
    st.sampled_from([*FIELDS, "metadata.name", "metadata.namespace"]),
    st.sampled_from(["=a", "=b", "=", "!=a"]),
)
SELECTIONS = st.builds(
    selection,
    labels=st.lists(LABEL_REQUIREMENTS, max_size=3).map(",".join),
    fields=st.lists(FIELD_REQUIREMENTS, max_size=2).map(",".join),
    namespace=st.none() | VALUES,
    name=st.none() | VALUES,
)
WRITES = st.tuples(VALUES, VALUES, st.none() | st.tuples(LABELS, OBJECT_FIELDS))
"""Namespace and name, and the labels and fields of an object; None deletes it."""


def history(writes: Iterable[tuple[str, str, object]]) -> list[Transition]:
    """The changes that *writes* make."""
    entries: dict[tuple[str, str], Entry] = {}
    changes = []
    for revision, (namespace, name, content) in enumerate(writes, 1):
        old = entries.pop((namespace, name), None)
        new = None
        if isinstance(content, tuple):
            labels, fields = content
            # Every object has its name and namespace among its fields.
            fields = {**fields, "metadata.name": name, "metadata.namespace": namespace}
            new = entry(
                name, revision, namespace=namespace, labels=labels, fields=fields, previous=old
            )
            entries[namespace, name] = new
        if old is not None or new is not None:
            changes.append(transition(old, new, revision))
    return changes


@given(st.lists(SELECTIONS, max_size=12), st.lists(WRITES, max_size=30))
def test_each_watcher_is_sent_what_its_selection_matches(
    selections: list[EntrySelection], writes: list[tuple[str, str, object]]
) -> None:
    watching, changes = Watching(selections), history(writes)

    for change in changes:
        watching.fanout.publish(change)

    for each, watcher in zip(selections, watching.watchers, strict=True):
        assert watching.events(watcher) == expected(each, changes)


@given(st.lists(SELECTIONS, min_size=1, max_size=12), st.lists(WRITES, max_size=20), st.data())
def test_those_who_stay_are_sent_the_same_when_others_leave(
    selections: list[EntrySelection], writes: list[tuple[str, str, object]], data: st.DataObject
) -> None:
    watching, changes = Watching(selections), history(writes)
    leaving = data.draw(st.sets(st.sampled_from(range(len(selections)))))

    for number in leaving:
        watching.fanout.detach(watching.watchers[number])
    for change in changes:
        watching.fanout.publish(change)

    for number, each in enumerate(selections):
        sent = [] if number in leaving else expected(each, changes)
        assert watching.events(watching.watchers[number]) == sent


def test_nothing_of_a_watcher_that_has_left_is_kept() -> None:
    watching = Watching([selection("app=a"), selection("app in (a,b)"), selection("app!=a")])

    for watcher in watching.watchers:
        watching.fanout.detach(watcher)

    assert not watching.fanout._index._places
    assert not watching.fanout._logs


class Counted:
    """A selector that counts how often it is matched."""

    def __init__(self) -> None:
        self.calls = 0

    def counting(self, each: EntrySelection) -> EntrySelection:
        return EntrySelection(
            each.namespace,
            each.name,
            labels=None if each.labels is None else self._counted(each.labels),
            fields=None if each.fields is None else self._counted(each.fields),
            terms=each.terms,
        )

    def _counted(self, matches: LabelMatcher) -> LabelMatcher:
        def matching(pairs: Mapping[str, str]) -> bool:
            self.calls += 1
            return matches(pairs)

        return matching


@pytest.mark.parametrize(
    "template",
    [
        {"fields": "spec.nodeName=node-{}"},
        {"fields": "metadata.name=pod-{}"},
        {"fields": "metadata.name=pod-{},status.phase!=Failed"},
        {"labels": "app=web-{}"},
        {"labels": "app=web-{},tier!=db"},
        {"labels": "tier=front,app=web-{}"},
        {"labels": "app in (web-{})"},
        {"labels": "key-{}=yes"},
    ],
    ids=lambda template: ",".join(template.values()),
)
def test_an_event_is_matched_with_ten_thousand_selectors_no_more_often_than_with_ten(
    template: dict[str, str],
) -> None:
    calls = {}
    labels = {"app": "web-7", "tier": "front", "key-7": "yes"}
    moved = {**labels, "app": "web-8", "key-8": "yes"}
    fields = {"spec.nodeName": "node-7", "status.phase": "Running"}
    for count in (10, 10_000):
        counted = Counted()
        selections = [
            counted.counting(
                selection(**{kind: text.format(number) for kind, text in template.items()})
            )
            for number in range(count)
        ]
        watching = Watching(selections)
        created = entry("pod-7", 1, labels=labels, fields=fields)
        changed = entry(
            "pod-7", 2, labels=moved, fields={**fields, "spec.nodeName": "node-8"}, previous=created
        )
        for change in (
            transition(None, created, 1),
            transition(created, changed, 2),
            transition(changed, None, 3),
        ):
            watching.fanout.publish(change)
        calls[count] = counted.calls
        assert watching.events(watching.watchers[7])

    assert calls[10] == calls[10_000] <= 12


def test_a_selection_is_indexed_by_the_term_that_it_shares_with_the_fewest() -> None:
    counted = Counted()
    common = [counted.counting(selection(f"app=web,instance=i{n}")) for n in range(100)]
    watching = Watching(common)

    watching.fanout.publish(
        transition(None, entry("x", 1, labels={"app": "web", "instance": "i50"}), 1)
    )

    assert len(watching.events(watching.watchers[50])) == 1
    assert counted.calls <= 2


def test_what_a_selector_requires_is_known() -> None:
    chosen = selection("app=web,tier in (a,b),zone!=x,!old", "spec.nodeName=n,status.phase!=Failed")

    assert set(chosen.terms) == {
        EqualityTerm("app", ("web",)),
        EqualityTerm("tier", ("a", "b")),
        EqualityTerm("spec.nodeName", ("n",), is_field=True),
    }
