"""Callers' keys and the keys on the wire.

The URL's prefix is put before every key and taken off again. Keys whose first character (after
that prefix) is NUL are the backend's own, invisible to callers: they sort before every other key,
so a range or a watch leaves them out by where it begins.
"""

from dataclasses import dataclass

from apiserver.storage.interface import StorageError

_OWN = "\0"
_FIRST = "\x01"
_ALL = b"\0"
"""etcd's way to say "no end"."""


class InvalidEtcdKey(StorageError):
    """The key cannot be stored in etcd."""


@dataclass(frozen=True, slots=True)
class Keyspace:
    """The part of an etcd that one URL names."""

    prefix: str

    def wire(self, key: str) -> bytes:
        """The bytes etcd knows *key* by."""
        if not key or key.startswith(_OWN):
            raise InvalidEtcdKey(f"key {key!r}: must not be empty or begin with NUL")
        return _encode(self.prefix + key)

    def own(self, name: str) -> bytes:
        """A key of the backend itself, not visible to callers."""
        return _encode(self.prefix + _OWN + name)

    def key(self, wire: bytes) -> str:
        """The caller's key of what etcd returned."""
        return wire.decode(errors="surrogateescape")[len(self.prefix) :]

    def span(self, prefix: str, start: str = "") -> tuple[bytes, bytes]:
        """First key and end of the keys that begin with *prefix* and are not less than *start*."""
        if prefix.startswith(_OWN):
            raise InvalidEtcdKey(f"prefix {prefix!r}: must not begin with NUL")
        begin = _encode(self.prefix + max(prefix, start, _FIRST))
        return begin, _end(_encode(self.prefix + prefix))


def _encode(text: str) -> bytes:
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        raise InvalidEtcdKey(f"key {text!r}: {error.reason}") from None


def _end(prefix: bytes) -> bytes:
    """The smallest key greater than every key that begins with *prefix*."""
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else _ALL
