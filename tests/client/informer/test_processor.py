"""Processor: a batch changes the store in one step, and only then is anybody told."""

import pytest

from client.cache.deltas import (
    Bookmark,
    Delta,
    DeltaBatch,
    DeltaType,
    ObjectChange,
    ReplacedAll,
    SyncAll,
)
from client.informer import DeletedObject, Handler, IndexFailed, Store
from client.informer.processor import Processor
from client.informer.registration import (
    AddNotification,
    Notification,
    Registration,
    UpdateNotification,
)
from client.informer.resync import Resyncs
from tests.client.informer.clock import FakeClock
from tests.client.informer.server import Gadget, gadget


class Told(Registration[Gadget]):
    """Notes what it is told, and what the store has at that moment."""

    def __init__(self, store: Store[Gadget], clock: FakeClock) -> None:
        super().__init__(
            Handler(),
            name="told",
            clock=clock,
            threaded=False,
            informer_synced=lambda: True,
            on_remove=lambda _: None,
        )
        self.notifications: list[Notification[Gadget]] = []
        self.stored: list[list[str]] = []
        self._store = store

    def notify(self, notification: Notification[Gadget]) -> None:
        self.notifications.append(notification)
        self.stored.append(self._store.keys())


class Setup:
    def __init__(self, clock: FakeClock, *stored: Gadget) -> None:
        self.store: Store[Gadget] = Store()
        for obj in stored:
            self.store.add(obj)
        resyncs: Resyncs[Gadget] = Resyncs()
        self.told = Told(self.store, clock)
        resyncs.add(self.told, 1, clock.monotonic())
        self.processor = Processor(self.store, resyncs)
        self.processor.registrations.append(self.told)
        # Everybody is due, so that resyncs are told.
        assert resyncs.check(clock.monotonic() + 1)

    def process(self, *deltas: Delta[Gadget], initial: bool = False, version: str = "") -> None:
        self.processor.process(DeltaBatch(deltas, initial, version))


def change(kind: DeltaType, obj: Gadget) -> ObjectChange[Gadget]:
    return ObjectChange(kind, f"default/{obj.metadata.name}", obj)


WRITES = [DeltaType.ADDED, DeltaType.UPDATED, DeltaType.REPLACED, DeltaType.SYNC]


@pytest.mark.parametrize("kind", WRITES)
def test_what_is_stored_is_updated_whatever_the_change_is_called(
    kind: DeltaType, clock: FakeClock
) -> None:
    old, new = gadget("a", version=1), gadget("a", version=2)
    setup = Setup(clock, old)

    setup.process(change(kind, new))

    assert setup.told.notifications == [UpdateNotification(old, new)]
    assert setup.store.get("default/a") is new


@pytest.mark.parametrize("kind", WRITES)
@pytest.mark.parametrize("initial", [True, False])
def test_what_is_not_stored_is_added_whatever_the_change_is_called(
    kind: DeltaType, initial: bool, clock: FakeClock
) -> None:
    new = gadget("a", version=2)
    setup = Setup(clock)

    setup.process(change(kind, new), initial=initial)

    assert setup.told.notifications == [AddNotification(new, initial)]
    assert setup.store.get("default/a") is new


@pytest.mark.parametrize("stored", [True, False])
def test_a_deletion_is_told_also_of_what_was_never_stored(stored: bool, clock: FakeClock) -> None:
    """With the state that the deletion brought, not with the one that was stored."""
    setup = Setup(clock, *[gadget("a", version=1)] if stored else ())
    last = gadget("a", version=2)

    setup.process(change(DeltaType.DELETED, last))

    assert setup.told.notifications == [DeletedObject("default/a", last)]
    assert len(setup.store) == 0


def test_a_tombstone_is_told_as_it_is(clock: FakeClock) -> None:
    setup = Setup(clock, gadget("a", version=1))
    gone: DeletedObject[Gadget] = DeletedObject("default/a", None, final_state_unknown=True)

    setup.process(ObjectChange(DeltaType.DELETED, "default/a", gone))

    assert setup.told.notifications == [gone]
    assert len(setup.store) == 0


def test_a_list_is_stored_whole_and_then_told_deletions_first(clock: FakeClock) -> None:
    """What is missing was deleted unseen, then each of its objects in order: updated or added."""
    a, b, c = (gadget(name, version=1) for name in "abc")
    setup = Setup(clock, a, b, c)
    new_b, d = gadget("b", version=5), gadget("d", version=6)

    setup.process(ReplacedAll({"default/d": d, "default/b": new_b}, "9"), version="9")

    assert setup.told.notifications == [
        DeletedObject("default/a", a, final_state_unknown=True),
        DeletedObject("default/c", c, final_state_unknown=True),
        AddNotification(d, False),
        UpdateNotification(b, new_b),
    ]
    assert setup.told.stored == [["default/d", "default/b"]] * 4
    assert setup.store.resource_version == "9"


def test_a_resync_tells_of_every_stored_object(clock: FakeClock) -> None:
    a, b = gadget("a", version=1), gadget("b", version=2)
    setup = Setup(clock, a, b)

    setup.process(SyncAll())

    assert setup.told.notifications == [UpdateNotification(a, a), UpdateNotification(b, b)]
    assert all(each.old is each.new for each in setup.told.notifications)  # type: ignore[union-attr]
    assert setup.store.resource_version == "2"


def test_a_bookmark_moves_the_store_on_and_is_told_to_nobody(clock: FakeClock) -> None:
    setup = Setup(clock, gadget("a", version=1))

    setup.process(Bookmark("7"), version="7")

    assert setup.store.resource_version == "7"
    assert setup.told.notifications == []


def test_a_batch_is_stored_whole_and_then_told_in_order(clock: FakeClock) -> None:
    setup = Setup(clock, gadget("b", version=1))

    setup.process(
        change(DeltaType.ADDED, gadget("a", version=2)),
        change(DeltaType.DELETED, gadget("b", version=3)),
        change(DeltaType.ADDED, gadget("c", version=4)),
        version="4",
    )

    told = [type(each).__name__ for each in setup.told.notifications]
    assert told == ["AddNotification", "DeletedObject", "AddNotification"]
    assert setup.told.stored == [["default/a", "default/c"]] * 3


def test_what_fails_in_a_batch_is_not_told_and_the_rest_is(clock: FakeClock) -> None:
    """The error is raised when everything else has been applied and told."""
    setup = Setup(clock)
    setup.store.add_index("share", lambda obj: [str(100 // obj.spec.size)])
    a, bad, c = gadget("a", size=1), gadget("bad", size=0), gadget("c", size=2)

    with pytest.raises(IndexFailed, match="default/bad"):
        setup.process(*(change(DeltaType.ADDED, obj) for obj in (a, bad, c)))

    assert setup.told.notifications == [AddNotification(a, False), AddNotification(c, False)]
    assert setup.store.keys() == ["default/a", "default/c"]
