"""Backends by the scheme of their URL.

A backend is a function `async def open_x(url: str) -> Backend`, registered by its distribution as
an entry point in the group `apiserver.storage` and named after the scheme. This module lists none
of them, so a new backend needs no change to the server.
"""

import re
import sys
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from typing import Final, TypeAlias

from apimachinery.extras import MissingExtra, name_missing_extra
from apiserver.storage.interface import Backend, StorageError

ENTRY_POINTS: Final = "apiserver.storage"

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://", re.ASCII)

OpenBackend: TypeAlias = Callable[[str], Awaitable[Backend]]


class InvalidURL(StorageError):
    """A storage URL is malformed; the message names the part and the rule."""


async def open_backend(url: str) -> Backend:
    """Open the store at *url* with the backend of its scheme.

    Raises InvalidURL if no backend has the scheme, StorageError if its extra is not installed.
    """
    match = _SCHEME.match(url)
    backends = _announced(tuple(sys.path))
    schemes = ", ".join(f"{name}://" for name in sorted(backends.names)) or "none is installed"
    # The messages do not repeat the URL: it may contain a password.
    if match is None:
        raise InvalidURL(f"store URL: must begin with the scheme of a backend; known: {schemes}")
    scheme = match[1]
    if scheme not in backends.names:
        raise InvalidURL(f"store URL: no backend has the scheme {scheme!r}; known: {schemes}")
    try:
        with name_missing_extra():
            open_x: OpenBackend = backends[scheme].load()
    except MissingExtra as error:
        raise StorageError(f"store URL: no backend for {scheme}://: {error}") from error
    return await open_x(url)


@cache
def _announced(path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of all backends on *path*; searching it takes milliseconds."""
    return entry_points(group=ENTRY_POINTS)
