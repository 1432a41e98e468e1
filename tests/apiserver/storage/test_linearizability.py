"""Histories of both backends are linearizable, and the checker can tell when one is not."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apiserver.storage.etcd.backend import open_etcd
from apiserver.storage.interface import Backend
from apiserver.storage.sqlite.backend import open_sqlite
from tests.apiserver.storage.etcd.etcd_binary import etcd_binary
from tests.apiserver.storage.etcd.etcd_server import (
    Cluster,
    Node,
    excusing_divergence,
    start_cluster,
)
from tests.apiserver.storage.linearizability import (
    Answer,
    Found,
    Kind,
    Listed,
    Operation,
    Recorder,
    Refused,
    Seen,
    Written,
    is_linearizable,
    record_history,
)


def create(at: tuple[float, float], value: bytes, answer: Answer, key: str = "a") -> Operation:
    return Operation(Kind.CREATE, *at, key=key, value=value, answer=answer)


def update(at: tuple[float, float], value: bytes, expected: int, answer: Answer) -> Operation:
    return Operation(Kind.UPDATE, *at, key="a", value=value, expected=expected, answer=answer)


def delete(at: tuple[float, float], expected: int, answer: Answer) -> Operation:
    return Operation(Kind.DELETE, *at, key="a", expected=expected, answer=answer)


def get(at: tuple[float, float], seen: Seen | None, key: str = "a") -> Operation:
    return Operation(Kind.GET, *at, key=key, answer=Found(seen))


def lists(at: tuple[float, float], revision: int, **seen: Seen) -> Operation:
    return Operation(Kind.LIST, *at, answer=Listed(tuple(sorted(seen.items())), revision))


CREATED = create((1, 2), b"1", Written(5))
ONE = Seen(5, b"1")
TWO = Seen(6, b"2")

POSSIBLE = {
    "one after the other": [
        CREATED,
        get((3, 4), ONE),
        update((5, 6), b"2", 5, Written(6)),
        get((7, 8), TWO),
        delete((9, 10), 6, Written(7)),
        get((11, 12), None),
        create((13, 14), b"3", Written(8)),
    ],
    "a read that overlaps a write may see either": [
        CREATED,
        update((3, 10), b"2", 5, Written(6)),
        get((4, 5), ONE),
        get((6, 7), TWO),
    ],
    "a write without an answer may happen late": [
        create((1, inf), b"1", None),
        get((2, 3), None),
        get((4, 5), None),
        get((6, 7), ONE),
    ],
    "a write without an answer may never happen": [
        create((1, inf), b"1", None),
        get((2, 3), None),
        create((4, 5), b"2", Written(6)),
    ],
    "a deletion without an answer may happen": [
        CREATED,
        delete((3, inf), 5, None),
        get((4, 5), ONE),
        get((6, 7), None),
    ],
    "a creation without an answer may be why another is refused": [
        create((1, inf), b"1", None),
        create((2, 3), b"2", Refused()),
    ],
    "a refused update shows what was there": [
        CREATED,
        update((3, 4), b"2", 5, Written(6)),
        update((5, 6), b"3", 5, Refused(TWO)),
    ],
    "a list is one moment of all keys": [
        CREATED,
        create((3, 6), b"2", Written(6), key="b"),
        lists((4, 5), 5, a=ONE),
        lists((7, 8), 9, a=ONE, b=TWO),
    ],
}

IMPOSSIBLE = {
    "a lost update": [
        CREATED,
        update((3, 5), b"2", 5, Written(6)),
        update((4, 6), b"3", 5, Written(7)),
    ],
    "a stale read": [CREATED, update((3, 4), b"2", 5, Written(6)), get((5, 6), ONE)],
    "reads that go back": [
        CREATED,
        update((3, 12), b"2", 5, Written(6)),
        get((4, 5), TWO),
        get((6, 7), ONE),
    ],
    "a revived deletion": [
        CREATED,
        delete((3, 4), 5, Written(6)),
        get((5, 6), None),
        get((7, 8), ONE),
    ],
    "an acknowledged creation that is not there": [CREATED, get((3, 4), None)],
    "two creations of one key": [CREATED, create((3, 4), b"2", Written(6))],
    "a creation refused where nothing was": [create((1, 2), b"1", Refused())],
    "a value from nowhere": [get((1, 2), ONE)],
    "a value at another revision than it was written at": [CREATED, get((3, 4), Seen(6, b"1"))],
    "revisions against the order of time": [
        create((1, 2), b"1", Written(6)),
        create((3, 4), b"2", Written(5), key="b"),
    ],
    "one revision for two writes": [
        create((1, 4), b"1", Written(5)),
        create((2, 3), b"2", Written(5), key="b"),
    ],
    "a write before it was asked for": [
        get((1, 2), ONE),
        create((3, inf), b"1", None),
    ],
    "a write without an answer that is undone": [
        create((1, inf), b"1", None),
        get((2, 3), ONE),
        get((4, 5), None),
    ],
    "an update refused though it matched": [CREATED, update((3, 4), b"2", 5, Refused(ONE))],
    "a refusal that shows something stale": [
        CREATED,
        update((3, 4), b"2", 5, Written(6)),
        update((5, 6), b"3", 4, Refused(ONE)),
    ],
    "a list that mixes two moments": [
        CREATED,
        create((3, 4), b"2", Written(6), key="b"),
        update((5, 6), b"3", 5, Written(7)),
        lists((3, 9), 7, a=Seen(7, b"3")),
    ],
    "a list older than what was acknowledged": [
        CREATED,
        create((3, 4), b"2", Written(6), key="b"),
        lists((5, 6), 5, a=ONE),
    ],
    "a list that claims a revision it does not show": [
        CREATED,
        lists((2, 3), 6, a=ONE),
        create((1, 9), b"2", Written(6), key="b"),
    ],
}


@pytest.mark.parametrize("name", POSSIBLE)
def test_the_checker_accepts(name: str) -> None:
    assert is_linearizable(POSSIBLE[name])


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_the_checker_refuses(name: str) -> None:
    assert not is_linearizable(IMPOSSIBLE[name])


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6))
def test_the_checker_accepts_whatever_a_store_did_one_at_a_time(seed: int, callers: int) -> None:
    history = _atomic_history(random.Random(seed), callers)

    assert is_linearizable(history)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 6))
def test_the_checker_refuses_a_read_of_what_was_replaced_before_it_was_asked_for(
    seed: int, callers: int
) -> None:
    history = _atomic_history(random.Random(seed), callers)
    end = max(each.answered for each in history if each.answered < inf)
    stale = [get((end + 1, end + 2), Seen(5, b"gone")), create((-2, -1), b"gone", Written(5))]
    replaced = [
        update((-0.9, -0.8), b"newer", 5, Written(6)),
        delete((-0.7, -0.6), 6, Written(7)),
    ]

    assert is_linearizable([*history, stale[1], *replaced])
    assert not is_linearizable([*history, *stale, *replaced])


def _atomic_history(rng: random.Random, callers: int) -> list[Operation]:
    """Callers whose operations take effect at one moment between question and answer."""
    store: dict[str, Seen] = {}
    history: list[Operation] = []
    free = [0.0] * callers
    revision = 10
    for moment in range(1, 60):
        caller = rng.randrange(callers)
        asked = rng.uniform(free[caller], moment)
        answered = rng.uniform(moment, moment + 4)
        key = rng.choice("ab")
        found = store.get(key)
        operation = Operation(Kind.GET, asked, answered, key, answer=Found(found))
        match rng.randrange(4):
            case 0 if found is None:
                revision += 1
                store[key] = Seen(revision, str(moment).encode())
                operation = create((asked, answered), store[key].value, Written(revision), key)
            case 1 if found is not None and key == "a":
                revision += 1
                operation = delete((asked, answered), found.revision, Written(revision))
                del store[key]
            case 2:
                operation = lists((asked, answered), revision, **store)
        history.append(operation)
        free[caller] = min(answered, moment + 1)
    return history


class Callers:
    """Six who create, update, delete, get and list a few keys at random until they are told."""

    def __init__(self, backends: Sequence[Backend], prefix: str, *, seed: int) -> None:
        self.recorder = Recorder()
        self._backends = backends
        self._prefix = prefix
        self._keys = [f"{prefix}{name}" for name in "abc"]
        self._rng = random.Random(seed)
        self._stopping = False

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            for number in range(6):
                group.create_task(self._work(number))
            yield
            self._stopping = True

    async def progress(self, operations: int = 60) -> None:
        """Wait for so many more operations."""
        enough = len(self.recorder.history) + operations
        while len(self.recorder.history) < enough:
            await asyncio.sleep(0.001)

    async def _work(self, number: int) -> None:
        backend = self._backends[number % len(self._backends)]
        known: dict[str, int] = {}
        for count in itertools.count():
            if self._stopping:
                return
            key = self._rng.choice(self._keys)
            value = f"{number}-{count}".encode()
            match self._rng.randrange(8):
                case 0 | 1:
                    await self.recorder.create(backend, key, value)
                case 2 | 3 if key in known:
                    await self.recorder.update(backend, key, value, known[key])
                case 4 if key in known:
                    await self.recorder.delete(backend, key, known[key])
                case 5:
                    await self.recorder.list(backend, self._prefix)
                case _:
                    seen = await self.recorder.get(backend, key)
                    if seen is not None:
                        known[key] = seen.revision


async def test_two_backends_on_one_sqlite_file_are_linearizable(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store'}"
    backends = [await open_sqlite(url), await open_sqlite(url)]
    callers = Callers(backends, "/", seed=1)

    async with callers.working():
        await callers.progress(400)

    for backend in backends:
        await backend.close()
    assert is_linearizable(callers.recorder.history)


async def test_an_etcd_whose_leader_is_killed_is_linearizable(tmp_path: Path) -> None:
    with start_cluster(tmp_path) as cluster, excusing_divergence(cluster):
        await _etcd_rounds(cluster, Node.kill, Node.start, rounds=2)


async def test_an_etcd_whose_leader_is_stopped_is_linearizable(tmp_path: Path) -> None:
    with start_cluster(tmp_path) as cluster:
        await _etcd_rounds(cluster, Node.pause, Node.resume, rounds=1)


@pytest.mark.torture
@pytest.mark.timeout(1800)
async def test_an_etcd_whose_leader_is_killed_many_times_is_linearizable(tmp_path: Path) -> None:
    with start_cluster(tmp_path) as cluster, excusing_divergence(cluster):
        await _etcd_rounds(cluster, Node.kill, Node.start, rounds=20)


@pytest.mark.torture
@pytest.mark.timeout(1800)
async def test_an_etcd_whose_leader_is_stopped_many_times_is_linearizable(tmp_path: Path) -> None:
    with start_cluster(tmp_path) as cluster:
        await _etcd_rounds(cluster, Node.pause, Node.resume, rounds=20)


DONE: dict[Callable[[Node], None], str] = {Node.kill: "killed", Node.pause: "paused"}


async def _etcd_rounds(
    cluster: Cluster, hurt: Callable[[Node], None], heal: Callable[[Node], None], *, rounds: int
) -> None:
    """Hurt the leader for a while, in each round, while callers work."""
    url = f"etcd://{cluster.hosts}?timeout=1"
    backends = [await open_etcd(url) for _ in range(3)]
    done: list[Operation] = []
    for number in range(rounds):
        leader = await asyncio.to_thread(cluster.leader)
        callers = Callers(backends, f"/{number}/", seed=number)
        async with callers.working():
            await callers.progress()
            hurt(leader)
            await callers.progress()
            heal(leader)
            await callers.progress()
        await asyncio.to_thread(cluster.wait_healthy)

        assert is_linearizable(callers.recorder.history)
        done += callers.recorder.history
    for backend in backends:
        await backend.close()
    etcd = f"etcd {etcd_binary().release}"
    suite = f"linearizability of backends when the leader of {etcd} is {DONE[hurt]}"
    record_history(suite, done, rounds)
