"""Entry encoding: encode cache entries in a form, off the event loop if they are large.

A form that the cache has kept costs nothing. Others are encoded here before a handler uses them.
"""

from collections.abc import Hashable

from apiserver.storage.cache.entry import Entry
from apiserver.workload import LIGHT_BYTES, Workload


def is_light(entry: Entry, form: Hashable) -> bool:
    """Return whether the entry can be encoded in *form* on the event loop."""
    return entry.size <= LIGHT_BYTES or entry.encoded(form) is not None


async def encode_large(entry: Entry, form: Hashable, workload: Workload) -> bytes:
    """Encode a large entry as a heavy step of a request, and keep the result."""
    # Not counted: many watchers may get here in the same moment.
    workload.may_grow()
    encoded = await workload.run(_encode_once, entry, form)
    entry.keep(form, encoded)
    return encoded


def _encode_once(entry: Entry, form: Hashable) -> bytes:
    # Many watchers may have waited for the same entry.
    return entry.encoded(form) or entry.encode_anew(form)
