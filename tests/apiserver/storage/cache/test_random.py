"""Any number of writers, readers and watchers at once: nobody ever sees what never was.

Writers change a few objects at random while feeds are cut. Every list must equal the store at the
revision it names; every watcher's events must be legal one after another, and must add up, after
each batch, to what a list at that revision shows.
"""

import asyncio
import itertools
from random import Random

import pytest

from apiserver.storage.cache.cache_limits import CacheLimits, WatchLimits, WindowSize
from apiserver.storage.cache.entry import make_entry
from apiserver.storage.cache.entry_event import EntryEvent
from apiserver.storage.cache.event_log import Watcher
from apiserver.storage.cache.read_revision import At
from apiserver.storage.cache.watch_cache import (
    CachedResource,
    EntrySelection,
    Exact,
    Freshness,
    NotOlderThan,
    WatchCache,
)
from apiserver.storage.interface import Backend, KeyExists, Record, RevisionConflict, Unavailable
from tests.apiserver.storage.cache.cached import (
    PODS,
    JsonView,
    Switchboard,
    labelled,
    pod,
    replay,
    value,
)
from tests.faults.figures import record_figures

WRITERS, WRITES, WATCHERS, READERS = 4, 60, 8, 4
OBSERVED = 20
"""The lists and the batches that must be checked; writers go on until then."""

SELECTIONS = [
    EntrySelection(),
    EntrySelection(namespace="one"),
    EntrySelection(namespace="two", name="b"),
    EntrySelection(name="a"),
    labelled("app", "web"),
    EntrySelection("one", labels=lambda labels: labels.get("app") != "web"),
    EntrySelection(fields=lambda fields: fields["phase"] == "up"),
]

State = dict[str, Record]


class Story:
    """One run: the store, the cache over it, and what has been acknowledged so far."""

    def __init__(self, backend: Backend, seed: int) -> None:
        self.backend = backend
        self.board = Switchboard(backend)
        self.random = Random(seed)
        self.first = self.acknowledged = 0
        self.running = True
        self.lists = self.batches = 0

    async def truth(self, selection: EntrySelection, revision: int) -> State:
        """What *selection* matches at *revision*, as the store alone says."""
        page = await self.backend.range(PODS.prefix, revision=revision)
        view, state = JsonView(), {}
        for record in page.records:
            namespace, name = PODS.split(record.key)
            placed = selection.namespace in (None, namespace) and selection.name in (None, name)
            if placed and selection.matches(make_entry(record, view)):
                state[record.key] = record
        return state

    async def write(self) -> None:
        random = self.random
        for number in itertools.count():
            if number >= WRITES and min(self.lists, self.batches) > OBSERVED:
                break
            key = pod(random.choice("abcde"), random.choice(["one", "two"]))
            labels = {"app": random.choice(["web", "db"])}
            content = value(str(number), labels=labels, phase=random.choice(["up", "down"]))
            record = await self.backend.get(key)
            try:
                if record is None:
                    revision = await self.backend.create(key, content)
                elif random.random() < 0.3:
                    revision = await self.backend.delete(key, revision=record.revision)
                else:
                    revision = await self.backend.update(key, content, revision=record.revision)
            except (RevisionConflict, KeyExists):
                continue
            self.acknowledged = max(self.acknowledged, revision)
            if random.random() < 0.05:
                self.board.cut(random.choice([None, Unavailable("cut")]))

    async def read(self, pods: CachedResource) -> None:
        while self.running:
            selection = self.random.choice(SELECTIONS)
            acknowledged = self.acknowledged
            choices: list[tuple[At, int]] = [
                (Freshness.NEWEST, acknowledged),
                (Freshness.ANY, 0),
                (NotOlderThan(acknowledged), acknowledged),
            ]
            at, oldest = self.random.choice(choices)
            await self.check_list(pods, selection, at, oldest)
            past = self.random.randint(max(self.first, acknowledged - 30), acknowledged)
            await self.check_list(pods, selection, Exact(past), past)

    async def check_list(
        self, pods: CachedResource, selection: EntrySelection, at: At, oldest: int
    ) -> None:
        page = await pods.list(selection, at=at, limit=3)
        revision, records = page.revision, [entry.record for entry in page.entries]
        while page.more and page.entries:
            page = await pods.list(selection, at=Exact(revision), limit=3, start=page.next_start)
            records += [entry.record for entry in page.entries]
        assert revision >= oldest
        truth = await self.truth(selection, revision)
        self.lists += 1
        assert records == [truth[key] for key in sorted(truth)]

    async def watch(self, pods: CachedResource) -> None:
        while self.running:
            selection = self.random.choice(SELECTIONS)
            if self.random.random() < 0.5:
                async with pods.watch_from_state(selection, "v1", bookmarks=True) as watcher:
                    await self.follow(watcher, selection, {}, initial=True)
            else:
                at = self.random.choice([Freshness.ANY, Freshness.NEWEST])
                listing = await pods.list(selection, at=at)
                known = {entry.record.key: entry.record for entry in listing.entries}
                async with pods.watch(selection, "v1", after=listing.revision) as watcher:
                    await self.follow(watcher, selection, known, initial=False)

    async def follow(
        self, watcher: Watcher, selection: EntrySelection, known: State, *, initial: bool
    ) -> None:
        newest = 0
        for _ in range(self.random.randint(1, 20)):
            try:
                async with asyncio.timeout(0.05):
                    batch = await anext(watcher)
            except TimeoutError:
                return
            except StopAsyncIteration:
                assert watcher.slow
                return
            known = replay(list(batch), known)
            live = after_initial(list(batch)) if initial else list(batch)
            initial = initial and live is None
            if live:
                revisions = [event.revision for event in live]
                assert newest < revisions[0]
                assert revisions == sorted(set(revisions))
                newest = revisions[-1]
                self.batches += 1
                assert known == await self.truth(selection, newest)


