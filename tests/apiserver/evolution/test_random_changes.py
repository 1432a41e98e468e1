"""Types that change at random over a populated store: nothing unreadable, nothing lost."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from apimachinery.schema import GroupResource
from apiserver.evolution.start import UnsafeStart
from tests.apiserver.evolution.conftest import NewStore
from tests.apiserver.evolution.random_changes import EDITS
from tests.apiserver.evolution.random_types import TypeRelease, Values, first_release
from tests.apiserver.evolution.releases import GROUP, LAMPS, Api, lamp, serving_alone

CREATED = 2
"""Objects created in each release."""


@dataclass
class StoredLamp:
    """What is known of one object."""

    name: str
    written: TypeRelease
    values: Values
    bytes: bytes


@dataclass
class History:
    """The releases and objects of one store."""

    url: str
    random: Random
    release: TypeRelease = field(default_factory=first_release)
    lamps: list[StoredLamp] = field(default_factory=list)
    shapes: set[frozenset[Any]] = field(default_factory=set)
    """The shapes of all releases so far."""

    async def begin(self) -> None:
        self.shapes.add(self.release.shape)
        async with self.serving(self.release) as api:
            await self.create(api)
            await self.check(api)

    async def attempt(self, candidate: TypeRelease) -> None:
        """Start the next release; if it must be refused, the one before still serves."""
        must_refuse = any(candidate.would_lose(each.written, each.values) for each in self.lamps)
        if must_refuse and candidate.shape in self.shapes:
            return  # not a new release, but one of the old ones again
        try:
            async with self.serving(candidate) as api:
                assert not must_refuse, "a start that loses values was not refused"
                self.release = candidate
                self.shapes.add(candidate.shape)
                await self.check(api)
                await self.create(api)
                await self.update(api)
                await self.check(api)
        except UnsafeStart as refused:
            assert must_refuse, f"refused although nothing is lost: {refused}"
            async with self.serving(self.release) as api:
                await self.check(api)

    def serving(self, release: TypeRelease) -> Any:
        return serving_alone(release.group(), storage=self.url, accept=release.accept_flags())

    # Writes

    async def create(self, api: Api) -> None:
        for _ in range(CREATED):
            name = f"lamp-{len(self.lamps)}"
            values, document = self.new_values(None, None)
            answer = await api("POST", LAMPS, lamp(name, **document))
            assert answer.code == 201, answer.body
            created = StoredLamp(name, self.release, values, await api.stored(name))
            assert answer.json["spec"] == self.expected(created)
            self.lamps.append(created)

    def new_values(self, scope: int | None, parent: int | None) -> tuple[Values, dict[str, Any]]:
        """Return random values, and a document with those that are not the defaults."""
        random, values, document = self.random, Values(), dict[str, Any]()
        for each in self.release.children(parent):
            if each.kind == "object":
                inner, part = self.new_values(scope, each.id)
                values |= inner
                document[each.name] = part
            elif each.kind == "objects":
                elements = [self.new_values(each.id, each.id) for _ in range(random.randrange(3))]
                values[each.id] = [element for element, _ in elements]
                document[each.name] = [part for _, part in elements]
            elif each.kind == "mapping":
                named = {
                    key: self.new_values(each.id, each.id) for key in random.choice(["", "kl"])
                }
                values[each.id] = {key: element for key, (element, _) in named.items()}
                document[each.name] = {key: part for key, (_, part) in named.items()}
            elif each.required or random.random() < 0.6:
                values[each.id] = document[each.name] = random.choice(each.choices)
            else:
                values[each.id] = each.initial
        return values, document

    async def update(self, api: Api) -> None:
        """Change one field of one object, which rewrites all of it in today's shape."""
        leaves = [leaf for leaf in self.release.leaves if self.release.scope(leaf) is None]
        if not leaves:
            return
        changed, leaf = self.random.choice(self.lamps), self.random.choice(leaves)
        values = self.release.values(changed.written, changed.values)
        values[leaf.id] = self.random.choice(leaf.choices)
        patch = values[leaf.id] if leaf.kind != "pairs" else {"k": None, "l": None, "x": "y"}
        if leaf.kind == "pairs":
            values[leaf.id] = {"x": "y"}
        for name in reversed(self.release.path(leaf).split(".")):
            patch = {name: patch}

        answer = await api.patch(changed.name, patch)

        assert answer.code == 200, answer.body
        changed.written, changed.values = self.release, values
        changed.bytes = await api.stored(changed.name)
        assert orjson.loads(changed.bytes)["spec"] == self.expected(changed)

    # Reads

    def expected(self, each: StoredLamp) -> dict[str, Any]:
        return self.release.document(self.release.values(each.written, each.values))

    async def check(self, api: Api) -> None:
        """Compare every object by GET, LIST and WATCH with what it must be."""
        expected = {each.name: self.expected(each) for each in self.lamps}
        got = {each.name: (await api.get(each.name))["spec"] for each in self.lamps}
        listed = (await api("GET", LAMPS)).items
        events = await api.watch(len(self.lamps))
        assert got == expected
        assert {item["metadata"]["name"]: item["spec"] for item in listed} == expected
        watched = {event["object"]["metadata"]["name"]: event["object"] for event in events}
        assert {name: each["spec"] for name, each in watched.items()} == expected
        view = api.app.groups.store(GroupResource(GROUP, "lamps")).view
        for each in self.lamps:
            assert await api.stored(each.name) == each.bytes
            is_verbatim = view._verbatim_content(each.bytes) is not None
            assert is_verbatim == self.release.serves_verbatim(each.written)


Stage = list[tuple[str, int, int]]
"""The edits between two releases."""

numbers = st.integers(0, 30)
edits = st.tuples(st.sampled_from(sorted(EDITS)), numbers, numbers)
stages = st.lists(edits, min_size=1, max_size=2)
stories = st.lists(stages, min_size=1, max_size=5)


def examples(count: int, *, derandomize: bool = False) -> settings:
    return settings(
        max_examples=count,
        derandomize=derandomize,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


async def run(url: str, story: list[Stage], seed: int) -> None:
    history = History(url, Random(seed))
    await history.begin()
    for stage in story:
        candidate = history.release
        for name, pick, how in stage:
            candidate = EDITS[name](candidate, pick, how)
        note(f"{stage}")
        await history.attempt(candidate)


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """One event loop for all examples, because gRPC polls for the first one that it has seen."""
    with asyncio.Runner() as made:
        yield made


@examples(8, derandomize=True)
@given(story=stories, seed=numbers)
def test_objects_survive_changes_of_their_type(
    new_store: NewStore, runner: asyncio.Runner, story: list[Stage], seed: int
) -> None:
    runner.run(run(new_store(), story, seed))


@pytest.mark.torture
@pytest.mark.timeout(3600)
@examples(150)
@given(story=stories, seed=numbers)
def test_objects_survive_any_changes_of_their_type(
    new_store: NewStore, runner: asyncio.Runner, story: list[Stage], seed: int
) -> None:
    runner.run(run(new_store(), story, seed))
