"""etcd keys: maps storage keys to the bytes that etcd stores, and back.

The prefix of the URL is added to every key and removed again. Keys whose first character after that
prefix is NUL are internal to the backend: they sort before all other keys, so ranges and watches
exclude them by their start.
"""

from dataclasses import dataclass

from apiserver.storage.interface import StorageError

_INTERNAL = "\0"
_FIRST = "\x01"
_NO_END = b"\0"
"""etcd's notation for a range without an end."""


class InvalidEtcdKey(StorageError):
    """The key cannot be stored in etcd."""


@dataclass(frozen=True, slots=True)
class Keyspace:
    """The keys of an etcd cluster that belong to one URL."""

    prefix: str

    def encode(self, key: str) -> bytes:
        """Encode *key* for etcd. Raises InvalidEtcdKey."""
        if not key or key.startswith(_INTERNAL):
            raise InvalidEtcdKey(f"key {key!r}: must not be empty or begin with NUL")
        return _encode(self.prefix + key)

    def internal_key(self, name: str) -> bytes:
        """Return a key of the backend itself, invisible to callers."""
        return _encode(self.prefix + _INTERNAL + name)

    def decode(self, encoded: bytes) -> str:
        """Return the storage key of a key that etcd returned."""
        return encoded.decode(errors="surrogateescape")[len(self.prefix) :]

    def span(self, prefix: str, start: str = "") -> tuple[bytes, bytes]:
        """Return the range of the keys that begin with *prefix* and are at least *start*."""
        if prefix.startswith(_INTERNAL):
            raise InvalidEtcdKey(f"prefix {prefix!r}: must not begin with NUL")
        begin = _encode(self.prefix + max(prefix, start, _FIRST))
        return begin, _prefix_end(_encode(self.prefix + prefix))


def _encode(text: str) -> bytes:
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidEtcdKey(f"key {text!r}: {error.reason}") from None


def _prefix_end(prefix: bytes) -> bytes:
    """Return the smallest key greater than every key that begins with *prefix*."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else _NO_END
