"""What every backend promises of create, update and delete, and of what get then shows."""

import asyncio

import pytest

from apiserver.storage.interface import (
    Backend,
    KeyExists,
    Record,
    RevisionConflict,
    ValueTooLarge,
)
from apiserver.storage.value_limit import MAX_VALUE_BYTES
from tests.apiserver.storage.conftest import LARGE_VALUES, SettableClock, open_store

ODD_KEYS = [
    "/a",
    "/a/",
    "/a b",
    '/quote"',
    "/back\\slash",
    "/nul\0inside",
    "/line\nbreak",
    "/percent%_like",
    "/é",
    "/\ud7ff",
    "/\ue000",
    "/\uffff",
    "/\U0001f600",
    "/\U0010ffff",
]


async def test_a_created_key_can_be_read(backend: Backend) -> None:
    revision = await backend.create("/a", b"one")

    assert await backend.get("/a") == Record("/a", b"one", revision, revision)


async def test_a_key_that_was_never_written_is_none(backend: Backend) -> None:
    await backend.create("/a/b", b"")

    assert await backend.get("/a") is None
    assert await backend.get("/a/b/c") is None


@pytest.mark.parametrize("key", ODD_KEYS)
async def test_any_text_is_a_key(backend: Backend, key: str) -> None:
    created = await backend.create(key, b"one")
    updated = await backend.update(key, b"two", revision=created)

    assert await backend.get(key) == Record(key, b"two", updated, created)


@pytest.mark.parametrize(
    "value", [b"", b"\0", bytes(range(256)), b"\xff\xfe", b'{"a": "\xc3\xa9"}']
)
async def test_any_bytes_are_a_value(backend: Backend, value: bytes) -> None:
    await backend.create("/a", value)

    record = await backend.get("/a")

    assert record is not None
    assert record.value == value
    assert (await backend.range("/")).records == [record]


async def test_create_refuses_a_key_that_exists(backend: Backend) -> None:
    revision = await backend.create("/a", b"one")

    with pytest.raises(KeyExists) as refused:
        await backend.create("/a", b"two")

    assert refused.value.key == "/a"
    assert await backend.get("/a") == Record("/a", b"one", revision, revision)


async def test_update_replaces_the_value_and_keeps_created(backend: Backend) -> None:
    created = await backend.create("/a", b"one")

    updated = await backend.update("/a", b"two", revision=created)

    assert updated > created
    assert await backend.get("/a") == Record("/a", b"two", updated, created)


async def test_update_of_an_old_revision_is_a_conflict_that_shows_the_newest(
    backend: Backend,
) -> None:
    created = await backend.create("/a", b"one")
    updated = await backend.update("/a", b"two", revision=created)

    with pytest.raises(RevisionConflict) as refused:
        await backend.update("/a", b"three", revision=created)

    assert refused.value.key == "/a"
    assert refused.value.expected == created
    assert refused.value.current == Record("/a", b"two", updated, created)
    assert await backend.get("/a") == refused.value.current


@pytest.mark.parametrize("ahead", [1, 2**62])
async def test_update_of_a_revision_to_come_is_a_conflict(backend: Backend, ahead: int) -> None:
    created = await backend.create("/a", b"one")

    with pytest.raises(RevisionConflict):
        await backend.update("/a", b"two", revision=created + ahead)


async def test_update_of_a_missing_key_is_a_conflict_without_a_record(backend: Backend) -> None:
    with pytest.raises(RevisionConflict) as refused:
        await backend.update("/a", b"one", revision=1)

    assert refused.value.current is None
    assert await backend.get("/a") is None


async def test_delete_has_a_revision_of_its_own(backend: Backend) -> None:
    created = await backend.create("/a", b"one")

    deleted = await backend.delete("/a", revision=created)

    assert deleted > created
    assert await backend.get("/a") is None
    assert await backend.current_revision() == deleted


async def test_delete_of_an_old_revision_is_a_conflict(backend: Backend) -> None:
    created = await backend.create("/a", b"one")
    updated = await backend.update("/a", b"two", revision=created)

    with pytest.raises(RevisionConflict) as refused:
        await backend.delete("/a", revision=created)

    assert refused.value.current == Record("/a", b"two", updated, created)
    assert await backend.get("/a") == refused.value.current


async def test_delete_of_a_key_that_is_gone_is_a_conflict_without_a_record(
    backend: Backend,
) -> None:
    created = await backend.create("/a", b"one")
    deleted = await backend.delete("/a", revision=created)

    for revision in (created, deleted):
        with pytest.raises(RevisionConflict) as refused:
            await backend.delete("/a", revision=revision)
        assert refused.value.current is None


