"""What every backend promises of revisions, compaction, expiry and closing."""

import asyncio

import pytest

from apiserver.storage.interface import (
    KEEP_TTL,
    Backend,
    Compacted,
    FutureRevision,
    Record,
    RevisionConflict,
    StoredChange,
    Unavailable,
)
from tests.apiserver.storage.conftest import SettableClock
from tests.apiserver.storage.reading import create_all, take


async def test_the_current_revision_is_that_of_the_newest_write(backend: Backend) -> None:
    for number in range(5):
        revision = await backend.create(f"/{number}", b"")
        assert await backend.current_revision() == revision


async def test_a_read_shows_every_write_acknowledged_before(backend: Backend) -> None:
    async def write_and_read(number: int) -> None:
        revision = await backend.create(f"/{number:03}", b"")
        record, page, current = await asyncio.gather(
            backend.get(f"/{number:03}"), backend.range("/"), backend.current_revision()
        )
        assert record is not None
        assert f"/{number:03}" in {each.key for each in page.records}
        assert page.revision >= revision
        assert current >= revision

    await asyncio.gather(*(write_and_read(number) for number in range(30)))


async def test_compaction_keeps_the_newest_record_of_every_key(backend: Backend) -> None:
    kept = await backend.create("/kept", b"one")
    changed = await backend.create("/changed", b"one")
    gone = await backend.create("/gone", b"one")
    updated = await backend.update("/changed", b"two", revision=changed)
    deleted = await backend.delete("/gone", revision=gone)

    await backend.compact(deleted)

    expected = [
        Record("/changed", b"two", updated, changed),
        Record("/kept", b"one", kept, kept),
    ]
    assert (await backend.range("/")).records == expected
    assert (await backend.range("/", revision=deleted)).records == expected
    assert await backend.get("/kept") == expected[1]
    assert await backend.get("/gone") is None


async def test_compaction_leaves_what_is_newer(backend: Backend) -> None:
    first = await backend.create("/a", b"one")
    second = await backend.update("/a", b"two", revision=first)
    third = await backend.update("/a", b"three", revision=second)
    fourth = await backend.delete("/a", revision=third)

    await backend.compact(second)

    for revision, value in ((second, [b"two"]), (third, [b"three"]), (fourth, [])):
        page = await backend.range("/", revision=revision)
        assert [record.value for record in page.records] == value
    async with backend.watch("/", after=second) as feed:
        assert await take(feed, 2) == [
            StoredChange("/a", b"three", b"two", third, first),
            StoredChange("/a", None, b"three", fourth, first),
        ]


async def test_writes_go_on_after_compaction_as_before(backend: Backend) -> None:
    first = await backend.create("/a", b"one")
    deleted = await backend.delete("/a", revision=first)
    kept = await backend.create("/b", b"one")

    await backend.compact(kept)

    again = await backend.create("/a", b"two")
    assert again > kept > deleted
    assert await backend.get("/a") == Record("/a", b"two", again, again)
    updated = await backend.update("/b", b"two", revision=kept)
    assert await backend.get("/b") == Record("/b", b"two", updated, kept)


async def test_compaction_of_the_last_deletion_does_not_turn_back_the_revision(
    backend: Backend,
) -> None:
    created = await backend.create("/a", b"")
    deleted = await backend.delete("/a", revision=created)

    await backend.compact(deleted)

    assert await backend.current_revision() == deleted
    assert await backend.create("/a", b"") > deleted


async def test_compacting_again_does_nothing(backend: Backend) -> None:
    revisions = list((await create_all(backend, ["/a", "/b", "/c"])).values())
    await backend.compact(revisions[1])

    await backend.compact(revisions[1])
    await backend.compact(revisions[0])

    assert len((await backend.range("/", revision=revisions[1])).records) == 2
    with pytest.raises(Compacted) as refused:
        await backend.range("/", revision=revisions[0])
    assert refused.value.oldest == revisions[1]


