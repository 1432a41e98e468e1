"""Value limit: the largest object that a store takes, the same for every backend.

An object is read, decoded and sent many more times than it is written, so its size is bounded where
it is written, whatever made it large: a request, a patch or the defaults of a schema. An object
that was stored under a higher limit stays usable: it can be updated and deleted, but hardly grow.
"""

from dataclasses import dataclass
from typing import Final

from apiserver.storage.backends import InvalidURL
from apiserver.storage.interface import ValueTooLarge

MAX_VALUE_BYTES: Final = 1_500_000
"""The default limit: with its key a value fits the 1.5 MiB that etcd takes by default."""
PARAMETER: Final = "max-value-bytes"
"""The parameter of a store's URL that sets another limit."""
METADATA_BYTES: Final = 4096
"""By how much an update may enlarge an object over the limit: a deletionTimestamp, finalizers."""

_HIGHEST: Final = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ValueLimit:
    """The limit of one store."""

    max_bytes: int = MAX_VALUE_BYTES

    def check(self, value: bytes, replaced_bytes: int = 0) -> None:
        """Raise ValueTooLarge if *value* exceeds the limit, and what it replaces does not."""
        if len(value) > self.max_bytes and not self._is_outlived(len(value), replaced_bytes):
            raise ValueTooLarge(
                f"the object has {len(value)} bytes as stored: limit is {self.max_bytes}"
            )

    def _is_outlived(self, size: int, replaced_bytes: int) -> bool:
        return replaced_bytes > self.max_bytes and size <= replaced_bytes + METADATA_BYTES


DEFAULT_LIMIT: Final = ValueLimit()


def parse_value_limit(text: str | None) -> ValueLimit:
    """Parse the parameter of a URL; None is the default. Raises InvalidURL."""
    if text is None:
        return DEFAULT_LIMIT
    # The length check keeps int() from raising for very long numbers.
    if text.isascii() and text.isdigit() and len(text) <= 9 and 0 < int(text) <= _HIGHEST:
        return ValueLimit(int(text))
    raise InvalidURL(f"store URL: {PARAMETER} is a number from 1 to {_HIGHEST}")
