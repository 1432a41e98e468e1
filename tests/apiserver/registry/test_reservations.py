"""The reservations of a write are committed or reverted together."""

import pytest

from apiserver.registry.allocation import PendingReservations, Reservation


class Account:
    """Notes what becomes of reservations."""

    def __init__(self) -> None:
        self.committed: list[str] = []

    def reservation(self, name: str, *, fails: bool = False) -> Reservation:
        async def commit() -> None:
            if fails:
                raise OSError(name)
            self.committed.append(name)

        async def revert() -> None:
            raise AssertionError("the write was not refused")

        return Reservation(commit=commit, revert=revert)


async def test_a_failed_commit_does_not_keep_the_others_from_theirs() -> None:
    account = Account()
    with pytest.raises(OSError, match="first"):
        async with PendingReservations() as pending:
            pending.hold(account.reservation("first", fails=True))
            pending.hold(account.reservation("second"))

    assert account.committed == ["second"]
