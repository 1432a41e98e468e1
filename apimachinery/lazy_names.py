"""Lazy names: a package that re-exports the names of its modules and imports each on first use.

A version of a large group has hundreds of classes, and a program that imports one of them should
not wait for the others. The package states its names once for type checkers, under TYPE_CHECKING,
and once here; a test compares the two:

    if TYPE_CHECKING:
        from apis.core.v1.config_map import ConfigMap as ConfigMap
    else:
        __getattr__, __all__ = lazy_names(__name__, {"config_map": "ConfigMap"})
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, str], *, elsewhere: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], list[str]]:
    """Return `__getattr__` and `__all__` of *package*.

    *modules* has the names that each module of the package defines, separated by spaces;
    *elsewhere* has those of other modules, under their full names.
    """
    full = {f"{package}.{module}": names for module, names in modules.items()}
    full |= elsewhere or {}
    places = {name: module for module, names in full.items() for name in names.split()}

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes the package's own
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(places[name]), name)
        setattr(sys.modules[package], name, value)  # next time Python finds it by itself
        return value

    return __getattr__, sorted(places)
