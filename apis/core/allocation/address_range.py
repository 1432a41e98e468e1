"""Address ranges: which addresses of a network are allocated, and in which order they are tried.

A client may ask for an address of its choice. To make that unlikely to fail, others are taken from
the upper part of the range first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from apimachinery.ip_addresses import AnyAddress, AnyNetwork

_LOWER_MIN: Final = 16
_LOWER_MAX: Final = 256
_LOWER_SHARE: Final = 16
"""The lower part of a range is a sixteenth of it, between 16 and 256 addresses."""


@dataclass(frozen=True, slots=True)
class AddressRange:
    """The addresses of a network that services can have: not the first, nor an IPv4 broadcast."""

    network: AnyNetwork

    def __contains__(self, address: AnyAddress) -> bool:
        same_family = address.version == self.network.version
        return same_family and self._first <= int(address) <= self._last

    def candidates(self, random: Random) -> Iterator[AnyAddress]:
        """Yield every address once: the upper part from a random place on, then the lower part."""
        first, last = self._first, self._last
        middle = min(first + self._lower_size, last + 1)
        for start, end in ((middle, last + 1), (first, middle)):
            size = end - start
            offset = random.randrange(size) if size > 0 else 0
            for step in range(size):
                yield self.network.network_address + (
                    start + (offset + step) % size - int(self.network.network_address)
                )

    @property
    def _first(self) -> int:
        return int(self.network.network_address) + 1

    @property
    def _last(self) -> int:
        last = int(self.network.broadcast_address)
        return last - 1 if self.network.version == 4 else last

    @property
    def _lower_size(self) -> int:
        size = self.network.num_addresses
        if size <= _LOWER_MIN:
            return 0
        return min(max(_LOWER_MIN, size // _LOWER_SHARE), _LOWER_MAX)
