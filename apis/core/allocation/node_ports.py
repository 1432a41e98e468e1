"""Node ports: one record in the store has a bit for each port of the range.

Servers that share a store change the record by compare-and-swap, so a port is allocated once.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, TypeVar

from apiserver.storage.interface import KeyExists, Record, RevisionConflict

RECORD_KEY: Final = "/ranges/servicenodeports"

_LOWER_MIN: Final = 16
_LOWER_MAX: Final = 128
_LOWER_SHARE: Final = 32
"""The lower part of the range is a 32nd of it, between 16 and 128 ports."""

R = TypeVar("R")


class PortNotAllocated(Exception):
    """A port cannot be allocated; the text is the reason."""


@dataclass(frozen=True, slots=True)
class PortRange:
    """A range of ports, both ends included."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> "PortRange":
        """Parse `first-last`, `first+count` or a single port. Raises ValueError."""
        if "-" in text:
            first, last = map(int, text.split("-"))
        elif "+" in text:
            first, count = map(int, text.split("+"))
            last = first + count
        else:
            first = last = int(text)
        if not 1 <= first <= last <= 65535:
            raise ValueError(f"the port range {text!r} is not between 1 and 65535")
        return cls(first, last)

    def __str__(self) -> str:
        return f"{self.first}-{self.last}"

    def __contains__(self, port: int) -> bool:
        return self.first <= port <= self.last

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def candidates(self, random: Random) -> Iterator[int]:
        """Yield every port once, from a random place in the upper part of the range on."""
        lower = 0
        if self.size > _LOWER_MIN:
            lower = min(max(_LOWER_MIN, self.size // _LOWER_SHARE), _LOWER_MAX)
        middle = self.first + lower
        for start, end in ((middle, self.last + 1), (self.first, middle)):
            size = end - start
            offset = random.randrange(size) if size > 0 else 0
            yield from (start + (offset + step) % size for step in range(size))


@dataclass(slots=True)
class PortPlan:
    """The allocated ports of the record, and what one write takes from them."""

    range: PortRange
    random: Random
    allocated: set[int]
    taken: set[int] = field(default_factory=set)
    """The ports that the write has allocated."""

    def allocate(self, port: int) -> None:
        """Allocate one port. Raises PortNotAllocated."""
        if port not in self.range:
            raise PortNotAllocated(
                f"provided port is not in the valid range. The range of valid ports is {self.range}"
            )
        if port in self.allocated:
            raise PortNotAllocated("provided port is already allocated")
        self._take(port)

    def allocate_next(self) -> int:
        """Allocate any port and return it. Raises PortNotAllocated."""
        for port in self.range.candidates(self.random):
            if port not in self.allocated:
                self._take(port)
                return port
        raise PortNotAllocated("range is full")

    def _take(self, port: int) -> None:
        self.allocated.add(port)
        self.taken.add(port)


class NodePorts:
    """Allocates node ports in the record of a store."""

    def __init__(self, backend: Callable[[], Any], ports: PortRange, random: Random) -> None:
        self._backend = backend
        self._range = ports
        self._random = random

    async def change(self, plan: Callable[[PortPlan], R], *, dry_run: bool = False) -> R:
        """Apply *plan* to the newest record until it can be stored, and return its result.

        *plan* may run more than once. Nothing is stored if it raises, or takes no port.
        """
        while True:
            record = await self._backend().get(RECORD_KEY)
            before = _allocated(record, self._range)
            draft = PortPlan(self._range, self._random, set(before))
            result = plan(draft)
            if dry_run or draft.allocated == before or await self._store(record, draft.allocated):
                return result

    async def release(self, ports: Iterable[int]) -> None:
        released = frozenset(ports)
        if released:
            await self.change(lambda plan: plan.allocated.difference_update(released))

    async def _store(self, record: Record | None, allocated: set[int]) -> bool:
        value = _document(allocated, self._range)
        try:
            if record is None:
                await self._backend().create(RECORD_KEY, value)
            else:
                await self._backend().update(RECORD_KEY, value, revision=record.revision)
        except (KeyExists, RevisionConflict):
            return False
        return True


def _allocated(record: Record | None, ports: PortRange) -> frozenset[int]:
    """Return the allocated ports that are in the range, which may be another than the record's."""
    if record is None:
        return frozenset()
    document = json.loads(record.value)
    first = PortRange.parse(document["range"]).first
    bits = int.from_bytes(base64.b64decode(document["data"]), "little")
    allocated = (first + position for position in range(bits.bit_length()) if bits >> position & 1)
    return frozenset(port for port in allocated if port in ports)


def _document(allocated: set[int], ports: PortRange) -> bytes:
    bits = bytearray((ports.size + 7) // 8)
    for port in allocated:
        position = port - ports.first
        bits[position // 8] |= 1 << position % 8
    return json.dumps(
        {
            "kind": "RangeAllocation",
            "apiVersion": "v1",
            "range": str(ports),
            "data": base64.b64encode(bits).decode(),
        }
    ).encode()