def after_initial(batch: list[EntryEvent]) -> list[EntryEvent] | None:
    """What follows the state, with the bookmark that ends it; None if it is not complete yet."""
    for place, event in enumerate(batch):
        if event.initial_events_end:
            return batch[place:]
    return None


LIMITS = CacheLimits(
    retry_first=0.001,
    retry_longest=0.002,
    chunk=4,
    page=3,
    window=WindowSize(min_changes=20, max_changes=40),
    watch=WatchLimits(queue=64, batch=5),
)


@pytest.mark.parametrize("seed", range(3))
async def test_readers_and_watchers_see_only_what_was(backend: Backend, seed: int) -> None:
    await run(Story(backend, seed))


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(3, 83))
async def test_readers_and_watchers_never_see_anything_else(backend: Backend, seed: int) -> None:
    story = Story(backend, seed)

    await run(story)

    record_figures(
        "fault suites",
        f"readers and watchers of random writes #{type(backend).__name__} {seed}",
        rounds=1,
        writes=story.acknowledged - story.first,
        events=story.batches,
        reads=story.lists,
    )


async def run(story: Story) -> None:
    story.first = story.acknowledged = await story.backend.create(pod("z", "one"), value(phase=""))
    caches = [WatchCache(backend, limits=LIMITS) for backend in (story.board, story.backend)]
    pods = [cache.register(PODS, JsonView()) for cache in caches]
    async with caches[0], caches[1], asyncio.TaskGroup() as tasks:
        for number in range(WATCHERS):
            tasks.create_task(story.watch(pods[number % 2]))
        for number in range(READERS):
            tasks.create_task(story.read(pods[number % 2]))
        await asyncio.gather(*(story.write() for _ in range(WRITERS)))
        story.running = False

    assert story.acknowledged > story.first + WRITES
    assert min(story.lists, story.batches) > OBSERVED
