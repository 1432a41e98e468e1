"""A controller reads what it wrote, however far behind its cache is."""

from hypothesis import given
from hypothesis import strategies as st

from apimachinery.meta.status import Status, StatusDetails
from apimachinery.meta.types import Object, ObjectMeta
from client.controller.own_writes import MAX_DELETED, OwnWrites


class Cache:
    """A cache of which the test says how far it is."""

    def __init__(self) -> None:
        self.version = "5"
        self.writes: OwnWrites[Object] = OwnWrites(lambda: self.version)


def obj(name: str, version: str, uid: str = "") -> Object:
    metadata = ObjectMeta(name=name, resource_version=version, uid=uid or f"uid-{name}")
    return Object(metadata=metadata)


def test_a_write_is_read_until_the_cache_has_come_as_far() -> None:
    cache = Cache()
    old, written, newer = obj("a", "4"), obj("a", "9"), obj("a", "12")
    cache.writes.record(written)

    assert cache.writes.newest("a", old) is written
    cache.version = "9"
    assert cache.writes.newest("a", newer) is newer
    assert len(cache.writes) == 0


def test_an_observed_object_is_copied() -> None:
    """The caller of the write has the object as well, and may change it."""
    cache = Cache()
    written = obj("a", "9")
    cache.writes.observe(written)
    written.metadata.labels["changed"] = "later"

    newest = cache.writes.newest("a", None)
    assert newest is not None
    assert newest.metadata.labels == {}


def test_an_observed_status_is_a_deletion() -> None:
    cache = Cache()
    cache.writes.observe(Status(details=StatusDetails(uid="uid-a")))
    cache.writes.observe(Status())

    assert cache.writes.newest("a", obj("a", "4")) is None
    assert cache.writes.newest("b", obj("b", "4")) is not None


def test_a_write_that_the_cache_has_shown_already_is_not_kept() -> None:
    cache = Cache()
    cache.writes.record(obj("a", "3"))

    assert len(cache.writes) == 0


def test_versions_are_numbers_and_not_texts() -> None:
    cache = Cache()
    cache.version = "99"
    written = obj("a", "100")
    cache.writes.record(written)

    assert cache.writes.newest("a", None) is written


def test_an_answer_that_comes_late_does_not_hide_a_newer_one() -> None:
    cache = Cache()
    newer = obj("a", "12")
    cache.writes.record(newer)
    cache.writes.record(obj("a", "11"))

    assert cache.writes.newest("a", None) is newer


def test_what_was_deleted_is_not_read_even_if_the_cache_first_sees_it_later() -> None:
    cache = Cache()
    created = obj("a", "6")
    cache.writes.record(created)
    cache.writes.record_deletion("uid-a")

    assert cache.writes.newest("a", None) is None
    cache.version = "6"
    assert cache.writes.newest("a", created) is None
    made_anew = obj("a", "8", uid="another")
    assert cache.writes.newest("a", made_anew) is made_anew


def test_a_list_has_own_writes_in_their_place_and_without_what_was_deleted() -> None:
    cache = Cache()
    cache.writes.record(obj("changed", "7"))
    cache.writes.record(obj("new", "8"))
    cache.writes.record_deletion("uid-gone")
    cached = [obj("changed", "2"), obj("gone", "3"), obj("same", "4")]

    found = {o.metadata.name: o.metadata.resource_version for o in cache.writes.merge(cached)}

    assert found == {"changed": "7", "same": "4", "new": "8"}


def test_a_server_with_versions_of_another_kind_is_simply_believed() -> None:
    cache = Cache()
    cache.writes.record(obj("a", "not-a-number"))

    assert len(cache.writes) == 0


def test_deletions_are_not_remembered_for_ever() -> None:
    cache = Cache()
    for number in range(MAX_DELETED + 1):
        cache.writes.record_deletion(f"uid-{number}")

    assert cache.writes.newest("a", obj("a", "1", uid="uid-0")) is not None
    assert cache.writes.newest("a", obj("a", "1", uid="uid-1")) is None


@given(st.lists(st.tuples(st.sampled_from("wc"), st.sampled_from("ab")), max_size=40))
def test_a_read_is_never_older_than_a_write(steps: list[tuple[str, str]]) -> None:
    """Writes and the cache's progress in any order: what is read has at least the own version."""
    cache = Cache()
    server: dict[str, Object] = {}
    cached: dict[str, Object] = {}
    log: list[Object] = []
    seen, version = 0, 5
    for step, name in steps:
        if step == "w":
            version += 1
            server[name] = obj(name, str(version))
            log.append(server[name])
            cache.writes.record(server[name])
        elif seen < len(log):
            cached[log[seen].metadata.name] = log[seen]
            cache.version = log[seen].metadata.resource_version
            seen += 1
        for key, newest in server.items():
            assert cache.writes.newest(key, cached.get(key)) == newest
    cache.version = str(version)
    assert len(cache.writes) == 0