async def test_a_deleted_key_can_be_created_again_and_counts_from_there(backend: Backend) -> None:
    first = await backend.create("/a", b"one")
    await backend.delete("/a", revision=first)

    second = await backend.create("/a", b"two")

    assert second > first
    assert await backend.get("/a") == Record("/a", b"two", second, second)
    with pytest.raises(RevisionConflict):
        await backend.update("/a", b"three", revision=first)


async def test_every_accepted_write_has_a_greater_revision(backend: Backend) -> None:
    revisions = [await backend.current_revision()]

    for number in range(5):
        revisions.append(await backend.create(f"/{number}", b"one"))
        revisions.append(await backend.update(f"/{number}", b"two", revision=revisions[-1]))
        revisions.append(await backend.delete(f"/{number}", revision=revisions[-1]))

    assert revisions == sorted(set(revisions))
    assert await backend.current_revision() == revisions[-1]


async def test_a_refused_write_has_no_revision(backend: Backend) -> None:
    revision = await backend.create("/a", b"one")

    with pytest.raises(KeyExists):
        await backend.create("/a", b"two")
    with pytest.raises(RevisionConflict):
        await backend.delete("/a", revision=revision - 1)

    assert await backend.current_revision() == revision


async def test_of_many_creators_one_wins(backend: Backend) -> None:
    outcomes = await asyncio.gather(
        *(backend.create("/a", str(number).encode()) for number in range(50)),
        return_exceptions=True,
    )

    won = [number for number, outcome in enumerate(outcomes) if isinstance(outcome, int)]
    assert len(won) == 1
    assert all(isinstance(outcome, int | KeyExists) for outcome in outcomes)
    record = await backend.get("/a")
    assert record is not None
    assert (record.value, record.revision) == (str(won[0]).encode(), outcomes[won[0]])


async def test_of_many_updaters_of_one_revision_one_wins(backend: Backend) -> None:
    """A counter that everybody raises by one, each from what it has read, ends at their number."""
    await backend.create("/counter", b"0")

    async def raise_by_one() -> None:
        while True:
            record = await backend.get("/counter")
            assert record is not None
            raised = str(int(record.value) + 1).encode()
            try:
                await backend.update("/counter", raised, revision=record.revision)
            except RevisionConflict as conflict:
                assert conflict.current is not None
                assert conflict.current.revision > record.revision
            else:
                return

    await asyncio.gather(*(raise_by_one() for _ in range(30)))

    record = await backend.get("/counter")
    assert record is not None
    assert record.value == b"30"


async def test_refused_writes_do_not_hurt_those_beside_them(backend: Backend) -> None:
    taken = await backend.create("/taken", b"one")

    outcomes = await asyncio.gather(
        *(
            write
            for number in range(20)
            for write in (
                backend.create("/taken", b"two"),
                backend.create(f"/free/{number:02}", b"one"),
                backend.update("/taken", b"two", revision=taken - 1),
                backend.delete("/missing", revision=taken),
            )
        ),
        return_exceptions=True,
    )

    assert all(isinstance(outcome, int) for outcome in outcomes[1::4])
    assert all(isinstance(outcome, KeyExists) for outcome in outcomes[0::4])
    assert all(isinstance(outcome, RevisionConflict) for outcome in outcomes[2::4] + outcomes[3::4])
    assert len((await backend.range("/free/")).records) == 20
    assert await backend.get("/taken") == Record("/taken", b"one", taken, taken)


async def test_a_value_of_5_mib_is_kept(backend: Backend) -> None:
    large = bytes(range(256)) * (5 * 4096)

    created = await backend.create("/large", large)
    updated = await backend.update("/large", large[::-1], revision=created)

    assert await backend.get("/large") == Record("/large", large[::-1], updated, created)
    then = await backend.range("/large", revision=created)
    assert then.records == [Record("/large", large, created, created)]


async def test_a_value_over_the_limit_of_the_store_is_refused_alone(backend: Backend) -> None:
    outcomes = await asyncio.gather(
        backend.create("/small", b"a"),
        backend.create("/large", bytes(8_000_001)),
        return_exceptions=True,
    )

    assert isinstance(outcomes[0], int)
    assert isinstance(outcomes[1], ValueTooLarge)
    assert str(outcomes[1]) == "the object has 8000001 bytes as stored: limit is 8000000"
    with pytest.raises(ValueTooLarge):
        await backend.update("/small", bytes(8_000_001), revision=outcomes[0])


async def test_every_store_has_the_same_limit_if_its_url_sets_none(
    store_url: str, clock: SettableClock
) -> None:
    backend = await open_store(store_url.replace(LARGE_VALUES, "").rstrip("?&"), clock)

    await backend.create("/largest", bytes(MAX_VALUE_BYTES))
    with pytest.raises(ValueTooLarge):
        await backend.create("/larger", bytes(MAX_VALUE_BYTES + 1))

    await backend.close()
