"""What every backend promises of range: which keys, in which order, as of which revision."""

import asyncio

import pytest

from apiserver.storage.interface import Backend, Compacted, FutureRevision, KeyPage, Record
from tests.apiserver.storage.reading import create_all


def keys_of(page: KeyPage) -> list[str]:
    return [record.key for record in page.records]


async def test_an_empty_range_has_the_revision_of_the_store(backend: Backend) -> None:
    revision = await backend.create("/a", b"")

    assert await backend.range("/b/") == KeyPage([], revision, 0)


async def test_a_store_never_has_revision_0(backend: Backend) -> None:
    """A resourceVersion of 0 means "any" to a client, so no list may carry it."""
    assert (await backend.range("/")).revision >= 1
    assert await backend.current_revision() >= 1


async def test_records_are_whole_and_as_of_the_page(backend: Backend) -> None:
    created = await backend.create("/a", b"one")
    updated = await backend.update("/a", b"two", revision=created)
    other = await backend.create("/b", b"three")

    page = await backend.range("/")

    assert page.records == [
        Record("/a", b"two", updated, created),
        Record("/b", b"three", other, other),
    ]
    assert page.revision == other
    assert page.remaining == 0


async def test_a_prefix_is_not_a_path(backend: Backend) -> None:
    await create_all(backend, ["/a", "/a/", "/a/b", "/a0", "/ab", "/b", "/A", "/a/b/c"])

    assert keys_of(await backend.range("/a")) == ["/a", "/a/", "/a/b", "/a/b/c", "/a0", "/ab"]
    assert keys_of(await backend.range("/a/")) == ["/a/", "/a/b", "/a/b/c"]
    assert keys_of(await backend.range("/a/b/c/")) == []


async def test_characters_that_mean_something_elsewhere_mean_nothing_in_a_prefix(
    backend: Backend,
) -> None:
    await create_all(backend, ["/%", "/%a", "/_", "/a", "/*", "/["])

    for prefix in ("/%", "/_", "/*", "/["):
        assert all(key.startswith(prefix) for key in keys_of(await backend.range(prefix)))
    assert keys_of(await backend.range("/%")) == ["/%", "/%a"]


@pytest.mark.parametrize("last", ["\x7f", "ÿ", "\u07ff", "\ud7ff", "\uffff", "\U0010ffff"])
async def test_a_prefix_may_end_where_an_encoding_does(backend: Backend, last: str) -> None:
    """The first key after a prefix is one whose last character is one higher, if there is one."""
    inside = [f"/{last}", f"/{last}/a", f"/{last}0", f"/{last}\U0010ffff"]
    outside = ["/", "/~"] + ([] if last == "\U0010ffff" else ["/\U0010ffff"])
    await create_all(backend, inside + outside)

    assert keys_of(await backend.range(f"/{last}")) == sorted(inside)


async def test_keys_come_in_the_order_of_their_utf_8(backend: Backend) -> None:
    keys = ["/Z", "/a", "/a!", "/a/", "/a0", "/é", "/\uffff", "/\U0001f600", "/\0", "/ "]
    await create_all(backend, keys)

    assert keys_of(await backend.range("/")) == sorted(keys, key=str.encode)


async def test_start_is_the_least_key_of_the_page(backend: Backend) -> None:
    await create_all(backend, ["/a/1", "/a/2", "/a/3", "/b/1"])

    assert keys_of(await backend.range("/a/", start="/a/2")) == ["/a/2", "/a/3"]
    assert keys_of(await backend.range("/a/", start="/a/2\0")) == ["/a/3"]


async def test_start_outside_of_the_prefix_does_not_widen_it(backend: Backend) -> None:
    await create_all(backend, ["/a/1", "/b/1", "/c/1"])

    assert keys_of(await backend.range("/b/", start="/a/")) == ["/b/1"]
    assert keys_of(await backend.range("/b/", start="/c/")) == []


