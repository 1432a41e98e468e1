"""Checks that any group can run on its own types: `pip install 'apimachinery[testing]'`.

The names are loaded on first use: pytest imports this package for its plugin in every project, and
hypothesis is large and may not be installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from apimachinery.extras import name_missing_extra

if TYPE_CHECKING:
    from apimachinery.testing.roundtrip import assert_roundtrip
    from apimachinery.testing.stored_forms import assert_stored_forms
    from apimachinery.testing.strategies import Strategies, objects

__all__ = ["Strategies", "assert_roundtrip", "assert_stored_forms", "objects"]

_MODULES = {"assert_roundtrip": "roundtrip", "assert_stored_forms": "stored_forms"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULES.get(name, "strategies")
    with name_missing_extra():
        return getattr(import_module(f"{__name__}.{module}"), name)
