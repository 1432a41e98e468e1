"""UpgradeRegistry: the declared upgrades of each stored class."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict

from apimachinery.evolution.document_paths import Document
from apimachinery.evolution.upgrade_steps import UpgradeStep, upgrade_steps


class UpgradeOptions(TypedDict, total=False):
    """What an upgrade does. Paths are dotted, through lists and maps."""

    renames: Mapping[str, str] | None
    """Old paths -> new ones, also between objects."""
    retyped: Mapping[str, Callable[[Any], Any]] | None
    """Paths -> functions that return the new value for an old one, called for fields of their
    annotated type."""
    dropped: Iterable[str]
    """Fields whose values are lost on purpose."""
    function: Callable[[Document], Document | None] | None
    """Changes a whole document, if its shape has the fields in *reads* and lacks those in
    *writes*."""
    reads: Iterable[str]
    writes: Iterable[str]


class UpgradeRegistry:
    """The upgrades of stored classes, each a chain in the order of registration."""

    def __init__(self) -> None:
        self._steps: dict[type[Any], list[UpgradeStep]] = {}

    def add(self, cls: type[Any], options: UpgradeOptions) -> None:
        """Append an upgrade to the chain of a class. Raises UpgradeError."""
        self._steps.setdefault(cls, []).extend(
            upgrade_steps(
                renames=options.get("renames") or {},
                retyped=options.get("retyped") or {},
                dropped=tuple(options.get("dropped", ())),
                function=options.get("function"),
                reads=tuple(options.get("reads", ())),
                writes=tuple(options.get("writes", ())),
            )
        )

    def steps(self, cls: type[Any]) -> tuple[UpgradeStep, ...]:
        """Return the steps of a class, in order."""
        return tuple(self._steps.get(cls, ()))
