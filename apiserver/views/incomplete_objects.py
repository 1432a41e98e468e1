"""Incomplete objects: which objects of a resource could not be decoded, and what is served of them.

Leaving such an object out of lists would tell every informer that it was deleted. It is served
with its metadata and what decodes; responses that contain it carry a warning.
"""

import logging
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from apiserver.storage.interface import Record

log = logging.getLogger(__name__)


class IncompleteObjects:
    """The objects that could not be decoded completely, by key; empty nearly always."""

    def __init__(self) -> None:
        self._uncounted = 0
        self._problems: dict[str, tuple[int, str]] = {}

    def __len__(self) -> int:
        return len(self._problems)

    def __contains__(self, key: str) -> bool:
        return key in self._problems

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys."""
        return iter(tuple(self._problems))

    def __getitem__(self, key: str) -> str:
        """Return why an object could not be decoded."""
        return self._problems[key][1]

    def add(self, record: Record, problem: str) -> None:
        """Note that a record could not be decoded; it is logged once."""
        known = self._problems.get(record.key)
        if known is not None and known[0] >= record.revision:
            return
        self._problems[record.key] = record.revision, problem
        self._uncounted += 1
        log.warning("object %s cannot be decoded completely: %s", record.key, problem)

    def replaced(self, record: Record) -> None:
        """Forget the problem of an object that was written again."""
        known = self._problems.get(record.key)
        if known is not None and known[0] < record.revision:
            del self._problems[record.key]

    def forget(self, key: str) -> None:
        self._problems.pop(key, None)

    def take_count(self) -> int:
        """Return the number of new problems since the last call, for a metric."""
        count, self._uncounted = self._uncounted, 0
        return count


def without_paths(encoded: bytes, paths: Iterable[str]) -> bytes:
    """Return a JSON document without the fields at *paths*, which could not be decoded.

    Elements of lists are gone already, so only paths through objects and maps are removed.
    """
    document = orjson.loads(encoded)
    for path in paths:
        if "[" not in path:
            _remove(document, path.split("."))
    return orjson.dumps(document)


def _remove(value: Any, steps: list[str]) -> None:
    *parents, name = steps
    for step in parents:
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, dict):
        value.pop(name, None)
