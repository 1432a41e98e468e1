"""Moving objects to the oldest generation, while other threads do so as well."""

import gc
from threading import Thread

import pytest

from apimachinery.lenient.young_objects import FrozenObjects


@pytest.mark.parametrize("freeze", [False, True])
def test_objects_that_are_old_for_a_moment_are_not_taken_for_frozen_ones(
    freeze: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise nothing would be collected in such a process any more."""
    gc.unfreeze()
    frozen = FrozenObjects()
    other = Thread(target=lambda: frozen.make_all_old(freeze=freeze))
    really_freeze = gc.freeze

    def freeze_and_let_the_other_thread_run() -> None:
        monkeypatch.setattr(gc, "freeze", really_freeze)
        really_freeze()
        other.start()
        other.join(timeout=0.2)

    monkeypatch.setattr(gc, "freeze", freeze_and_let_the_other_thread_run)

    frozen.make_all_old(freeze=freeze)

    other.join()
    young: list[int] = []
    frozen.make_all_old(freeze=freeze)
    assert gc.get_freeze_count() == 0
    assert id(young) in {id(old) for old in gc.get_objects(generation=2)}
