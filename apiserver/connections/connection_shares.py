"""Connection shares: the workers of a server divide its connections evenly.

All workers accept from the same listening socket, and whoever is first takes a connection. A client
keeps its connection for hours, so chance decides for hours which worker has the load. Therefore
each worker publishes the number of its open connections in memory that all of them share, and one
that has more than its share leaves a waiting connection to the others.

The connection waits in the kernel meanwhile, where no worker that stops or is killed can lose it.
It does not wait for long: a worker that does not come for it is passed over until it shows signs of
life, so that others do not wait for it a second time.
"""

from collections.abc import Iterator
from functools import cache
from mmap import mmap
from typing import Final

MOST_WORKERS: Final = 4096
"""Workers that may exist at the same time: as many as can be configured, and those that stop."""
TOLERANCE: Final = 8
"""A worker accepts while it has at most one eighth more connections than another."""

_ABSENT: Final = -1
"""The number of connections of a worker that does not accept any."""


class ConnectionShares:
    """The open connections of all workers, in memory that a master shares with them.

    The master assigns the places, and only the worker in a place writes into it.
    """

    def __init__(self) -> None:
        self._places = _words(1)
        """The number of places that have been assigned at least once."""
        self._connections = _words(MOST_WORKERS)
        self._signs = _words(MOST_WORKERS)
        """How many signs of life each worker has shown."""
        self._taken: set[int] = set()

    def assign(self) -> "ConnectionShare":
        """Return the share of a worker that is about to be forked; called in the master."""
        place = next(place for place in range(MOST_WORKERS) if place not in self._taken)
        self._taken.add(place)
        self._connections[place] = _ABSENT
        self._places[0] = max(self._places[0], place + 1)
        return self.at(place)

    def at(self, place: int) -> "ConnectionShare":
        """Return the share in a place that the master has assigned."""
        return ConnectionShare(self, place)

    def release(self, place: int) -> None:
        """Free the place of a worker that has ended; called in the master."""
        self._connections[place] = _ABSENT
        self._taken.discard(place)

    def record(self, place: int, connections: int) -> None:
        """Publish how many connections a worker has."""
        self._connections[place] = connections

    def show_life(self, place: int) -> None:
        """Publish that the event loop of a worker runs."""
        self._signs[place] += 1

    def others(self, place: int) -> Iterator[tuple[int, int, int]]:
        """Yield place, connections and signs of life of the other workers that accept."""
        for other in range(self._places[0]):
            connections = self._connections[other]
            if other != place and connections != _ABSENT:
                yield other, connections, self._signs[other]


class ConnectionShare:
    """The share of one worker in the connections."""

    def __init__(self, shares: ConnectionShares, place: int) -> None:
        self._shares = shares
        self.place = place
        self._connections = 0
        self._accepts = False
        self._passed_over: dict[int, int] = {}
        """Workers that have not come for a connection, with the number of their signs then."""

    def begin(self) -> None:
        """Take part: from now on the worker accepts connections."""
        self._accepts = True
        self.record(self._connections)

    def end(self) -> None:
        """Take part no more: other workers must not leave a connection to this one."""
        self._accepts = False
        self._shares.record(self.place, _ABSENT)

    def release(self) -> None:
        """Free the place, after the worker has ended; called in the master."""
        self._shares.release(self.place)

    def record(self, connections: int) -> None:
        """Publish how many connections the worker has."""
        self._connections = connections
        if self._accepts:
            self._shares.record(self.place, connections)

    def show_life(self) -> None:
        """Publish that the worker would accept a connection; called now and then."""
        self._shares.show_life(self.place)

    @property
    def is_fair(self) -> bool:
        """Whether no other worker has a better claim to the next connection."""
        fewest = min(
            (
                connections
                for place, connections, signs in self._shares.others(self.place)
                if self._passed_over.get(place) != signs
            ),
            default=self._connections,
        )
        return self._connections <= fewest + fewest // TOLERANCE

    def pass_over(self) -> None:
        """Ignore the workers that should have accepted a connection, until they show life."""
        self._passed_over = {
            place: signs
            for place, connections, signs in self._shares.others(self.place)
            if self._connections > connections + connections // TOLERANCE
        }


@cache
def connection_shares() -> ConnectionShares:
    """Return the shares of all workers that are forked after the first call."""
    return ConnectionShares()


def _words(count: int) -> memoryview:
    """Return *count* integers that a process shares with those it forks."""
    return memoryview(mmap(-1, count * 8)).cast("q")
