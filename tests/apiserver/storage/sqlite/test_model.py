"""Any sequence of operations leaves what a dictionary with a memory would."""

import asyncio
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from apiserver.storage.interface import (
    Compacted,
    KeyExists,
    KeyPage,
    Record,
    RevisionConflict,
    StorageError,
    StoredChange,
)
from apiserver.storage.sqlite.backend import SqliteBackend, open_sqlite
from tests.apiserver.storage.reading import take_until

KEYS = st.sampled_from(["/a", "/a/", "/a/b", "/b", "/b\0", '/"', "/\U0010ffff"])
VALUES = st.binary(max_size=3)
OPERATIONS = st.lists(
    st.tuples(st.just("create"), KEYS, VALUES)
    | st.tuples(st.just("update"), KEYS, VALUES)
    | st.tuples(st.just("delete"), KEYS, st.just(b""))
    | st.tuples(st.just("stale"), KEYS, VALUES)
    | st.tuples(st.just("compact"), st.just(""), st.binary(min_size=1, max_size=1)),
    max_size=25,
)


@dataclass
class Model:
    revision: int = 1
    compacted: int = 0
    state: dict[str, Record] = field(default_factory=dict)
    past: dict[int, dict[str, Record]] = field(default_factory=lambda: {1: {}})
    changes: list[StoredChange] = field(default_factory=list)

    def write(self, key: str, value: bytes | None) -> int:
        self.revision += 1
        old = self.state.get(key)
        created = old.created if old else self.revision
        if value is None:
            del self.state[key]
        else:
            self.state[key] = Record(key, value, self.revision, created)
        previous = old.value if old else None
        self.changes.append(StoredChange(key, value, previous, self.revision, created))
        self.past[self.revision] = dict(self.state)
        return self.revision


async def apply(backend: SqliteBackend, model: Model, operation: tuple[str, str, bytes]) -> None:
    kind, key, value = operation
    current = model.state.get(key)
    revision = current.revision if current else model.revision
    try:
        match kind:
            case "create":
                assert await backend.create(key, value) == model.write(key, value)
                assert current is None
            case "update":
                assert await backend.update(key, value, revision=revision) == model.write(
                    key, value
                )
            case "delete":
                assert await backend.delete(key, revision=revision) == model.write(key, None)
            case "stale":
                await backend.update(key, value, revision=revision + 1)
                raise AssertionError("a write of another revision was accepted")
            case "compact":
                target = 1 + value[0] % model.revision
                await backend.compact(target)
                model.compacted = max(model.compacted, target)
    except KeyExists:
        assert kind == "create" and current is not None
    except RevisionConflict as conflict:
        assert kind == "stale" or current is None
        assert conflict.current == current


async def check(backend: SqliteBackend, model: Model) -> None:
    for revision, state in model.past.items():
        for prefix in ("/", "/a", "/a/", "/b"):
            expected: list[Record] | StorageError
            expected = [state[key] for key in sorted(state) if key.startswith(prefix)]
            try:
                page = await backend.range(prefix, revision=revision)
            except Compacted:
                assert revision < model.compacted
                continue
            assert page == KeyPage(expected, revision, 0)
            page = await backend.range(prefix, revision=revision, limit=2)
            assert page == KeyPage(expected[:2], revision, max(len(expected) - 2, 0))
    assert (await backend.range("/")).records == [model.state[key] for key in sorted(model.state)]
    after = model.compacted
    expected_changes = [change for change in model.changes if change.revision > after]
    async with backend.watch("/", after=after) as feed:
        await feed.request_progress()
        told = [each for batch in await take_until(feed, model.revision) for each in batch.changes]
    assert told == expected_changes


@settings(deadline=None, max_examples=60)
@given(OPERATIONS)
def test_the_store_behaves_as_its_model(operations: list[tuple[str, str, bytes]]) -> None:
    async def run() -> None:
        backend = await open_sqlite("sqlite://:memory:")
        try:
            model = Model()
            for operation in operations:
                await apply(backend, model, operation)
            await check(backend, model)
        finally:
            await backend.close()

    asyncio.run(run())
