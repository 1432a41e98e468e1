"""Randomness that is fetched in bulk is still random, and nobody else's."""

import os
from uuid import UUID

import pytest

from apiserver.registry.identifiers import PooledRandom, new_uid


def test_uids_are_uuids_of_version_4_and_differ() -> None:
    random = PooledRandom()

    uids = {new_uid(random) for _ in range(2000)}

    assert len(uids) == 2000
    assert {(UUID(uid).version, UUID(uid).variant) for uid in uids} == {
        (4, "specified in RFC 4122")
    }
    assert all(str(UUID(uid)) == uid for uid in uids)


@pytest.mark.parametrize("bits", [1, 5, 8, 9, 128, 40_000])
def test_numbers_have_the_bits_asked_for(bits: int) -> None:
    random = PooledRandom()

    found = [random.getrandbits(bits) for _ in range(200)]

    assert max(found) < 2**bits
    assert max(found) >= 2 ** (bits - 1)


def test_a_forked_process_does_not_hand_out_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    parent = PooledRandom()
    parent.getrandbits(8)
    child = PooledRandom()
    child._pool, child._used = parent._pool, parent._used

    monkeypatch.setattr(os, "getpid", lambda: -1)

    assert child.getrandbits(128) != int.from_bytes(parent._pool[1:17], "big")


def test_the_system_is_not_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    random = PooledRandom()
    random.getrandbits(8)
    monkeypatch.delattr(os, "urandom")

    assert len({random.getrandbits(128) for _ in range(100)}) == 100
