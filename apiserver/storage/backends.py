"""Finding a backend by the scheme of its URL.

A backend is a function `async def open_x(url: str) -> Backend`, announced by its package as an
entry point named after the scheme in the group `apiserver.storage`. Nothing here knows which
there are, so adding one needs no change to the server.
"""

import re
import sys
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import Final, TypeAlias

from apiserver.storage.interface import Backend, StorageError

ENTRY_POINTS: Final = "apiserver.storage"

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://", re.ASCII)

OpenBackend: TypeAlias = Callable[[str], Awaitable[Backend]]


class InvalidURL(StorageError):
    """The URL of a store cannot be understood; the message says which part and why."""


async def open_backend(url: str) -> Backend:
    """Open the store that *url* names, with the backend of its scheme."""
    found = _SCHEME.match(url)
    known = _announced(tuple(sys.path))
    schemes = ", ".join(f"{name}://" for name in sorted(known.names)) or "none is installed"
    # The messages do not repeat the URL: it may hold a password.
    if found is None:
        raise InvalidURL(f"store URL: must begin with the scheme of a backend; known: {schemes}")
    scheme = found[1]
    if scheme not in known.names:
        raise InvalidURL(f"store URL: no backend has the scheme {scheme!r}; known: {schemes}")
    open_x: OpenBackend = known[scheme].load()
    return await open_x(url)


@cache
def _announced(path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of all backends on *path*; searching it takes milliseconds."""
    return entry_points(group=ENTRY_POINTS)
