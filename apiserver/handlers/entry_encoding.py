"""Entry encoding: encode cache entries in a form, off the event loop if they are large.

A form that the cache has kept costs nothing. Others are encoded here before a handler uses them,
and converted before that if the objects of a custom kind are stored in another version.
"""

from collections.abc import Hashable

from apiserver.storage.cache.entry import Entry
from apiserver.views.resource_view import Form, ResourceView
from apiserver.workload import LIGHT_BYTES, Workload


def is_light(entry: Entry, form: Hashable) -> bool:
    """Return whether the entry can be encoded in *form* on the event loop, at once."""
    if entry.size <= LIGHT_BYTES and not entry.view.converts:
        return True
    return entry.encoded(form) is not None


async def encode_apart(view: ResourceView, entry: Entry, form: Form, workload: Workload) -> bytes:
    """Encode an entry that is large or may have to be converted, and keep the result.

    Raises StorageError if it cannot be converted.
    """
    if view.converts:
        await view.convert((entry,), form, workload)
        if entry.size <= LIGHT_BYTES:
            return entry.encode(form)
    # Not counted: many watchers may get here in the same moment.
    workload.may_grow()
    encoded = await workload.run(_encode_once, entry, form)
    entry.keep(form, encoded)
    return encoded


def _encode_once(entry: Entry, form: Hashable) -> bytes:
    # Many watchers may have waited for the same entry.
    return entry.encoded(form) or entry.encode_anew(form)