async def test_limit_cuts_the_page_and_remaining_counts_the_rest(backend: Backend) -> None:
    await create_all(backend, [f"/a/{number}" for number in range(5)] + ["/b", "/0"])

    page = await backend.range("/a/", limit=2)
    assert (keys_of(page), page.remaining) == (["/a/0", "/a/1"], 3)
    page = await backend.range("/a/", start="/a/3", limit=1)
    assert (keys_of(page), page.remaining) == (["/a/3"], 1)
    for limit in (0, 5, 6):
        page = await backend.range("/a/", limit=limit)
        assert (len(page.records), page.remaining) == (5, 0)


async def test_pages_of_one_revision_are_one_list_whatever_is_written_between(
    backend: Backend,
) -> None:
    revisions = await create_all(backend, [f"/a/{number:02}" for number in range(10)])

    first = await backend.range("/a/", limit=4)
    await backend.delete("/a/04", revision=revisions["/a/04"])
    await backend.update("/a/05", b"new", revision=revisions["/a/05"])
    await backend.create("/a/045", b"new")
    start = first.records[-1].key + "\0"
    second = await backend.range("/a/", start=start, limit=4, revision=first.revision)
    start = second.records[-1].key + "\0"
    third = await backend.range("/a/", start=start, limit=4, revision=first.revision)

    assert first.records + second.records + third.records == [
        Record(key, key.encode(), revision, revision) for key, revision in revisions.items()
    ]
    assert [page.remaining for page in (first, second, third)] == [6, 2, 0]
    assert {page.revision for page in (first, second, third)} == {first.revision}


async def test_the_past_can_be_read_at_every_revision(backend: Backend) -> None:
    """Creations, updates, deletions and creations again, each undone by reading before it."""
    start = await backend.current_revision()
    expected: dict[int, list[Record]] = {start: []}
    state: dict[str, Record] = {}
    for number in range(30):
        key = f"/{number % 4}"
        value = str(number).encode()
        record = state.get(key)
        if record is None:
            revision = await backend.create(key, value)
            state[key] = Record(key, value, revision, revision)
        elif number % 3:
            revision = await backend.update(key, value, revision=record.revision)
            state[key] = Record(key, value, revision, record.created)
        else:
            revision = await backend.delete(key, revision=record.revision)
            del state[key]
        expected[revision] = [state[key] for key in sorted(state)]

    for revision, records in expected.items():
        assert await backend.range("/", revision=revision) == KeyPage(records, revision, 0)


async def test_a_revision_to_come_is_refused(backend: Backend) -> None:
    current = await backend.create("/a", b"")

    for revision in (current + 1, current + 1000, 2**62):
        with pytest.raises(FutureRevision) as refused:
            await backend.range("/", revision=revision)
        assert refused.value.revision == revision
        assert refused.value.current == current


async def test_a_compacted_revision_is_refused(backend: Backend) -> None:
    first = await backend.create("/a", b"")
    second = await backend.update("/a", b"two", revision=first)

    await backend.compact(second)

    with pytest.raises(Compacted) as refused:
        await backend.range("/", revision=first)
    assert (refused.value.revision, refused.value.oldest) == (first, second)
    assert len((await backend.range("/", revision=second)).records) == 1


async def test_a_range_of_more_than_4_mib_is_whole(backend: Backend) -> None:
    revisions = await create_all(backend, [f"/{number}" for number in range(6)])
    large = {key: key.encode() * (512 * 1024) for key in revisions}
    for key, revision in revisions.items():
        await backend.update(key, large[key], revision=revision)

    page = await backend.range("/")

    assert {record.key: record.value for record in page.records} == large


async def test_a_range_of_thousands_is_whole(backend: Backend) -> None:
    """Backends read long ranges in pieces; none may be lost or doubled where they meet."""
    count = 2001
    await asyncio.gather(*(backend.create(f"/{number:05}", b"") for number in range(count)))

    assert keys_of(await backend.range("/")) == [f"/{number:05}" for number in range(count)]
    for limit in (1000, 2000, 2001):
        page = await backend.range("/", limit=limit)
        assert (len(page.records), page.remaining) == (limit, count - limit)
