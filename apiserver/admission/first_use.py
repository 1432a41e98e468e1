"""First use: plugins for types that a server has not loaded yet.

Stable groups are built when they are first used, and a plugin for their objects would load them at
the start of the server.
"""

from collections.abc import Awaitable, Callable

from apiserver.admission.chain import Attributes, Plugin


class MadeOnFirstUse:
    """A plugin function that is made when it is first called."""

    __slots__ = ("_make", "_plugin")

    def __init__(self, make: Callable[[], Plugin]) -> None:
        self._make = make
        self._plugin: Plugin | None = None

    def __call__(self, attributes: Attributes) -> Awaitable[None] | None:
        if self._plugin is None:
            self._plugin = self._make()
        return self._plugin(attributes)
