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
        self.found = 0
        """How many objects were found to be undecodable so far, for a metric."""
        self._problems: dict[str, tuple[int, str]] = {}

    def __len__(self) -> int:
        return len(self._problems)

    def __contains__(self, key: str) -> bool:
        return key in self._problems

    def add(self, record: Record, problem: str) -> None:
        """Note that a record could not be decoded; it is logged once."""
        known = self._problems.get(record.key)
        if known is not None and known[0] >= record.revision:
            return
        self._problems[record.key] = record.revision, problem
        self.found += 1
        log.warning("object %s cannot be decoded completely: %s", record.key, problem)

    def replaced(self, record: Record) -> None:
        """Forget the problem of an object that was written again."""
        known = self._problems.get(record.key)
        if known is not None and known[0] < record.revision:
            del self._problems[record.key]

    def forget(self, key: str) -> None:
        self._problems.pop(key, None)

    def below(self, prefix: str) -> Iterator[tuple[str, str]]:
        """Yield the keys that begin with *prefix*, each with its problem, in order."""
        for key, (_, problem) in sorted(self._problems.items()):
            if key.startswith(prefix):
                yield key, problem


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
