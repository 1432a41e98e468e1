"""Decode warnings: name the objects of a response that cannot be decoded completely.

Such an object is served with its metadata and what decodes, which looks complete to a client. The
callers check `view.problems` first, which is empty unless something is wrong.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from apiserver.endpoint import Endpoint
from apiserver.http.exchange import Exchange
from apiserver.registry.unsafe_deletion import OPTION
from apiserver.storage.cache.entry import Entry, EntrySelection

MOST_NAMED: Final = 3
"""Objects that one response names; the others are only counted."""
MOST_OF_REASON: Final = 400
"""Characters of a reason, which may list many errors of one object."""


def warn_of_entries(endpoint: Endpoint, exchange: Exchange, entries: Iterable[Entry]) -> None:
    """Add a warning for each of *entries* that cannot be decoded completely."""
    problems = endpoint.view.problems
    keys = [entry.key for entry in entries if entry.key in problems]
    exchange.warnings.extend(_warnings(endpoint, keys))


def warn_of_selection(endpoint: Endpoint, exchange: Exchange, selection: EntrySelection) -> None:
    """Add a warning for each selected object that cannot be decoded completely."""
    collection = endpoint.stored.cached.collection
    prefix = collection.prefix_of(selection)
    keys = (key for key in sorted(endpoint.view.problems) if key.startswith(prefix))
    if selection.name is not None:
        keys = (key for key in keys if key.endswith(f"/{selection.name}"))
    entries = (entry for key in keys if (entry := collection.entry(key)) is not None)
    warn_of_entries(endpoint, exchange, filter(selection.matches, entries))


def _warnings(endpoint: Endpoint, keys: list[str]) -> Iterator[str]:
    for key in keys[:MOST_NAMED]:
        reason = endpoint.view.problems[key]
        if len(reason) > MOST_OF_REASON:
            reason = f"{reason[:MOST_OF_REASON]}..."
        yield (
            f'object "{_name(endpoint, key)}" cannot be decoded completely: {reason};'
            f" if a plain delete fails, delete it with {OPTION}=true"
        )
    if len(keys) > MOST_NAMED:
        yield f"{len(keys)} objects of this response cannot be decoded completely"


def _name(endpoint: Endpoint, key: str) -> str:
    namespace, name = endpoint.stored.cached.collection.keys.split(key)
    return f"{namespace}/{name}" if namespace else name