async def test_compacting_what_is_to_come_is_refused(backend: Backend) -> None:
    current = await backend.create("/a", b"")

    for revision in (current + 1, 2**62):
        with pytest.raises(FutureRevision) as refused:
            await backend.compact(revision)
        assert (refused.value.revision, refused.value.current) == (revision, current)
    assert (await backend.range("/", revision=current)).revision == current


async def test_a_key_is_deleted_when_its_time_has_come(
    backend: Backend, clock: SettableClock
) -> None:
    """To everybody else it is a deletion like any other."""
    created = await backend.create("/a", b"one", ttl=1)

    async with backend.watch("/", after=created) as feed:
        clock.advance(1)
        (change,) = await take(feed, 1)

    assert change == StoredChange("/a", None, b"one", change.revision, created)
    assert change.revision > created
    assert await backend.get("/a") is None
    assert await backend.current_revision() == change.revision
    assert await backend.create("/a", b"two") > change.revision


async def test_a_key_updated_without_a_time_stays(backend: Backend, clock: SettableClock) -> None:
    """When the later key has gone, the earlier would have, too."""
    created = await backend.create("/stays", b"one", ttl=1)
    await backend.update("/stays", b"two", revision=created)
    start = await backend.create("/goes", b"one", ttl=2)

    async with backend.watch("/", after=start) as feed:
        clock.advance(2)
        (change,) = await take(feed, 1)

    assert change.key == "/goes"
    record = await backend.get("/stays")
    assert record is not None
    assert record.value == b"two"


async def test_a_key_updated_with_a_time_goes(backend: Backend, clock: SettableClock) -> None:
    created = await backend.create("/a", b"one")
    updated = await backend.update("/a", b"two", revision=created, ttl=1)

    async with backend.watch("/", after=updated) as feed:
        clock.advance(1)
        assert [(each.value, each.previous) for each in await take(feed, 1)] == [(None, b"two")]


async def test_a_key_given_more_time_goes_later(backend: Backend, clock: SettableClock) -> None:
    created = await backend.create("/longer", b"one", ttl=1)
    await backend.update("/longer", b"two", revision=created, ttl=3)
    start = await backend.create("/shorter", b"one", ttl=1)

    async with backend.watch("/", after=start) as feed:
        clock.advance(1.5)
        assert [change.key for change in await take(feed, 1)] == ["/shorter"]
        assert await backend.get("/longer") is not None
        clock.advance(1.5)
        assert [change.key for change in await take(feed, 1)] == ["/longer"]


async def test_an_update_can_keep_the_time_of_a_key(backend: Backend, clock: SettableClock) -> None:
    goes = await backend.create("/goes", b"one", ttl=1)
    stays = await backend.create("/stays", b"one")
    await backend.update("/goes", b"two", revision=goes, ttl=KEEP_TTL)
    start = await backend.update("/stays", b"two", revision=stays, ttl=KEEP_TTL)

    async with backend.watch("/", after=start) as feed:
        clock.advance(1)
        assert [(each.key, each.previous) for each in await take(feed, 1)] == [("/goes", b"two")]

    assert await backend.get("/stays") is not None
    with pytest.raises(RevisionConflict):
        await backend.update("/goes", b"three", revision=goes, ttl=KEEP_TTL)


async def test_a_key_deleted_and_created_again_has_no_time(
    backend: Backend, clock: SettableClock
) -> None:
    created = await backend.create("/a", b"one", ttl=1)
    await backend.delete("/a", revision=created)
    again = await backend.create("/a", b"two")
    start = await backend.create("/goes", b"", ttl=2)

    async with backend.watch("/", after=start) as feed:
        clock.advance(2)
        assert [change.key for change in await take(feed, 1)] == ["/goes"]

    assert await backend.get("/a") == Record("/a", b"two", again, again)


async def test_a_closed_backend_answers_unavailable(backend: Backend) -> None:
    await backend.create("/a", b"")

    await backend.close()
    await backend.close()

    with pytest.raises(Unavailable):
        await backend.get("/a")
    with pytest.raises(Unavailable):
        await backend.range("/")
    with pytest.raises(Unavailable):
        await backend.create("/b", b"")
    with pytest.raises(Unavailable):
        await backend.current_revision()
